/* SPDX-License-Identifier: MIT */
/* Cases in which every pair occurs: the generator of tests/diff. */
#include "diff/pairs.h"
#include "tap.h"

enum { SIZE, COLOUR, SHAPE, WEIGHT };

static const struct pairs_factor factors[] = {
	{ "size", { "1", "2", "3", "4", "5", "6", "7", "8", "9", "10" } },
	{ "colour", { "red", "green", "blue", "white", "black", "grey", "pink", "brown" } },
	{ "shape", { "round", "flat" } },
	{ "weight", { "light", "heavy", "unknown" } },
	{ 0 },
};

static const struct pairs_excluded excluded[] = {
	{ "size=1", "colour=red" },
	{ "shape=flat", "weight=heavy" },
	{ "size=2", "weight=light" },
	{ 0 },
};

static bool contradicts(const struct pairs_case *c)
{
	return (c->value[SIZE] == 0 && c->value[COLOUR] == 0) ||
	       (c->value[SHAPE] == 1 && c->value[WEIGHT] == 1) ||
	       (c->value[SIZE] == 1 && c->value[WEIGHT] == 0);
}

/* Counted apart from the generator's own tables. */
static unsigned pairs_in(const struct pairs_case *list, unsigned n)
{
	static const unsigned values[] = { 10, 8, 2, 3 };
	unsigned found = 0;

	for (unsigned f = 0; f < 4; f++) {
		for (unsigned g = f + 1; g < 4; g++) {
			for (unsigned k = 0; k < values[f] * values[g]; k++) {
				unsigned i = 0;

				while (i < n && (list[i].value[f] != k / values[g] ||
						 list[i].value[g] != k % values[g]))
					i++;
				found += i < n;
			}
		}
	}
	return found;
}

static void blocks(void)
{
	static struct pairs_case list[PAIRS_BLOCK], again;
	static struct pairs p;
	unsigned contradictions = 0, blocks_full = 0;
	bool same = true;

	pairs_open(&p, factors, excluded, 7);
	for (unsigned block = 0; block < 5; block++) {
		for (unsigned i = 0; i < PAIRS_BLOCK; i++) {
			pairs_case(&p, block * PAIRS_BLOCK + i + 1, &list[i]);
			contradictions += contradicts(&list[i]);
		}
		/* 80 + 20 + 30 + 16 + 24 + 6, less the three that are excluded */
		blocks_full += pairs_in(list, PAIRS_BLOCK) == 176 - 3;
	}
	ok(blocks_full == 5, "every pair that is allowed is in each block");
	ok(contradictions == 0, "no pair that is excluded is in any");
	for (unsigned i = PAIRS_BLOCK; i; i -= 25) {
		pairs_case(&p, 4 * PAIRS_BLOCK + i, &again);
		same = same && !memcmp(again.value, list[i - 1].value, sizeof(again.value));
	}
	ok(same, "a case is the same when asked for alone");
	ok(pairs_in(list, 100) == 176 - 3, "half a block is enough for these factors");
}

static void missing(void)
{
	static struct pairs p;
	struct pairs_case c;
	unsigned n = 0;

	pairs_open(&p, factors, excluded, 7);
	ok(pairs_missing(&p) == 176 - 3, "before the first case is run all pairs are missing");
	do {
		pairs_case(&p, ++n, &c);
		if (c.value[SIZE] != 2 || c.value[COLOUR] != 2)
			pairs_met(&p, &c);
	} while (n < PAIRS_BLOCK);
	ok(pairs_missing(&p) == 1, "a pair whose cases were not run is found missing");
}

int main(void)
{
	blocks();
	missing();
	return done();
}
