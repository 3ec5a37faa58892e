/* SPDX-License-Identifier: MIT */
/*
 * Estimates and knees on curves whose knees are known, without noise and with
 * noise of the kind that machines have: each slice off by some per cent, a
 * tenth of them badly disturbed.
 */
#include <math.h>
#include "base/rng.h"
#include "bench/stat.h"
#include "tap.h"

#define DEPTHS 9
#define SLICES 10

/* Requests a second at a depth. */
typedef double curve(double depth);

/* Perfect scaling up to 16, nothing after it. */
static double sharp(double d)
{
	return 1000 * fmin(d, 16);
}

/* A closed queue: half of the highest throughput at depth 8. */
static double soft(double d)
{
	return 80000 * d / (d + 8);
}

static double flat(double d)
{
	return 400 + 0 * d;
}

/* A disk with an elevator: each doubling brings a little. */
static double disk(double d)
{
	return 130 + 22 * log2(fmin(d, 128));
}

/* Up to 8, and down from there. */
static double peak(double d)
{
	return d <= 8 ? 5000 * d : 40000 * pow(8 / d, 0.3);
}

static double linear(double d)
{
	return 100 * d;
}

static double iops[DEPTHS][SLICES];
static struct sp__curve_point points[DEPTHS];
static struct sp__knees knees;

/* About normal, from twelve uniform ones. */
static double normal(struct sp__rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += sp__rng_real(rng);
	return sum;
}

static void plant(curve *c, double noise, double disturbed, uint64_t seed)
{
	struct sp__rng rng = { sp__mix64(seed + 1) };

	for (int i = 0; i < DEPTHS; i++) {
		points[i] = (struct sp__curve_point){ 1u << i, SLICES, iops[i] };
		for (int k = 0; k < SLICES; k++) {
			iops[i][k] = c(1 << i) * exp(noise * normal(&rng));
			if (sp__rng_real(&rng) < disturbed)
				iops[i][k] *= 0.4 + 0.4 * sp__rng_real(&rng);
		}
	}
	sp__knees_find(&knees, points, DEPTHS, seed);
}

static bool is(struct sp__knee k, unsigned depth)
{
	if (k.depth != depth || k.low != depth || k.high != depth)
		diag("%u (%u to %u), wanted %u", k.depth, k.low, k.high, depth);
	return k.depth == depth && k.low == depth && k.high == depth;
}

static void exact(void)
{
	plant(sharp, 0, 0, 1);
	ok(is(knees.latency, 16) && is(knees.throughput, 16) && is(knees.recommended, 16),
	   "all knees are where scaling ends");
	ok(!knees.rising, "the curve does not rise at its end");
	plant(soft, 0, 0, 1);
	ok(is(knees.latency, 8), "power is greatest at half of the highest throughput");
	ok(is(knees.recommended, 64) && is(knees.throughput, 128),
	   "the others are the depths with 90 and 95 %%");
	plant(flat, 0, 0, 1);
	ok(is(knees.latency, 1) && is(knees.throughput, 1) && is(knees.recommended, 1),
	   "where depth brings nothing one request is enough");
	plant(disk, 0, 0, 1);
	ok(is(knees.latency, 1) && is(knees.recommended, 64), "a disk gains slowly");
	plant(peak, 0, 0, 1);
	ok(is(knees.latency, 8) && is(knees.throughput, 8),
	   "what falls is no better than what rose");
	plant(linear, 0, 0, 1);
	ok(is(knees.latency, 256) && knees.rising, "what rises to the end is told");
}

/* In how many of 100 runs all knees, and in *best the recommended depth, are at most a factor of
 * two off. */
static int near(curve *c, unsigned latency, unsigned recommended, unsigned throughput, int *best)
{
	int all = 0;

	*best = 0;
	for (uint64_t seed = 0; seed < 100; seed++) {
		bool good;

		plant(c, 0.05, 0.1, seed * 77 + 3);
		good = fabs(log2((double)knees.recommended.depth / recommended)) <= 1;
		*best += good;
		all += good && fabs(log2((double)knees.latency.depth / latency)) <= 1 &&
		       fabs(log2((double)knees.throughput.depth / throughput)) <= 1;
	}
	diag("all %d of 100, recommended %d", all, *best);
	return all;
}

static void noisy(void)
{
	int best;

	ok(near(sharp, 16, 16, 16, &best) >= 90 && best >= 98, "a sharp knee is found in noise");
	ok(near(soft, 8, 64, 128, &best) >= 95 && best >= 98, "and a soft one");
	ok(near(disk, 1, 64, 64, &best) >= 95 && best >= 98, "and that of a disk");
	ok(near(peak, 8, 8, 8, &best) >= 98 && best >= 98, "and a peak");
}

/* Intervals hold the truth about as often as they say. */
static void intervals(void)
{
	struct sp__rng rng = { 5 };
	int hits[2] = { 0 }, sizes[2] = { 4, 12 };

	for (int s = 0; s < 2; s++)
		for (int i = 0; i < 2000; i++) {
			struct sp_benchset_estimate e;
			double v[12];

			for (int k = 0; k < sizes[s]; k++)
				v[k] = 50 + 3 * normal(&rng);
			e = sp__stat_estimate(v, (size_t)sizes[s]);
			hits[s] += e.low <= 50 && e.high >= 50;
		}
	diag("%d and %d of 2000", hits[0], hits[1]);
	ok(hits[0] > 1860 && hits[0] < 1940, "a 95 %% interval of four");
	ok(hits[1] > 1860 && hits[1] < 1940, "and of twelve, which leaves out two at either end");
}

static void estimates(void)
{
	double few[] = { 5, 3 }, spoiled[] = { 10, 11, 9, 1000, 10 }, ratios[] = { 2, 2, 2 };
	double falling[] = { 5, 1, 3, 2, 4, 9 }, weight[] = { 1, 1, 1, 1, 1, 1 }, fit[6];
	double hill[] = { 1, 3, 7, 4, 5, 2 };
	struct sp_benchset_estimate e = sp__stat_estimate(few, 2);

	ok(e.value == 4 && fabs(e.high - e.low - 2 * 12.706) < 1e-9, "the t interval of two");
	e = sp__stat_estimate(few, 1);
	ok(isnan(e.low) && isnan(e.high), "one has no interval");
	ok(fabs(sp__stat_trimmed(spoiled, 5) - 31.0 / 3) < 1e-9, "the worst of five do not count");
	e = sp__stat_ratio(ratios, 3);
	ok(fabs(e.value - 2) < 1e-9 && fabs(e.low - 2) < 1e-9, "equal ratios");
	ok(isnan(sp__stat_trimmed(few, 0)), "nothing has no mean");
	sp__stat_hill(fit, falling, weight, 6);
	ok(fit[0] == 2.75 && fit[3] == 2.75 && fit[4] == 4 && fit[5] == 9,
	   "the nearest curve that rises pools what falls");
	sp__stat_hill(fit, hill, weight, 6);
	ok(fit[0] == 1 && fit[2] == 7 && fit[3] == 4.5 && fit[4] == 4.5 && fit[5] == 2,
	   "a hill rises to its top and falls from there");
}

int main(void)
{
	exact();
	noisy();
	intervals();
	estimates();
	return done();
}
