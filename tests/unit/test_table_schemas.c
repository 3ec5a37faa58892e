/* SPDX-License-Identifier: MIT */
/*
 * Page schemas of a pool: figure 4.6, and random sequences of queries against the connected
 * components of their sets.
 */
#include <string.h>
#include "base/rng.h"
#include "table/clotho/schemas.h"
#include "tap.h"

#define COLUMNS 15
#define QUERIES 6

static struct sp__groupset set_of(uint64_t bits)
{
	return (struct sp__groupset){ { bits } };
}

static void begin(struct sp__schemas *s, uint64_t bits)
{
	const struct sp__groupset set = set_of(bits);

	if (sp__schemas_begin(s, &set))
		abort();
}

static void end(struct sp__schemas *s, uint64_t bits)
{
	const struct sp__groupset set = set_of(bits);

	sp__schemas_end(s, &set);
}

/* True if the page schemas are these, in any order. */
static bool has(const struct sp__schemas *s, const uint64_t *sets, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s->pages.n; k++)
			found += s->pages.list[k].bits[0] == sets[i];
	return found == n && s->pages.n == n;
}

static void check_figure(void)
{
	struct sp__schemas s = { 0 };
	const struct sp__groupset two = set_of(2);

	begin(&s, 3);
	ok(has(&s, (uint64_t[]){ 3 }, 1), "Q1 {a1,a2}: the page schema is {a1,a2}");
	begin(&s, 6);
	ok(has(&s, (uint64_t[]){ 7 }, 1), "Q2 {a2,a3}: it is {a1,a2,a3}");
	ok(sp__schemas_find(&s, &two) == &s.pages.list[0], "a2 is found in it");
	end(&s, 3);
	ok(has(&s, (uint64_t[]){ 6 }, 1), "Q1 ends: it is {a2,a3}");
	begin(&s, 24);
	begin(&s, 8);
	ok(has(&s, (uint64_t[]){ 6, 24 }, 2), "queries that share no column have disjoint schemas");
	ok(s.changes == 4, "the list changed four times (%llu)", (unsigned long long)s.changes);
	end(&s, 8);
	ok(s.changes == 4, "the end of a query that is contained in another changes nothing");
	begin(&s, 31);
	ok(has(&s, (uint64_t[]){ 31 }, 1), "a change has all columns");
	end(&s, 31);
	ok(has(&s, (uint64_t[]){ 6, 24 }, 2), "after it the list is as before");
	end(&s, 6);
	end(&s, 24);
	ok(!s.pages.n && !sp__schemas_find(&s, &two), "without queries the list is empty");
	sp__schemas_free(&s);
}

/* The components: sets are merged until none meets another. */
static size_t components(const uint64_t *queries, size_t n, uint64_t *sets)
{
	bool merged = true;

	memcpy(sets, queries, n * sizeof(*sets));
	while (merged) {
		merged = false;
		for (size_t i = 0; i < n; i++)
			for (size_t k = n - 1; k > i; k--)
				if (sets[i] & sets[k]) {
					sets[i] |= sets[k];
					sets[k] = sets[--n];
					merged = true;
				}
	}
	return n;
}

/* Queries of a random sequence begin and end; after each step the list must be right. */
static bool sequence_right(struct sp__rng *rng)
{
	uint64_t queries[QUERIES], sets[QUERIES], columns = 1 + sp__rng_below(rng, 5);
	struct sp__schemas s = { 0 };
	size_t n = 0;
	bool right = true;

	for (unsigned step = 0; right && step < 20; step++) {
		if (n < QUERIES && (!n || sp__rng_below(rng, 2))) {
			queries[n] = 0;
			for (uint64_t i = 0; i < columns; i++)
				queries[n] |= UINT64_C(1) << sp__rng_below(rng, COLUMNS);
			begin(&s, queries[n++]);
		} else {
			size_t i = sp__rng_below(rng, n);

			end(&s, queries[i]);
			queries[i] = queries[--n];
		}
		right = has(&s, sets, components(queries, n, sets));
	}
	sp__schemas_free(&s);
	return right;
}

int main(void)
{
	struct sp__rng rng = { 46 };
	unsigned right = 0;

	check_figure();
	for (unsigned i = 0; i < 20000; i++)
		right += sequence_right(&rng);
	ok(right == 20000, "20,000 random sequences: the list is the connected components (%u)",
	   right);
	return done();
}
