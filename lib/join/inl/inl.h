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

#include "index/fetch.h"
#include "index/lookup.h"
#include "join/input/inputs.h"
#include "join/keys/keying.h"

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
	const struct sp__cut *cut; /* how the join cuts records into fields */
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

/*
 * The two keys of index nested loops: the join's, for comparison, and the index's (keys.c).
 * Owner: the operator.
 */
struct sp__inlkeys {
	const struct sp__inl_opts *opts;
	struct sp__keying keying;
	struct sp__keymem keymem;
	struct sp__keybuf of_outer, of_inner; /* in the form of the index */
	struct sp__bytes text;		      /* an outer key for the index */
};

/* Borrows opts.  Must be closed even after an error. */
SP_MUST_CHECK int sp__inlkeys_open(struct sp__inlkeys *k, const struct sp__inl_opts *opts);
void sp__inlkeys_release(struct sp__inlkeys *k);
/* Makes the join key of a record of one side; valid until the next call. */
SP_MUST_CHECK int sp__inlkeys_make(struct sp__inlkeys *k, int side, const struct sp__line *line,
				   struct sp__slice *key);
/* Makes the index key of an outer record, in of_outer. */
SP_MUST_CHECK int sp__inlkeys_for_index(struct sp__inlkeys *k, const struct sp__line *outer);
/* Compares the index keys of an outer and an inner record.  1: equal, 0, or an error. */
SP_MUST_CHECK int sp__inlkeys_same(struct sp__inlkeys *k, const struct sp__line *outer,
				   const char *record, size_t bytes);

/*
 * Operators for the indexes and files that options name, stacked above source `outer` of the join
 * (plan.c).  The root writes rows: for a join of files, or for an operator of a plan.
 */
struct sp__inl_level {
	struct sp__index index;
	struct sp_join_opts keys;
	size_t field[2]; /* memory of its keys */
	struct sp__inl *inl;
};

struct sp__inl_plan {
	struct sp__join_inputs *in; /* the first six members are set by the owner */
	struct sp__result *out;
	int outer; /* file 0 or 1 */
	unsigned nlevels;
	struct sp__waits *waits;
	bool bound; /* bound to the thread that opens it */
	struct sp__inl_level level[SP_JOIN_FILES_MAX - 1];
	struct sp__requests reads;
	struct sp__tuple row; /* row of the outer file */
};

/* Opens the indexes and operators; must be closed even after an error. */
SP_MUST_CHECK int sp__inl_plan_open(struct sp__inl_plan *p);
void sp__inl_plan_close(struct sp__inl_plan *p);
/* The highest level. */
static inline struct sp__inl *sp__inl_plan_top(const struct sp__inl_plan *p)
{
	return p->level[p->nlevels - 1].inl;
}

/* Puts a row into the emit of the join. */
void sp__inl_plan_write(struct sp__inl_plan *p, const struct sp__tuple *row);
/* Adds the reads to stats. */
void sp__inl_plan_note(const struct sp__inl_plan *p, struct sp_run_stats *stats);

/* Joins files.  0 or an error. */
SP_MUST_CHECK int sp__join_inl(struct sp__join_inputs *in, struct sp__result *out);

/* keys.c: which indexes a join can use */
/*
 * Checks that the join can be done, and that the needed options are set.  0, or SP_EUNSUP with err.
 */
SP_MUST_CHECK int sp__inl_check(const struct sp_join_opts *o, const struct sp_join_io *io,
				struct sp_errinfo *err);
/*
 * Checks that it is an index of this input, and that its key is equal for all records with equal
 * keys on that side of opts.  0, SP_EUNSUP or a system error, with err.
 */
SP_MUST_CHECK int sp__inlindex_check(const struct sp__index *index, const struct sp_join_opts *o,
				     int side, const char *input, const struct sp_join_io *io,
				     struct sp_errinfo *err);
/* Passes io->index_wanted the command that makes the index of an input; name may be NULL. */
void sp__want_index(const struct sp_join_io *io, const struct sp_join_opts *o, int side,
		    const char *input, const char *name);
