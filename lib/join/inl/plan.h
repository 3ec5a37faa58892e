/* SPDX-License-Identifier: MIT */
/*
 * Stacks operators of inl.h for the indexes and files that options name; the lowest is above source
 * `outer` of the join.  The root writes rows: for a join of files (plan.c), or for an operator of a
 * plan (inl_operator.c).
 */
#pragma once

#include "join/inl/inl.h"

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
	struct sp__tuple row; /* of the outer file */
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
