/* SPDX-License-Identifier: MIT */
/*
 * Merge policies: which runs to merge when.  Pure bookkeeping over run numbers; the
 * caller forms, merges and deletes runs.
 *
 *   LAZY      (EMS) all initial runs first; then the fewest merges, the first of
 *             them just large enough that all others, the final one too, have
 *             full fan-in.  Always the neighbours in age with the fewest bytes.
 *   EAGER     (Wang & Cherniack 2006, figure 4) a counter for each level;
 *             fan_in runs of a level are merged as soon as they exist; at the
 *             end level by level, the lowest first, until fan_in or fewer remain.
 *   POLYPHASE (Knuth volume 3, 5.4.2, algorithm D) fan_in + 1 tapes, runs
 *             distributed horizontally to the next perfect Fibonacci
 *             distribution, missing ones counted as dummies.  Not stable: runs
 *             that are not neighbours in age are merged.  It ends like EAGER.
 *   MMS, PPMS EAGER and POLYPHASE with the ends of that paper: MMS goes on until
 *             all runs are of one level, PPMS until one run is left.
 *
 * LAZY, EAGER and MMS name runs oldest first and merge only neighbours in age, so
 * that a merge which prefers the earlier run among equals keeps the sort stable.
 *
 *	for (each initial run formed) {
 *		sp__policy_add(p, id, bytes);
 *		while ((n = sp__policy_next(p, false, ids, max, &step)) > 0)
 *			sp__policy_merged(p, merge(ids, n), bytes);
 *	}
 *	while ((n = sp__policy_next(p, true, ids, max, &step)) > 0 && !step.final)
 *		sp__policy_merged(p, merge(ids, n), bytes);
 */
#pragma once

#include <spindle/sort.h>

struct sp__policy_step {
	unsigned level; /* of the run to be made; initial runs have level 0 */
	bool final;	/* the last merge: its result is the output */
};

struct sp__policy;

/* Does it merge before the input has ended? */
static inline bool sp__policy_eager(enum sp_merge_policy kind)
{
	return kind == SP_MERGE_EAGER || kind == SP_MERGE_MMS;
}

/* Is it one that cannot be stable? */
static inline bool sp__policy_polyphase(enum sp_merge_policy kind)
{
	return kind == SP_MERGE_POLYPHASE || kind == SP_MERGE_PPMS;
}

/*
 * Returns 0; -EINVAL: fan_in < 2 or no such policy; SP_EUNSUP: stable with
 * POLYPHASE or PPMS; -ENOMEM.
 */
SP_MUST_CHECK int sp__policy_new(struct sp__policy **policy, enum sp_merge_policy kind,
				 unsigned fan_in, bool stable);
void sp__policy_free(struct sp__policy *policy); /* accepts NULL */

/* Adds an initial run.  The caller chooses the numbers.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__policy_add(struct sp__policy *policy, unsigned run_id, uint64_t bytes);

/*
 * The runs to merge now into one new run: returns how many, with their numbers in ids
 * (max >= fan_in entries).  0: nothing to merge before more runs have been added.  Once
 * input_ended is true no run may be added.  Set it as soon as possible: EAGER could
 * otherwise merge everything into one run, which then must be copied.  A final step
 * may be a single run, to be copied; 0 then means that there never was a run.  After a
 * step that is not final the next call must be sp__policy_merged(); after a final one
 * only free.
 */
unsigned sp__policy_next(struct sp__policy *policy, bool input_ended, unsigned *ids, unsigned max,
			 struct sp__policy_step *step);

/*
 * The same for a caller without resources for all existing runs, while runs may still be
 * added: a merge of at most max runs, those that move the fewest bytes.  0: fewer than
 * two runs, or POLYPHASE or PPMS, which merge only at the end.
 */
unsigned sp__policy_relieve(struct sp__policy *policy, unsigned *ids, unsigned max,
			    struct sp__policy_step *step);

/* The merge requested last is complete.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__policy_merged(struct sp__policy *policy, unsigned new_run_id, uint64_t bytes);

/* The current number of runs. */
uint64_t sp__policy_runs(const struct sp__policy *policy);
