/* SPDX-License-Identifier: MIT */
/*
 * What all inner rooms of a sort share.
 *
 * Writers.  sort.c sets opts, plan, env and threads before it opens the rooms; afterwards only the
 * budget in env changes, which is atomic, and *env.err.  The code that does the counted work writes
 * stats and balance: while a background task runs, that is the task, except that the caller counts
 * the records that it puts (records, input_bytes and runs of the stats).
 */
#pragma once

#include <spindle/sort.h>
#include "base/tally.h"
#include "run/env.h"

/*
 * The last line of defence: each record that a sort reads is either given out or dropped on
 * purpose.
 *
 *	read = given + dropped
 *
 * as numbers, bytes and sums of hashes (base/tally.h), compared before the caller gets the end of
 * the result.  Each part that handles records keeps its own tally, so no two threads share one:
 *
 *	read     each slot's `added` (filling), and `read` of the inputs of -m (merging)
 *	dropped  each slot's (sorting), that of replacement selection (its task), and
 *	         `dropped` here (merging): equal keys under -u and --count
 *	given    `given` here (the final merge)
 *
 * Records are first counted in the slots.  Before that the bytes of the files, less headers, must
 * equal those put (flow/scan.h); afterwards the bytes written those given.
 *
 * In addition each merge of runs must write as many records as it has inputs, and the final one is
 * set up with as many as were read.  With --top only these numbers count, since a merge that is cut
 * off does not read the rest.
 */
struct sp__balance {
	struct sp__tally dropped;
	struct sp__tally given;
	uint64_t counted; /* --count: the sum of the numbers output */
};

struct sp__sort_shared {
	struct sp_sort_opts opts;
	struct sp_sort_plan plan;
	struct sp__env env;
	unsigned threads;
	struct sp__balance balance;
	struct sp_sort_stats stats;
};

/* 0, or SP_EBALANCE if the values of `what` differ. */
SP_MUST_CHECK int sp__balance_compare(const struct sp__sort_shared *s, const char *what,
				      uint64_t want, uint64_t have);
/* Adds what a part of the final merge has dropped and given. */
void sp__balance_join(struct sp__balance *to, const struct sp__balance *from);
