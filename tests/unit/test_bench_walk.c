/* SPDX-License-Identifier: MIT */
/*
 * Where requests go: every pattern stays in its part, aligned, and covers what
 * it should.
 */
#include <math.h>
#include <string.h>
#include "bench/walk.h"
#include "tap.h"

#define UNIT 4096u
#define UNITS 1000u
#define BEGIN 8192u

static unsigned hits[UNITS];

/* Counts where n requests go; false if one leaves the part. */
static bool count(struct sp_bench_class *c, unsigned n)
{
	struct sp__rng rng = { 3 };
	struct sp__walk w;
	bool inside = true;

	c->bytes = UNIT;
	memset(hits, 0, sizeof(hits));
	sp__walk_init(&w, c, BEGIN, UNITS * UNIT + UNIT - 1);
	while (n--) {
		uint64_t at = sp__walk_next(&w, false, &rng) - BEGIN;

		if (at % UNIT || at / UNIT >= UNITS)
			inside = false;
		else
			hits[at / UNIT]++;
	}
	return inside;
}

static bool each(unsigned times)
{
	for (unsigned i = 0; i < UNITS; i++)
		if (hits[i] != times)
			return false;
	return true;
}

static void sequences(void)
{
	struct sp_bench_class c = { .pattern = SP_BENCH_SEQUENTIAL };
	struct sp__rng rng = { 3 };
	struct sp__walk w;

	ok(count(&c, 2 * UNITS) && each(2), "a sequence begins again at its end");
	c.pattern = SP_BENCH_STRIDED;
	c.stride_bytes = 7 * UNIT;
	sp__walk_init(&w, &c, 0, UNITS * UNIT);
	ok(sp__walk_next(&w, false, &rng) == 0 && sp__walk_next(&w, false, &rng) == 7 * UNIT,
	   "a stride leads from one request to the next");
	ok(count(&c, UNITS) && each(1), "strided passes cover everything once");
	c.stride_bytes = 5000 * UNIT;
	ok(count(&c, UNITS) && each(1), "also with a stride longer than the part");
	c.pattern = SP_BENCH_SEQUENTIAL;
	sp__walk_init(&w, &c, 0, 2 * UNIT);
	ok(sp__walk_next(&w, false, &rng) == 0 && sp__walk_next(&w, true, &rng) == 0 &&
		   sp__walk_next(&w, true, &rng) == UNIT && sp__walk_next(&w, true, &rng) == 0 &&
		   sp__walk_next(&w, false, &rng) == UNIT,
	   "sequential reads and writes of a mix each have a position");
	c.pattern = SP_BENCH_SHUFFLED;
	ok(count(&c, UNITS) && each(1) && count(&c, 3 * UNITS) && each(3),
	   "shuffled requests cover everything once per pass");
	ok(count(&c, 4) && hits[0] + hits[1] + hits[2] + hits[3] < 4, "in random order");
}

static void randoms(void)
{
	struct sp_bench_class c = { .pattern = SP_BENCH_RANDOM };
	double chi = 0, expected = 200, share;
	unsigned top = 0, first = 0, neighbours = 0;

	ok(count(&c, UNITS * 200), "random requests stay inside");
	for (unsigned i = 0; i < UNITS; i++)
		chi += (hits[i] - expected) * (hits[i] - expected) / expected;
	/* 999 degrees of freedom: five standard deviations. */
	ok(chi > 775 && chi < 1223, "and are uniform (chi square %.0f)", chi);
	c.pattern = SP_BENCH_ZIPF;
	c.theta = 1.0;
	ok(count(&c, UNITS * 200), "zipf requests stay inside");
	for (unsigned i = 0; i < UNITS; i++)
		if (hits[i] > hits[top])
			top = i;
	share = hits[top] / (200.0 * UNITS);
	/* The harmonic number of 1000 is 7.485. */
	ok(fabs(share - 1 / 7.485) < 0.005, "the first rank has its share (%.4f)", share);
	for (unsigned i = 0; i < UNITS; i++)
		first += hits[i] > 200u * UNITS / 7.485 / 10.5;
	ok(first == 10, "ten ranks have more than a tenth of it (%u)", first);
	for (unsigned i = top > 5 ? top - 5 : 0; i <= top + 5 && i < UNITS; i++)
		neighbours += hits[i] > 200u * UNITS / 7.485 / 10.5;
	ok(neighbours == 1, "popular places do not lie together");
	c.theta = 2.5;
	ok(count(&c, 5000) && hits[0] > 3500, "a large theta leaves little for the others");
}

int main(void)
{
	sequences();
	randoms();
	return done();
}
