/* SPDX-License-Identifier: MIT */
/*
 * Branches of the final merge.
 *
 * A loser tree keeps one processor busy, and over hundreds of runs it is slower
 * than the device that they come from.  Where threads are to be had, the oldest
 * runs are divided among branches.  Each merges its runs in a thread of its own, with pages, a read
 * plan and a way into the spill store of its own, and hands the result on through a
 * ring: one sorted feed for the trunk, the merge proper, which has the other
 * runs.  Feeds come first in the trunk, so records that are equal stay in the order of
 * their runs.
 *
 * Shares.  Taking a record from a branch costs the trunk about a third of merging
 * it from one of many runs.  So that all are done at the same time, each of k
 * branches has 3 / (3 + 2 k) of the bytes.  With three nothing is left to the trunk.
 *
 * There are none where figures depend on nothing else going on (simulated
 * machines), where reading was set by hand, below 16 MB of memory, and where a
 * branch cannot be had: then its runs stay with the trunk.
 */
#ifndef SP__SORT_BRANCH_H
#define SP__SORT_BRANCH_H

#include "sort/step.h"

/*
 * Begins merging.nbranches branches, with the first of the runs ids[0..n) and with memory taken
 * from *where.  Returns how many runs they have; ids must stay.
 */
unsigned sp__branches_open(struct sp_sort *s, const unsigned *ids, unsigned n,
			   struct sp__freemem *where);
/* As the first s->merging.nbranches cursors of the trunk. */
void sp__branches_cursors(struct sp_sort *s, struct sp__cursor *cursors);
/* Ends them wherever they are, and adds what they have read to the counts. */
void sp__branches_close(struct sp_sort *s);

#endif
