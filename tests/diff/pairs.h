/* SPDX-License-Identifier: MIT */
/*
 * Cases in which every pair of values occurs.
 *
 * A case has one value of each factor.  Cases are made in blocks of
 * PAIRS_BLOCK; within each block every two values of different factors occur
 * together at least once, save pairs that are excluded by name.  Most faults
 * need no more than two settings to meet, and there are some thousand pairs
 * where there are billions of combinations.
 *
 * Greedy: a case begins with a pair that has not occurred in the block yet; the
 * other factors, in random order, get the value that adds most new pairs, ties
 * broken at random; the best of some such cases is taken.  When all pairs have
 * occurred the rest of the block is random.  Everything follows from the seed.
 *
 * The generator does not trust itself: pairs_met() notes the cases that were
 * really run, and pairs_missing() names the pairs that were not among them.
 */
#ifndef DIFF_PAIRS_H
#define DIFF_PAIRS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"

#define PAIRS_BLOCK 200
#define PAIRS_FACTORS 32 /* at most */
#define PAIRS_VALUES 160 /* at most, of all factors together */
#define PAIRS_TRIES 8	 /* cases of which the best is taken */
#define PAIRS_PATIENCE 1000

struct pairs_factor {
	const char *name;
	const char *values[20]; /* the rest is NULL */
};

/* "FACTOR=VALUE" twice; the table gives the reason in a comment. */
struct pairs_excluded {
	const char *a, *b;
};

/* A value's id is its number among the values of all factors. */
struct pairs {
	const struct pairs_factor *factors;
	unsigned nfactors;
	unsigned first[PAIRS_FACTORS + 1]; /* id of each factor's first value */
	bool allowed[PAIRS_VALUES][PAIRS_VALUES];
	bool open[PAIRS_VALUES][PAIRS_VALUES]; /* not in this block yet */
	bool met[PAIRS_VALUES][PAIRS_VALUES];
	unsigned left;	   /* open ones */
	unsigned in_block; /* cases */
	uint64_t seed, block;
	struct sp__rng rng;
};

/* A case: for each factor the index of its value. */
struct pairs_case {
	unsigned value[PAIRS_FACTORS];
};

static unsigned pairs__factor(const struct pairs *p, unsigned id)
{
	unsigned f = 0;

	while (p->first[f + 1] <= id)
		f++;
	return f;
}

/* Which ids have that name?  A value that is in the table twice has two. */
static void pairs__named(const struct pairs *p, const char *text, bool named[PAIRS_VALUES])
{
	bool any = false;

	memset(named, 0, PAIRS_VALUES * sizeof(*named));
	for (unsigned f = 0; f < p->nfactors; f++) {
		size_t n = strlen(p->factors[f].name);

		if (strncmp(text, p->factors[f].name, n) || text[n] != '=')
			continue;
		for (unsigned v = 0; v < p->first[f + 1] - p->first[f]; v++)
			if (!strcmp(text + n + 1, p->factors[f].values[v]))
				any = named[p->first[f] + v] = true;
	}
	if (any)
		return;
	printf("Bail out! no factor has the value %s\n", text);
	exit(2);
}

static void pairs__exclude(struct pairs *p, const struct pairs_excluded *e)
{
	bool a[PAIRS_VALUES], b[PAIRS_VALUES];

	pairs__named(p, e->a, a);
	pairs__named(p, e->b, b);
	for (unsigned i = 0; i < PAIRS_VALUES; i++)
		for (unsigned k = 0; k < PAIRS_VALUES; k++)
			if (a[i] && b[k])
				p->allowed[i][k] = p->allowed[k][i] = false;
}

/* Factors and exclusions each end with an empty entry. */
static void pairs_open(struct pairs *p, const struct pairs_factor *factors,
		       const struct pairs_excluded *excluded, uint64_t seed)
{
	unsigned ids = 0;

	memset(p, 0, sizeof(*p));
	p->factors = factors;
	p->seed = seed;
	for (; factors[p->nfactors].name; p->nfactors++) {
		p->first[p->nfactors] = ids;
		for (unsigned v = 0; factors[p->nfactors].values[v]; v++)
			ids++;
		if (p->nfactors == PAIRS_FACTORS - 1 || ids > PAIRS_VALUES)
			abort();
	}
	p->first[p->nfactors] = ids;
	for (unsigned a = 0; a < ids; a++)
		for (unsigned b = 0; b < ids; b++)
			p->allowed[a][b] = pairs__factor(p, a) != pairs__factor(p, b);
	for (; excluded->a; excluded++)
		pairs__exclude(p, excluded);
}

static void pairs__begin_block(struct pairs *p, uint64_t block)
{
	const unsigned ids = p->first[p->nfactors];

	p->block = block;
	p->in_block = p->left = 0;
	p->rng.state = sp__mix64(p->seed * 1000003 + block);
	memcpy(p->open, p->allowed, sizeof(p->open));
	for (unsigned a = 0; a < ids; a++)
		for (unsigned b = 0; b < a; b++)
			p->left += p->open[a][b];
}

static void pairs__shuffle(struct pairs *p, unsigned *list, unsigned n)
{
	for (unsigned i = n; i > 1; i--) {
		unsigned k = (unsigned)sp__rng_below(&p->rng, i), other = list[k];

		list[k] = list[i - 1];
		list[i - 1] = other;
	}
}

