/* SPDX-License-Identifier: MIT */
/*
 * The last line of defence: every record that a sort has read leaves it, or is left
 * out on purpose.
 *
 *	read = given + dropped
 *
 * as numbers, bytes and sums of hashes (base/tally.h), compared before the caller is told
 * that there is no more.  Whoever handles records keeps a tally of its own, so that none is
 * shared by two threads:
 *
 *	read     each slot's `added` (who fills it), and `read` of the inputs of -m (who merges)
 *	dropped  each slot's (who sorts it), that of replacement selection (its task), and
 *	         `dropped` here (who merges): equal keys under -u and --count
 *	given    `given` here (the final merge)
 *
 * Records are first known in the slots.  Before that the bytes of the files, less headers,
 * must equal those put (flow/scan.h); afterwards the bytes written those given.
 *
 * Beside that each merge of runs must write as many records as it was given, and the final
 * one is set up with as many as have been read.  With --top only these numbers count, since
 * what is cut off a merge is never looked at.  Merges and checks belong to the thread that works on
 * the sort.
 */
#ifndef SP__SORT_BALANCE_H
#define SP__SORT_BALANCE_H

#include <spindle/api.h>
#include "base/tally.h"
#include "spill/run.h"

struct sp_sort;

struct sp__balance {
	struct sp__tally dropped;
	struct sp__tally given;
	uint64_t counted; /* --count: the sum of the numbers given out */
};

/* The caller had so many bytes of records to put: has the sort taken them? */
SP_MUST_CHECK int sp__balance_taken(const struct sp_sort *s, uint64_t bytes);
/* The caller has written so many bytes of records: are they all that was given out? */
SP_MUST_CHECK int sp__balance_written(const struct sp_sort *s, uint64_t bytes);
/* A merge of `records` records has made a run; balance.dropped.records was dropped_before. */
SP_MUST_CHECK int sp__balance_merged(struct sp_sort *s, uint64_t records, const struct sp__run *run,
				     uint64_t dropped_before);
/* No runs follow: are all records in runs, in slots or in strips? */
SP_MUST_CHECK int sp__balance_formed(const struct sp_sort *s);
/* The end has been reached: is nothing missing, nothing there twice? */
SP_MUST_CHECK int sp__balance_ended(const struct sp_sort *s);

#endif
