/* SPDX-License-Identifier: MIT */
/*
 * Index nested loops: an operator whose outer rows come from another one, and whose inner records
 * are found by an index and read by their places, many at once.
 *
 * A row has one record of each file joined so far.  next() returns SP_READY with a row, SP_LATER,
 * SP_END or an error, as that of a sp__iter does; a row is borrowed until the next call.
 * Operators stand on each other: if the lower one says SP_LATER, the upper one goes on with the
 * rows that it has.
 *
 * Source: Iyengar et al. 2008, sections 5 and 7.4.
 */
#ifndef SP__JOIN_INL_INL_H
#define SP__JOIN_INL_INL_H

#include "index/lookup.h"
#include "join/inl/gather.h"
#include "join/keys/keying.h"
#include "join/input/inputs.h"

/* By file, from 0; data NULL: the row has none of this file. */
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
	struct sp__requests *reads; /* 2 * max of its depth are for this */
	struct sp__waits *waits;
	const struct sp__index *index;
	struct sp__volume *volume;	 /* of the inner file */
	const struct sp_join_opts *keys; /* keys, types and formats of the two sides */
	int outer_side;			 /* of keys: 0 or 1 */
	unsigned left, inner;		 /* files: with the outer key; read here */
	struct sp_recfmt format;	 /* of the inner file */
	unsigned max;			 /* keys or reads outstanding; 1: synchronous */
	uint64_t memory_bytes;
	uint64_t gap_bytes;
	bool ordered;
	/* What becomes a row: pairs; outer rows with a partner, once; those without one. */
	bool pairs, semi, unpaired;
};

struct sp__inl;

SP_MUST_CHECK int sp__inl_open(struct sp__inl **level, const struct sp__inl_opts *opts);
/* After the reads have been closed.  Accepts NULL. */
void sp__inl_close(struct sp__inl *level);
/* So many outer rows are to come, at a guess. */
void sp__inl_expect(struct sp__inl *level, uint64_t rows);
SP_MUST_CHECK int sp__inl_next(void *level, const struct sp__tuple **row);
/*
 * As next, but only a row that has come, if it is not time to ask for more: else SP_LATER, and
 * nothing is registered.  So an operator gives in one batch what is there, and no limit above it
 * makes it read more than row by row.
 */
SP_MUST_CHECK int sp__inl_more(void *level, const struct sp__tuple **row);
/* Adds to the figures of the join. */
void sp__inl_note(const struct sp__inl *level, struct sp_join_stats *stats);

#endif
