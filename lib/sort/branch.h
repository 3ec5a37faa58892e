/* SPDX-License-Identifier: MIT */
/*
 * Branches of the final merge.
 *
 * A loser tree keeps one processor busy, and over hundreds of runs it is slower than
 * the device that they come from.  If threads are available, the oldest runs are
 * divided among branches.  Each merges its runs in its own thread, with its own pages,
 * read plan and reader of the spill store, and passes the result on through a ring: one
 * sorted feed for the trunk, the main merge, which has the other runs.  Feeds come first
 * in the trunk, so equal records stay in the order of their runs.
 *
 * Shares.  Taking a record from a branch costs the trunk about a third of merging it
 * from one of many runs.  So that all finish at the same time, each of k branches gets
 * 3 / (3 + 2 k) of the bytes.  With three nothing is left for the trunk.
 *
 * There are no branches if figures must be deterministic (simulated machines), if
 * reading was set by hand, or below 16 MB of memory.  If a branch cannot be created, its
 * runs stay with the trunk.
 */
#ifndef SP__SORT_BRANCH_H
#define SP__SORT_BRANCH_H

#include "sort/step.h"

/*
 * Starts merging.nbranches branches on the first of the runs ids[0..n), with memory taken from
 * *where.  Returns how many runs they have; ids must stay valid.
 */
unsigned sp__branches_open(struct sp_sort *s, const unsigned *ids, unsigned n,
			   struct sp__freemem *where);
/* Sets the first s->merging.nbranches cursors of the trunk to the branches. */
void sp__branches_cursors(struct sp_sort *s, struct sp__cursor *cursors);
/* Ends the branches at any point, and adds their reads to the counts. */
void sp__branches_close(struct sp_sort *s);

#endif
