/* SPDX-License-Identifier: MIT */
/*
 * Declares one merge of runs, and the sequence of merges before the final one.
 *
 * Threads that write ranges of the result also open their inputs here.  They have readers of their
 * own, so sp__step_open() changes nothing in struct sp__spilled.
 */
#pragma once

#include "sort/plan/readplan.h"
#include "sort/runs/spilled.h"
#include "sort/tree/merge.h"
#include "spill/pool.h"

/* Memory that is free. */
struct sp__freemem {
	char *mem;
	size_t bytes;
};

/* Resources of one merge of spilled runs. */
struct sp__step_inputs {
	struct sp__spill *spill; /* the store, or a reader of it */
	struct sp__readplan *plan;
	unsigned buffers; /* in pages */
	struct sp__pool *pool;
	struct sp__unpackers *unpackers; /* in place of plan and pool, if a program compressed
					    the runs */
	struct sp__run **runs;
	const struct sp__run_span *spans; /* spans of the runs; NULL: they are merged whole */
	unsigned n;
	uint64_t charged;
};

/*
 * Opens runs ids[0..n), or these spans of them (NULL: whole), as cursors of a merge, with pages in
 * `where`.  Errors are recorded in the store's err.  `in` must be closed in any case.
 */
SP_MUST_CHECK int sp__step_open(struct sp__spilled *spilled, struct sp__spill *spill,
				struct sp__step_inputs *in, const unsigned *ids,
				const struct sp__run_span *spans, unsigned n,
				struct sp__freemem where, struct sp__cursor *cursors);
/*
 * For the report: plans a merge of runs ids[0..n) in `buffers` pages, as sp__step_open() does; a
 * merge in ranges as one without.
 */
void sp__step_replan(struct sp__spilled *spilled, const unsigned *ids, unsigned n,
		     unsigned buffers);
void sp__step_close(struct sp__spilled *spilled, struct sp__step_inputs *in);

/* Performs the merge whose cursors are open, into a new run. */
SP_MUST_CHECK int sp__merge_into(struct sp__spilled *spilled, struct sp__merge *m, unsigned level,
				 struct sp__run **run);
/*
 * Checks a merge of `records` records into a run; dropped_before: balance.dropped.records before
 * it.
 */
SP_MUST_CHECK int sp__step_balance(const struct sp__spilled *spilled, uint64_t records,
				   const struct sp__run *run, uint64_t dropped_before);

/* runs.c */
/*
 * Called before any run is written: adopts the runs of the checkpoints that are as they were
 * written, as far as they cover the input from its start.  where: memory to read them.
 */
SP_MUST_CHECK int sp__runs_adopt(struct sp__spilled *spilled, struct sp__freemem where);

/* step.c */
/*
 * Returns the bytes that the current records of n cursors of the runs can have, as far as records
 * are larger than a page.
 */
uint64_t sp__runs_current(const struct sp__spilled *spilled, uint64_t n);
/*
 * Performs the merges that the policy orders.  Returns the number of runs of the final merge, with
 * their numbers in spilled->ids, 0 if it is not due yet, or an error.
 */
SP_MUST_CHECK int sp__runs_reduce(struct sp__spilled *spilled, bool input_ended,
				  struct sp__freemem where);
/* Merges some of the runs now if they hold too many descriptors, next to `files` others. */
SP_MUST_CHECK int sp__runs_relieve(struct sp__spilled *spilled, unsigned files,
				   struct sp__freemem where);
