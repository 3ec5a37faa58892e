/* SPDX-License-Identifier: MIT */
/*
 * An open index: its head, its key, its file and that of its source.
 *
 * Thread rule: immutable once open, except the offsets of the descriptors: any number of lookups,
 * but only one node stream at a time.
 */
#pragma once

#include <sys/stat.h>
#include "index/indexhead.h"
#include "index/indexkey.h"
#include "run/env.h"

struct sp__index {
	struct sp__index_head head;
	struct sp__indexkey key;
	struct sp__env *env;		/* borrowed */
	int fd, source_fd;		/* buffered; the offset is that of whoever reads in order */
	struct sp__volume *nodes;	/* the index */
	struct sp__volume *records;	/* the source */
	char *path, *source;		/* the source's: as it can be opened from here */
	bool any_source;		/* open whatever the source is now */
	bool moved;			/* only the nanoseconds of its time are lost */
	struct sp__file_state compared; /* the source when it was compared last */
	int missing;			/* 0; or -errno: the source cannot be opened */
	char stale[128];		/* what differs; empty: the source is as it was */
};

/*
 * Opens an index and its source, and compares that with what the head says of it.  On a simulated
 * device on which inputs lie (files=in) both are laid there.  -ESTALE: the source has changed;
 * SP_EFORMAT, SP_ECORRUPT, SP_EUNSUP (another locale); what open(2) says.  After an error it
 * must be closed, too.
 */
SP_MUST_CHECK int sp__index_open(struct sp__index *ix, const char *path, struct sp__env *env);
/* any_source: opens it even if the source has changed or is missing; then ix->stale says so. */
SP_MUST_CHECK int sp__index_open_any(struct sp__index *ix, const char *path, struct sp__env *env,
				     bool any_source);
void sp__index_close(struct sp__index *ix); /* accepts one all zero */
/*
 * For random reads of both files: from now on each is read past the page cache, if it can be and
 * is not largely there.
 */
void sp__index_bypass(struct sp__index *ix);

/* The error of a page that cannot be used: why, or, if that is NULL, code. */
int sp__index_page_err(const struct sp__index *ix, int code, uint64_t page, const char *reason);

/* indexsource.c: opens the source, and compares it; at ix->source. */
SP_MUST_CHECK int sp__index_open_source(struct sp__index *ix);
/* After a comparison without a fault: records the time of a source that was moved; or -ESTALE. */
SP_MUST_CHECK int sp__index_accept(struct sp__index *ix);
/* Decides about a source that was moved. */
SP_MUST_CHECK int sp__index_settle(struct sp__index *ix);
/* -ESTALE, with what differs. */
int sp__index_stale_err(const struct sp__index *ix);

/* The path of the source from the directory of the index; both must exist, or their directories. */
SP_MUST_CHECK int sp__index_relative(const char *index, const char *source,
				     char relative[SP__INDEX_TEXT_MAX], struct sp_errinfo *err);
