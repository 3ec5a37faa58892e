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
#include "join/keys/keying.h"

/* Cuts two sorted files into ranges of the same keys (cuts.c). */
struct sp__keycuts {
	struct sp__join_inputs *in;
	const struct sp__emit *emit; /* finds keys */
	struct sp__keyorder order;
	int fd[2];
	struct sp__bytes block; /* holds a block of a file */
	uint64_t step;		/* bytes of the longer file in a range */
	/* Bytes of each file: its size; the beginning of the next range. */
	uint64_t size[2], at[2];
};

/* A range of both files: [from, to). */
struct sp__joinrange_cut {
	uint64_t from[2], to[2];
	bool more[2];		/* the file continues after it */
	struct sp__slice bound; /* the key at which it was cut */
	struct sp__bytes bound_copy;
};

/*
 * Opens both inputs, which are regular files of lines; from: the ends of their headers.  0 or an
 * error.
 */
SP_MUST_CHECK int sp__keycuts_open(struct sp__keycuts *c, struct sp__join_inputs *in,
				   const struct sp__emit *emit, const struct sp__keyorder *order,
				   const uint64_t from[2]);
void sp__keycuts_close(struct sp__keycuts *c);
/*
 * Cuts off the next range.  The keys of the last records before the cut precede the bound, and
 * those of the first records after it do not: so if the range is sorted, all its keys precede all
 * later ones.  SP_READY; SP_END: both files have ended; or an error.
 */
SP_MUST_CHECK int sp__keycuts_next(struct sp__keycuts *c, struct sp__joinrange_cut *range);
/* Opens a file once more, for a thread.  Returns the descriptor or an error. */
SP_MUST_CHECK int sp__keycuts_reopen(const struct sp__keycuts *c, int side);
/* Checks that the files have not changed since the join opened them. */
SP_MUST_CHECK int sp__keycuts_check(const struct sp__keycuts *c);

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
