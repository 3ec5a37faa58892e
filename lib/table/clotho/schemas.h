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

#include <stdbool.h>
#include <stdint.h>
#include "base/array.h"
#include "columns/schema.h"

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
	struct sp__groupsets queries; /* queries that run, in the order of their begins */
	struct sp__groupsets pages;   /* page schemas */
	uint64_t changes;	      /* changes of the page schemas */
};

void sp__schemas_free(struct sp__schemas *s);
/* Adds a query; one that changes records has the set of all column groups.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__schemas_begin(struct sp__schemas *s, const struct sp__groupset *query);
/* Removes a query that was added. */
void sp__schemas_end(struct sp__schemas *s, const struct sp__groupset *query);
/* Returns the page schema that contains a set, or NULL: none does. */
const struct sp__groupset *sp__schemas_find(const struct sp__schemas *s,
					    const struct sp__groupset *set);

/*
 * Counts the bytes that reads of few records read themselves, since no frame had them.
 *
 * The counts are in a table of fixed size.  If another frame has a place in it, its count is
 * decreased, and it loses the place when the count is used up.
 */

#define SP__DEMANDS_MAX 4 /* demands of a frame */

struct sp__clotho_demand {
	uint64_t key;	       /* key of the frame that would have the bytes */
	uint64_t bytes, since; /* since: lookups of the pool when it began */
};

struct sp__clotho_demands {
	struct sp__clotho_demand *list;
	uint64_t n; /* a power of two */
};

/* Makes the table for a pool of so many frames.  Returns 0 or -ENOMEM. */
int sp__demands_open(struct sp__clotho_demands *d, uint64_t frames);
void sp__demands_close(struct sp__clotho_demands *d);
/*
 * Adds bytes to the count of a frame, which begins again if it is older than `used`.  now: lookups
 * so far.  Returns true, and begins again, if the count reaches `wanted`.
 */
bool sp__demands_add(struct sp__clotho_demands *d, uint64_t key, uint64_t bytes, uint64_t wanted,
		     uint64_t used, uint64_t now);
