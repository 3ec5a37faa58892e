/* SPDX-License-Identifier: MIT */
/*
 * Merges sorted regular files by ranges of keys, with several threads.
 *
 * Every range is merged as a whole input would be, up to the first event that depends on more than
 * the range: a record out of order, or one that does not precede the cut at its end.  There the
 * merge stops.  If the ranges before it were sorted, its state is that of a merge of whole files.
 * So the thread of the join drops all later ranges, and continues that merge to the end of both
 * files: results and messages are those of one thread.
 */
#pragma once

#include "join/input/inputs.h"
#include "join/merge/cuts.h"

/* A range, of one thread. */
struct sp__joinrange {
	struct sp__joinrange_cut cut;
	uint64_t number;
	struct sp__join_inputs in; /* its sources end with the range */
	struct sp__result out;
	struct sp__budget *budget;
	bool unpairable; /* set by the merge: a record had no partner */
	struct sp__joinranges *all;
	struct sp__joinrange_maker *maker;
};

/* Totals of the ranges before. */
struct sp__joinrange_past {
	uint64_t records[2];
	bool unpairable;
};

/* A merge of ranges. */
struct sp__joinrange_ops {
	/* Begins a range, with the argument of joinranges_merge().  NULL: an error, recorded. */
	void *(*begin)(struct sp__joinrange *r, const void *arg);
	/*
	 * Merges: SP_END; SP_READY: the emit holds enough; SP__MERGE_STOPPED, SP__MERGE_DISORDER
	 * (with in.merged), or an error.
	 */
	int (*run)(void *merge);
	/*
	 * After STOPPED: run() will merge the rest of both files into the result of the join.  The
	 * members of r->in are already those of the join.
	 */
	void (*go_on)(void *merge, struct sp__result *out, const struct sp__joinrange_past *past);
	void (*end)(void *merge);
};

/*
 * Waits until all earlier ranges are merged, if a range keeps so many bytes of records that others
 * must not do so, too.  0, or -ECANCELED.
 */
SP_MUST_CHECK int sp__joinrange_hold(struct sp__joinrange *r, uint64_t bytes);

/*
 * Merges the inputs of a join after their headers: 0, SP__MERGE_DISORDER or an error.  SP_EUNSUP,
 * not recorded: one thread must merge them, and nothing has been done.
 */
SP_MUST_CHECK int sp__joinranges_merge(struct sp__join_inputs *in, struct sp__result *out,
				       const struct sp__keyorder *order,
				       const struct sp__joinrange_ops *ops, const void *arg);
