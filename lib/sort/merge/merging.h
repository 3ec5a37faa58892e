/* SPDX-License-Identifier: MIT */
/*
 * The final merge: of runs, sorted slots and sorted files (final.c), with branches (branch.c).
 *
 * Writers.  Only this room writes struct sp__merging: the background task of the output while it
 * runs, otherwise the caller.  Each branch owns its runs, pages and ring until it is closed.
 */
#pragma once

#include "sort/form/forming.h"
#include "sort/merge/inputs.h"
#include "sort/merge/sequence.h"

struct sp__branch;

struct sp__merging {
	struct sp__sort_shared *sort;
	struct sp__spilled *spilled;
	struct sp__forming *forming;
	struct sp__inputs inputs;
	bool reduced;		      /* all merges but the final one are done, */
	unsigned runs_left;	      /* which has these spilled runs: spilled.ids */
	struct sp__sequence sequence; /* of the final merge */
	struct sp__step_inputs final;
	const struct sp__run_span *spans; /* of its runs; NULL: it has them whole */
	struct sp__run_offsets *offsets;  /* of its cursors, to be kept; or NULL */
	bool seeks;			  /* the prediction may read a little to measure seeks */
	size_t buffer_bytes;		  /* of an output buffer */
	struct sp__branch *branches[SP__BRANCHES_MAX];
	unsigned nbranches, branched; /* ... and how many runs they have */
	uint64_t begin_ns, cpu_begin_ns;
};

/* final.c */
/* Does all merges but the last, once. */
SP_MUST_CHECK int sp__final_reduce(struct sp__merging *merging);
/* The same, and sets up the last one; threaded: it may have branches. */
SP_MUST_CHECK int sp__final_prepare(struct sp__merging *merging, bool threaded);
void sp__final_close(struct sp__merging *merging);

/* predict.c */
/* Sets spilled->prediction when runs have been formed, on real files; nothing is outstanding. */
void sp__sort_predict_formed(struct sp__merging *merging);

/* balance.c */
/* True if no record has been dropped until now.  When no task runs. */
bool sp__balance_none_dropped(const struct sp__merging *merging);
/* All records that the sort has read. */
struct sp__tally sp__balance_read(const struct sp__merging *merging);
/* After the last run: checks that all records are in runs, slots or strips. */
SP_MUST_CHECK int sp__balance_formed(const struct sp__merging *merging);
/* At the end: checks that no record is missing or duplicated. */
SP_MUST_CHECK int sp__balance_ended(const struct sp__merging *merging);

/* branch.c */
/*
 * Starts merging.nbranches branches on the first of the runs ids[0..n), with memory taken from
 * *where.  Returns how many runs they have; ids must stay valid.
 */
unsigned sp__branches_open(struct sp__merging *merging, const unsigned *ids, unsigned n,
			   struct sp__freemem *where);
/* The same for the next input files; the trunk opens those that are left. */
void sp__branches_open_files(struct sp__merging *merging);
/*
 * With merging->offsets there is one branch at most.  Of it, while the first cursor of the trunk
 * is at a record that begins a span, or has ended: the offsets in its runs of what follows.
 * Otherwise NULL.
 */
const uint64_t *sp__branch_offsets(const struct sp__merging *merging);
/* Sets the first merging->nbranches cursors of the trunk to the branches. */
void sp__branches_cursors(struct sp__merging *merging, struct sp__cursor *cursors);
/* Ends the branches at any point, and adds their reads to the counts. */
void sp__branches_close(struct sp__merging *merging);