/* An open pair, drawn at random; the ids go to the front of the list. */
static unsigned pairs__draw_open(struct pairs *p, unsigned ids[2])
{
	const unsigned n = p->first[p->nfactors];
	uint64_t k;

	if (!p->left)
		return 0;
	k = sp__rng_below(&p->rng, p->left);
	for (unsigned a = 0; a < n; a++)
		for (unsigned b = 0; b < a; b++)
			if (p->open[a][b] && k-- == 0) {
				ids[0] = a;
				ids[1] = b;
				return 2;
			}
	abort();
}

/* Returns the number of new pairs of a value with the chosen ones; -1: one of them excludes it. */
static int pairs__gain(const struct pairs *p, unsigned id, const unsigned *chosen, unsigned n)
{
	int gain = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!p->allowed[id][chosen[i]])
			return -1;
		gain += p->open[id][chosen[i]];
	}
	return gain;
}

/* The value of a factor that gains most; false: none is allowed. */
static bool pairs__extend(struct pairs *p, unsigned factor, unsigned *chosen, unsigned n, int *sum)
{
	unsigned equals = 0;
	int best = -1;

	for (unsigned id = p->first[factor]; id < p->first[factor + 1]; id++) {
		int gain = pairs__gain(p, id, chosen, n);

		if (gain < 0 || gain < best)
			continue;
		equals = gain > best ? 1 : equals + 1;
		best = gain;
		if (sp__rng_below(&p->rng, equals) == 0)
			chosen[n] = id;
	}
	*sum += best;
	return best >= 0;
}

/* One try; the new pairs in it, or -1 where exclusions leave no value for a factor. */
static int pairs__try(struct pairs *p, struct pairs_case *to)
{
	unsigned order[PAIRS_FACTORS], chosen[PAIRS_FACTORS], n = pairs__draw_open(p, chosen);
	int sum = n ? 1 : 0;

	for (unsigned f = 0; f < p->nfactors; f++)
		order[f] = f;
	pairs__shuffle(p, order, p->nfactors);
	for (unsigned i = 0; i < p->nfactors; i++) {
		bool has = false;

		for (unsigned k = 0; k < n; k++)
			has = has || pairs__factor(p, chosen[k]) == order[i];
		if (has)
			continue;
		if (!pairs__extend(p, order[i], chosen, n, &sum))
			return -1;
		n++;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned f = pairs__factor(p, chosen[i]);

		to->value[f] = chosen[i] - p->first[f];
	}
	return sum;
}

static void pairs__mark(const struct pairs *p, const struct pairs_case *c,
			bool (*table)[PAIRS_VALUES], bool to, unsigned *changed)
{
	for (unsigned f = 0; f < p->nfactors; f++) {
		for (unsigned g = 0; g < f; g++) {
			unsigned a = p->first[f] + c->value[f], b = p->first[g] + c->value[g];

			if (!p->allowed[a][b])
				abort();
			*changed += table[a][b] != to;
			table[a][b] = table[b][a] = to;
		}
	}
}

static void pairs__next(struct pairs *p, struct pairs_case *to)
{
	unsigned closed = 0, patience = PAIRS_PATIENCE;
	int best = -1;

	for (unsigned i = 0; i < PAIRS_TRIES || best < 0; i++) {
		struct pairs_case c = { { 0 } };
		int sum = pairs__try(p, &c);

		if (sum > best) {
			best = sum;
			*to = c;
		}
		if (!patience--) {
			printf("Bail out! the excluded pairs leave no case\n");
			exit(2);
		}
	}
	pairs__mark(p, to, p->open, false, &closed);
	p->left -= closed;
	p->in_block++;
}

/* Case number, from 1, of the series; any order, ascending is quick. */
static void pairs_case(struct pairs *p, uint64_t number, struct pairs_case *to)
{
	uint64_t block = 1 + (number - 1) / PAIRS_BLOCK;
	unsigned index = (unsigned)((number - 1) % PAIRS_BLOCK);

	if (p->block != block || p->in_block > index)
		pairs__begin_block(p, block);
	while (p->in_block <= index)
		pairs__next(p, to);
}

/* A case was run. */
static void pairs_met(struct pairs *p, const struct pairs_case *c)
{
	unsigned changed = 0;

	pairs__mark(p, c, p->met, true, &changed);
}

/* Pairs that are allowed and were in no case that was run; some are named. */
static unsigned pairs_missing(const struct pairs *p)
{
	const unsigned ids = p->first[p->nfactors];
	unsigned missing = 0;

	for (unsigned a = 0; a < ids; a++) {
		for (unsigned b = 0; b < a; b++) {
			unsigned f = pairs__factor(p, a), g = pairs__factor(p, b);

			if (!p->allowed[a][b] || p->met[a][b] || missing++ >= 10)
				continue;
			printf("# never together: %s=%s and %s=%s\n", p->factors[f].name,
			       p->factors[f].values[a - p->first[f]], p->factors[g].name,
			       p->factors[g].values[b - p->first[g]]);
		}
	}
	return missing;
}

/* The name of a case's value of a factor. */
__attribute__((unused)) static const char *pairs_value(const struct pairs *p,
						       const struct pairs_case *c, unsigned factor)
{
	return p->factors[factor].values[c->value[factor]];
}

#endif
