/* SPDX-License-Identifier: MIT */
/*
 * Declares index nested loops: an operator whose outer rows come from another operator, and whose
 * inner records are found by an index and read by their offsets, many concurrently.
 *
 * A row has one record of each file joined so far.  next() returns SP_READY with a row, SP_LATER,
 * SP_END or an error, like next() of struct sp__iter; a row is borrowed until the next call.
 * Operators are stacked: if the lower one returns SP_LATER, the upper one continues with the rows
 * that it has.
 *
 * Source: Iyengar et al. 2008, sections 5 and 7.4.
 */
#pragma once

#include "index/lookup.h"
#include "index/fetch.h"
#include "join/keys/keying.h"
#include "join/input/inputs.h"

/* By file, from 0; data NULL: the row has no record of this file. */
struct sp__tuple {
	struct sp__line of[SP_JOIN_FILES_MAX];
};

struct sp__tuples {
	void *operator;
	int (*next)(void *operator, const struct sp__tuple ** row);
};

struct sp__inl_opts {
	struct sp__env *env;
	const struct sp__cut *cut; /* of the join */
	struct sp__tuples outer;
	struct sp__requests *reads; /* 2 * max of its depth belong to this operator */
	struct sp__waits *waits;
	const struct sp__index *index;
	struct sp__volume *volume;	 /* of the inner file */
	const struct sp_join_opts *keys; /* keys, types and formats of the two sides */
	int outer_side;			 /* side of the outer rows in keys: 0 or 1 */
	unsigned left, inner;		 /* files: with the outer key; read here */
	struct sp_recfmt format;	 /* of the inner file */
	unsigned max;			 /* keys or reads outstanding; 1: synchronous */
	uint64_t memory_bytes;
	uint64_t gap_bytes;
	bool ordered;
	/* Rows of the result: pairs; outer rows with a partner, once; outer rows without one. */
	bool pairs, semi, unpaired;
};

struct sp__inl;

SP_MUST_CHECK int sp__inl_open(struct sp__inl **level, const struct sp__inl_opts *opts);
/* Called after the reads have been closed.  Accepts NULL. */
void sp__inl_close(struct sp__inl *level);
/* Sets the estimated number of outer rows to come. */
void sp__inl_expect(struct sp__inl *level, uint64_t rows);
SP_MUST_CHECK int sp__inl_next(void *level, const struct sp__tuple **row);
/*
 * Returns a row that has arrived, like next, if it is not time to request more; otherwise SP_LATER,
 * without a registered wait.  So an operator returns the available rows in one batch, and a limit
 * above it does not make it read more than row by row.
 */
SP_MUST_CHECK int sp__inl_more(void *level, const struct sp__tuple **row);
/* Adds to the counters of the join. */
void sp__inl_note(const struct sp__inl *level, struct sp_join_stats *stats);
