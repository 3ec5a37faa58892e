/* SPDX-License-Identifier: MIT */
/*
 * Writes the file of an index from its sorted entries: the tree, then the header.  The file gets
 * its name when it is complete.
 */
#pragma once

#include <spindle/outfile.h>
#include "base/mem.h"
#include "base/task.h"
#include "index/lookup.h"
#include "index/tree.h"
#include "obs/progress.h"
#include "sort/sort.h"

/*
 * Sorts entries of an index (key, offset, length) by key and offset, with the library's own sort.
 *
 * Thread rule: one thread at a time, except sp__entry_append().
 */

struct sp__entrysort {
	struct sp__sorter sorter;
	struct sp_batch batch; /* sorted entries that have not been returned */
	struct sp__bytes key;  /* key of the entry returned last */
};
/* run: the options of the sort.  plan: as in sp__sort_new(). */
SP_MUST_CHECK int sp__entrysort_open(struct sp__entrysort *s, const struct sp_run_opts *run,
				     const struct sp__env *plan, struct sp_errinfo *err);
/* Returns 0, or the error of the trace.  Accepts a struct that is all zero. */
int sp__entrysort_close(struct sp__entrysort *s);
SP_MUST_CHECK int sp__entrysort_put(struct sp__entrysort *s, const uint8_t *key, size_t bytes,
				    const struct sp__keymatch *match);
/* Appends the line of an entry, for sp__sort_put_parts(). */
SP_MUST_CHECK int sp__entry_append(struct sp__bytes *lines, const uint8_t *key, size_t bytes,
				   const struct sp__keymatch *match);
/* Returns the next entry, its key in s->key: SP_READY, SP_END or an error. */
SP_MUST_CHECK int sp__entrysort_get(struct sp__entrysort *s, struct sp__keymatch *match);
/* Decodes the line at *at, and moves *at behind it.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__entry_decode(const char **at, struct sp__bytes *key,
				   struct sp__keymatch *match);

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
	uint64_t records;		     /* number of entries */
	struct sp__progress_phase *progress; /* gets the bytes of entries; NULL: none */
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
