/* SPDX-License-Identifier: MIT */
/*
 * One merge of runs, for finish.c, which chooses them.  Called by the thread that works on
 * the sort, with errors in the sort's err, and by branches with their own readers, with
 * errors in the reader's err.
 */
#ifndef SP__SORT_STEP_H
#define SP__SORT_STEP_H

#include "sort/state.h"

/* Free memory. */
struct sp__freemem {
	char *mem;
	size_t bytes;
};

/* The largest free piece of the arena; with_write: nothing will be written any more. */
struct sp__freemem sp__free_region(const struct sp_sort *s, bool with_write);

/*
 * Opens runs ids[0..n) as cursors of a merge, with pages in where.  Errors are recorded in
 * the spill store's err.  in must be closed in any case.
 */
SP_MUST_CHECK int sp__step_open(struct sp_sort *s, struct sp__spill *spill,
				struct sp__step_inputs *in, const unsigned *ids, unsigned n,
				struct sp__freemem where, struct sp__cursor *cursors);
/*
 * For the report: plans a merge of runs ids[0..n) in buffers pages again, as sp__step_open() does;
 * of a merge with branches, as if it had none.
 */
void sp__step_replan(struct sp_sort *s, const unsigned *ids, unsigned n, unsigned buffers);
void sp__step_close(struct sp_sort *s, struct sp__step_inputs *in);

/* Performs the merge whose cursors are open, into a new run. */
SP_MUST_CHECK int sp__merge_into(struct sp_sort *s, struct sp__merge *m, uint64_t age,
				 unsigned level, struct sp__run **run);

/* Merges runs ids[0..n) into a new one, which replaces the first. */
SP_MUST_CHECK int sp__merge_step(struct sp_sort *s, const unsigned *ids, unsigned n, unsigned level,
				 struct sp__freemem where);

#endif
