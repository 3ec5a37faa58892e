/* SPDX-License-Identifier: MIT */
/*
 * Declares an open index: its header, its key, its file and the file of its source.
 *
 * Thread rule: immutable while open, except the offsets of the descriptors: any number of lookups,
 * but only one node stream at a time.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/index.h>
#include "index/indexheader.h"
#include "index/indexkey.h"
#include "run/env.h"

struct sp__progress_phase;

struct sp__index {
	struct sp__index_header header;
	struct sp__indexkey key;
	struct sp__env *env;	    /* borrowed */
	int fd, source_fd;	    /* buffered; a sequential reader owns the offset */
	struct sp__volume *nodes;   /* the index */
	struct sp__volume *records; /* the source */
	char *path,
		*source; /* path of the index; path of the source, as it can be opened from here */
	bool any_source; /* open even if the source has changed */
	bool moved;	 /* only the nanoseconds of the time differ */
	struct sp__file_state compared; /* state of the source at the last comparison */
	int missing;			/* 0; or -errno: the source cannot be opened */
	char stale[128];		/* the difference; empty: the source has not changed */
};

/*
 * Opens an index and its source, and compares the source with the header.  If a simulated device
 * holds inputs (files=in), both are placed on it.  Returns 0; -ESTALE: the source has changed;
 * SP_EFORMAT; SP_ECORRUPT; SP_EUNSUP: another locale, or of a table; or an error of open(2).  To be
 * closed after an error too.
 */
SP_MUST_CHECK int sp__index_open(struct sp__index *ix, const char *path, struct sp__env *env);
/* any_source: opens it even if the source has changed or is missing; then ix->stale is set. */
SP_MUST_CHECK int sp__index_open_any(struct sp__index *ix, const char *path, struct sp__env *env,
				     bool any_source);
/*
 * Opens the index of a column of a table, whose owner compares the header with the table.  On a
 * simulated volume it is placed on the device of env.  Returns 0; SP_EFORMAT; SP_ECORRUPT; or an
 * error of open(2).  To be closed after an error too.
 */
SP_MUST_CHECK int sp__index_open_column(struct sp__index *ix, const char *path,
					struct sp__env *env);
void sp__index_close(struct sp__index *ix); /* accepts a struct that is all zero */
/*
 * Makes later reads of both files bypass the page cache, for random reads, if a file allows it and
 * is not mostly in the cache.
 */
void sp__index_bypass(struct sp__index *ix);

/* After a comparison without a difference: records the time of a moved source; or -ESTALE. */
SP_MUST_CHECK int sp__index_accept(struct sp__index *ix);
/* Records and returns -ESTALE, with the difference. */
int sp__index_stale_err(const struct sp__index *ix);

/* Makes the path of the source relative to the directory of the index; directories must exist. */
SP_MUST_CHECK int sp__index_relative(const char *index, const char *source,
				     char relative[SP__INDEX_TEXT_MAX], struct sp_errinfo *err);

/*
 * indexcheck.c: does the work of sp_index_check() for an open index.  stats and progress may be
 * NULL.
 */
SP_MUST_CHECK int sp__index_check(struct sp__index *ix, struct sp_index_stats *stats,
				  struct sp__progress_phase *progress);
