/* SPDX-License-Identifier: MIT */
/*
 * Declares what all inner rooms of a sort share.
 *
 * Writers: the shell sets opts and plan, which nothing can change later, then env and threads
 * before it opens the rooms.  After that, only the budget in env, which is atomic, and *env.err
 * change.  stats and balance are written where the work is done.  While a background task runs,
 * that is in the task; but the thread that puts records counts them and their runs (records,
 * input_bytes, runs).
 */
#pragma once

#include <spindle/sort.h>
#include "base/tally.h"
#include "run/env.h"

/*
 * Balance: each record that a sort reads is either returned or intentionally dropped.
 *
 *	read = given + dropped
 *
 * as numbers, bytes and sums of hashes (base/tally.h).  This is checked before the caller gets the
 * end of the result.  Each component that handles records has a tally of its own, so no two threads
 * share one:
 *
 *	read     each slot's `added` (filling), and `read` of the inputs of -m (merging)
 *	dropped  each slot's (sorting), that of replacement selection (its task), and
 *	         `dropped` here (merging): equal keys under -u and --count
 *	given    `given` here (the final merge)
 *
 * Records are first counted in the slots.  Before that, the bytes of the files without headers must
 * equal the bytes put (flow/scan.h).  Afterwards, the bytes written must equal those returned.
 *
 * In addition, each merge of runs must write as many records as its inputs have, and the final
 * merge must start with as many as were read.  With --limit only these numbers are checked, since a
 * merge that is cut off does not read the rest.
 */
struct sp__balance {
	struct sp__tally dropped;
	struct sp__tally given;
	uint64_t counted; /* --count: the sum of the numbers in the result */
};

struct sp__sort_shared {
	const struct sp_sort_opts opts;
	const struct sp_sort_plan plan;
	struct sp__env env;
	unsigned threads;
	struct sp__balance balance;
	struct sp_sort_stats stats;
};

/* Returns 0, or SP_EBALANCE if the two values of `what` differ. */
SP_MUST_CHECK int sp__balance_compare(const struct sp__sort_shared *s, const char *what,
				      uint64_t want, uint64_t have);
/* Adds the records that a part of the final merge has dropped and returned. */
void sp__balance_join(struct sp__balance *to, const struct sp__balance *from);
/* Adds the runs, merges and requests of a sort to those of another one. */
void sp__stats_join(struct sp_sort_stats *to, const struct sp_sort_stats *from);
