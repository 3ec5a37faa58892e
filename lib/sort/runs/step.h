/* SPDX-License-Identifier: MIT */
/*
 * One merge of runs (step.c), and the sequence of merges that leaves few enough for the final one
 * (reduce.c).
 *
 * Branches and parts of the final merge open their inputs here, too, in threads of their own: with
 * readers of their own, sp__step_open() changes nothing in struct sp__spilled.
 */
#pragma once

#include "sort/plan/readplan.h"
#include "sort/runs/spilled.h"
#include "sort/tree/merge.h"
#include "spill/pool.h"

/* Free memory. */
struct sp__freemem {
	char *mem;
	size_t bytes;
};

/* The resources of one merge of spilled runs. */
struct sp__step_inputs {
	struct sp__spill *spill; /* the store, or a reader of it */
	struct sp__readplan *plan;
	unsigned buffers; /* pages */
	struct sp__pool *pool;
	struct sp__unpackers *unpackers; /* instead of these two, for runs of a program */
	struct sp__run **runs;
	const struct sp__run_span *spans; /* of them; NULL: they are merged whole */
	unsigned n;
	uint64_t charged;
};

/*
 * Opens runs ids[0..n), or the spans of them (NULL: all), as cursors of a merge, with pages in
 * where.  Errors are recorded in the spill store's err.  in must be closed in any case.
 */
SP_MUST_CHECK int sp__step_open(struct sp__spilled *spilled, struct sp__spill *spill,
				struct sp__step_inputs *in, const unsigned *ids,
				const struct sp__run_span *spans, unsigned n,
				struct sp__freemem where, struct sp__cursor *cursors);
/*
 * For the report: plans a merge of runs ids[0..n) in buffers pages again, as sp__step_open() does;
 * of a merge with branches, as if it had none.
 */
void sp__step_replan(struct sp__spilled *spilled, const unsigned *ids, unsigned n,
		     unsigned buffers);
void sp__step_close(struct sp__spilled *spilled, struct sp__step_inputs *in);

/* Performs the merge whose cursors are open, into a new run. */
SP_MUST_CHECK int sp__merge_into(struct sp__spilled *spilled, struct sp__merge *m, unsigned level,
				 struct sp__run **run);
/* Merges runs ids[0..n) into a new one, which replaces the first. */
SP_MUST_CHECK int sp__merge_step(struct sp__spilled *spilled, const unsigned *ids, unsigned n,
				 unsigned level, struct sp__freemem where);
/* A merge of `records` records has made a run; balance.dropped.records was dropped_before. */
SP_MUST_CHECK int sp__step_balance(const struct sp__spilled *spilled, uint64_t records,
				   const struct sp__run *run, uint64_t dropped_before);

/* adopt.c */
/*
 * Before a run is written: takes over the runs that the checkpoints have and that are as they were
 * written, as far as they cover the input from its beginning.  where: memory to read them.
 */
SP_MUST_CHECK int sp__runs_adopt(struct sp__spilled *spilled, struct sp__freemem where);

/* reduce.c */
/*
 * Does the merges that the policy orders; returns how many runs the final merge has, with their
 * numbers in spilled->ids, 0 if that is not due yet, or an error.
 */
SP_MUST_CHECK int sp__runs_reduce(struct sp__spilled *spilled, bool input_ended,
				  struct sp__freemem where);
/* Each run of a program holds a descriptor.  True if there are too many, with that many files. */
bool sp__runs_crowded(const struct sp__spilled *spilled, unsigned files);
/* Merges some of the runs now if there are too many. */
SP_MUST_CHECK int sp__runs_relieve(struct sp__spilled *spilled, unsigned files,
				   struct sp__freemem where);
