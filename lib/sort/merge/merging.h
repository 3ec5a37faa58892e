/* SPDX-License-Identifier: MIT */
/*
 * Declares the final merge of runs, sorted slots and sorted files (final.c).
 *
 * Writers: this room writes struct sp__merging.  The writing thread is the task of the output while
 * it runs, otherwise the caller.  The shell sets the pointers and `seeks`, and begin_ns if no merge
 * has set it.
 */
#pragma once

#include "sort/form/forming.h"
#include "sort/merge/inputs.h"
#include "sort/merge/sequence.h"

struct sp__merging {
	struct sp__sort_shared *sort;
	struct sp__spilled *spilled;
	struct sp__forming *forming;
	struct sp__inputs inputs;
	bool reduced;		      /* all merges except the final one are done */
	unsigned runs_left;	      /* spilled runs of the final merge: spilled.ids */
	struct sp__sequence sequence; /* of the final merge */
	struct sp__step_inputs final;
	bool seeks; /* the prediction can read a little to measure seeks */
	uint64_t begin_ns, cpu_begin_ns;
};

/* final.c */
/* Performs all merges except the final one, once. */
SP_MUST_CHECK int sp__final_reduce(struct sp__merging *merging);
/* Performs all merges except the final one, and sets up the final one. */
SP_MUST_CHECK int sp__final_prepare(struct sp__merging *merging);
void sp__final_close(struct sp__merging *merging);

/* predict.c */
/* Sets spilled->prediction when runs have been formed, on real files; no request is outstanding. */
void sp__sort_predict_formed(struct sp__merging *merging);

/* balance.c */
/* Returns the tally of the records that have been dropped so far.  No task may be running. */
struct sp__tally sp__balance_dropped(const struct sp__merging *merging);
/* Returns the tally of all records that the sort has read. */
struct sp__tally sp__balance_read(const struct sp__merging *merging);
/* Called after the last run: checks that all records are in runs, slots or strips. */
SP_MUST_CHECK int sp__balance_formed(const struct sp__merging *merging);
/* Called at the end: checks that no record is missing or duplicated. */
SP_MUST_CHECK int sp__balance_ended(const struct sp__merging *merging);
