/* SPDX-License-Identifier: MIT */
/*
 * The page schemas of a table: disjoint sets of column groups, from the queries that run.
 *
 * The page schemas are the connected components of the queries' sets, where two sets are connected
 * if they have a column group in common.  So queries that share a column group can share frames.
 *
 * Source: Shao 2008, figure 4.6.  Its text adds a set to the list, and does not say that the sets
 * that it contains leave the list.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "base/bits.h"
#include "table/schema/schema.h"

#define SP__GROUPSET_WORDS ((SP__COLUMNS_MAX + 63) / 64)

/* A set of column groups, a bit each. */
struct sp__groupset {
	uint64_t bits[SP__GROUPSET_WORDS];
};

static inline bool sp__groupset_has(const struct sp__groupset *s, uint32_t group)
{
	return sp__bits_has(s->bits, group);
}

static inline bool sp__groupset_contains(const struct sp__groupset *s, const struct sp__groupset *t)
{
	uint64_t missing = 0;

	for (size_t i = 0; i < SP__GROUPSET_WORDS; i++)
		missing |= t->bits[i] & ~s->bits[i];
	return !missing;
}

static inline bool sp__groupset_meets(const struct sp__groupset *s, const struct sp__groupset *t)
{
	uint64_t common = 0;

	for (size_t i = 0; i < SP__GROUPSET_WORDS; i++)
		common |= s->bits[i] & t->bits[i];
	return common;
}

static inline void sp__groupset_join(struct sp__groupset *s, const struct sp__groupset *t)
{
	for (size_t i = 0; i < SP__GROUPSET_WORDS; i++)
		s->bits[i] |= t->bits[i];
}

/* Sets. */
struct sp__groupsets {
	struct sp__groupset *list;
	size_t n, capacity;
};

struct sp__schemas {
	struct sp__groupsets queries; /* that run, in the order of their begins */
	struct sp__groupsets pages;   /* page schemas */
	uint64_t changes;	      /* of the page schemas */
};

void sp__schemas_free(struct sp__schemas *s);
/* Adds a query; one that changes records has the set of all column groups.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__schemas_begin(struct sp__schemas *s, const struct sp__groupset *query);
/* Removes a query that was added. */
void sp__schemas_end(struct sp__schemas *s, const struct sp__groupset *query);
/* Returns the page schema that contains a set, or NULL: none does. */
const struct sp__groupset *sp__schemas_find(const struct sp__schemas *s,
					    const struct sp__groupset *set);
