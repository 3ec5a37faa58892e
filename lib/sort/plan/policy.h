/* SPDX-License-Identifier: MIT */
/*
 * Declares merge policies: which runs to merge, and when.  They only keep books of run numbers; the
 * caller forms, merges and deletes runs.
 *
 *   LAZY      (EMS) first forms all initial runs; then the minimum number of merges, the
 *             first of them just large enough that all others, the final one too, have
 *             full fan-in.  It merges the neighbours in age with the fewest bytes.
 *   EAGER     (Wang & Cherniack 2006, figure 4) counts the runs of each level; fan_in
 *             runs of a level are merged as soon as they exist; at the end it merges
 *             level by level, the lowest first, until at most fan_in runs remain.
 *   POLYPHASE (Knuth volume 3, 5.4.2, algorithm D) has fan_in + 1 tapes.  Runs are
 *             distributed horizontally to the next perfect Fibonacci distribution;
 *             missing ones are counted as dummies.  It is not stable: runs that are
 *             not neighbours in age are merged.  It ends like EAGER.
 *   MMS, PPMS are EAGER and POLYPHASE with the ends of that paper: MMS continues until
 *             all runs are of one level, PPMS until one run is left.
 *
 * LAZY, EAGER and MMS name runs oldest first and merge only neighbours in age.  So a merge that
 * prefers the earlier run among equals keeps the sort stable.
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
	unsigned level; /* level of the run to be made; initial runs have level 0 */
	bool final;	/* the last merge, whose result is the output */
};

struct sp__policy;

/* True if a policy merges before the input has ended. */
static inline bool sp__policy_eager(enum sp_merge_policy kind)
{
	return kind == SP_MERGE_EAGER || kind == SP_MERGE_MMS;
}

/* True if a policy cannot be stable. */
static inline bool sp__policy_polyphase(enum sp_merge_policy kind)
{
	return kind == SP_MERGE_POLYPHASE || kind == SP_MERGE_PPMS;
}

/*
 * Returns 0; -EINVAL: fan_in < 2, or an unknown policy; SP_EUNSUP: stable with POLYPHASE or PPMS;
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__policy_new(struct sp__policy **policy, enum sp_merge_policy kind,
				 unsigned fan_in, bool stable);
void sp__policy_free(struct sp__policy *policy); /* accepts NULL */

/* Has later merges take at most fan_in runs, at least 2.  POLYPHASE and PPMS do not change. */
void sp__policy_narrow(struct sp__policy *policy, unsigned fan_in);

/* Adds an initial run, whose number the caller chooses.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__policy_add(struct sp__policy *policy, unsigned run_id, uint64_t bytes);

/*
 * Chooses the runs to merge now into one new run.  Returns their number, with their own numbers in
 * ids (max >= fan_in entries); 0: nothing to merge before more runs have been added.  Once
 * input_ended is true, no run may be added.  Set it as soon as possible: EAGER could otherwise
 * merge everything into one run, which must then be copied.  A final step can be a single run, to
 * be copied; 0 then means that there never was a run.  After a step that is not final, the next
 * call must be sp__policy_merged(); after a final one, only free.
 */
unsigned sp__policy_next(struct sp__policy *policy, bool input_ended, unsigned *ids, unsigned max,
			 struct sp__policy_step *step);

/*
 * Does the work of sp__policy_next() for a caller without resources for all existing runs, while
 * runs can still be added: chooses at most max runs, those that move the fewest bytes.  Returns 0
 * if there are fewer than two runs, or for POLYPHASE and PPMS, which merge only at the end.
 */
unsigned sp__policy_relieve(struct sp__policy *policy, unsigned *ids, unsigned max,
			    struct sp__policy_step *step);

/* Records that the merge chosen last is complete.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__policy_merged(struct sp__policy *policy, unsigned new_run_id, uint64_t bytes);

/* Returns the present number of runs. */
uint64_t sp__policy_runs(const struct sp__policy *policy);
