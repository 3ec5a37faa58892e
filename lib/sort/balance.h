/* SPDX-License-Identifier: MIT */
/*
 * The last line of defence: every record that a sort reads is either output or dropped
 * on purpose.
 *
 *	read = given + dropped
 *
 * as numbers, bytes and sums of hashes (base/tally.h), compared before the caller gets
 * the end of the result.  Each part that handles records keeps its own tally, so that no
 * two threads share one:
 *
 *	read     each slot's `added` (filling), and `read` of the inputs of -m (merging)
 *	dropped  each slot's (sorting), that of replacement selection (its task), and
 *	         `dropped` here (merging): equal keys under -u and --count
 *	given    `given` here (the final merge)
 *
 * Records are first counted in the slots.  Before that the bytes of the files, less
 * headers, must equal those put (flow/scan.h); afterwards the bytes written those given.
 *
 * In addition each merge of runs must write as many records as it has inputs, and the
 * final one is set up with as many as were read.  With --top only these numbers count,
 * since a merge that is cut off does not look at the rest.  Merges and checks belong to
 * the thread that works on the sort.
 */
#ifndef SP__SORT_BALANCE_H
#define SP__SORT_BALANCE_H

#include <stdbool.h>
#include <spindle/api.h>
#include "base/tally.h"
#include "spill/run.h"

struct sp_sort;

struct sp__balance {
	struct sp__tally dropped;
	struct sp__tally given;
	uint64_t counted; /* --count: the sum of the numbers output */
};

/* Adds what a part of the final merge has dropped and given. */
void sp__balance_join(struct sp__balance *to, const struct sp__balance *from);

/* Has no record been dropped until now?  When no task runs. */
bool sp__balance_none_dropped(const struct sp_sort *s);
/* All records that the sort has read. */
struct sp__tally sp__balance_read(const struct sp_sort *s);
/* Checks that the sort has consumed the bytes of records that the caller put. */
SP_MUST_CHECK int sp__balance_taken(const struct sp_sort *s, uint64_t bytes);
/* Checks that the caller has written as many bytes of records as were output. */
SP_MUST_CHECK int sp__balance_written(const struct sp_sort *s, uint64_t bytes);
/* A merge of `records` records has made a run; balance.dropped.records was dropped_before. */
SP_MUST_CHECK int sp__balance_merged(struct sp_sort *s, uint64_t records, const struct sp__run *run,
				     uint64_t dropped_before);
/* After the last run: checks that all records are in runs, slots or strips. */
SP_MUST_CHECK int sp__balance_formed(const struct sp_sort *s);
/* A part of the final merge has given so many bytes. */
SP_MUST_CHECK int sp__balance_part(const struct sp_sort *s, uint64_t bytes, uint64_t given);
/* At the end: checks that no record is missing or duplicated. */
SP_MUST_CHECK int sp__balance_ended(const struct sp_sort *s);

#endif
