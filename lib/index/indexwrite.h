/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of an index from its sorted entries: the tree, then the header.  The file gets
 * its name when it is complete.
 */
#pragma once

#include <spindle/outfile.h>
#include "base/task.h"
#include "index/entrysort.h"
#include "index/tree.h"

/* A range of entries, and the task that makes its leaves. */
struct sp__indexwrite_range {
	struct sp__leafrange leaves;
	struct sp__task task;
	bool busy; /* its leaves are not in the tree yet */
};

struct sp__indexwrite {
	/* Set by the caller, and borrowed. */
	const char *path;
	struct sp__entrysort *sort; /* has all entries; its run environment is used */
	struct sp__index_header *header;
	uint64_t records; /* number of entries */
	struct sp_errinfo *err;
	/* Opened by the caller; closed with the rest. */
	struct sp_outfile *out;
	/* Set here. */
	struct sp__wstream *stream;
	struct sp__tree tree;
	struct sp__indexwrite_range *ranges; /* nranges, used round-robin */
	unsigned nranges;
};

/* Returns 0; SP_EBALANCE if the sort gives another number of entries; -ENOMEM or -errno. */
SP_MUST_CHECK int sp__indexwrite_run(struct sp__indexwrite *w);
/* Adds the requests and bytes of writing. */
void sp__indexwrite_note(const struct sp__indexwrite *w, struct sp_run_stats *st);
/* Frees all, and discards a file that is not complete. */
void sp__indexwrite_close(struct sp__indexwrite *w);
