/* SPDX-License-Identifier: MIT */
/*
 * Estimates and knees on curves whose knees are known, without noise and with
 * noise of the kind that machines have: each slice off by some per cent, a
 * tenth of them badly disturbed.
 */
#include <math.h>
#include <string.h>
#include "base/rng.h"
#include "benchset/stat.h"
#include "tap.h"

#define DEPTHS 9
#define SLICES 10

/* Requests per second at a depth. */
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

static double iops[DEPTHS][SLICES], latency_ns[DEPTHS][SLICES];
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

static void find(uint64_t seed)
{
	for (int i = 0; i < DEPTHS; i++) {
		points[i] = (struct sp__curve_point){ 1u << i, SLICES, iops[i], latency_ns[i], 1 };
		for (int k = 0; k < SLICES; k++)
			latency_ns[i][k] = 1e9 * (1 << i) / iops[i][k];
	}
	sp__knees_find(&knees, points, DEPTHS, seed);
}

static void plant(curve *c, double noise, double disturbed, uint64_t seed)
{
	struct sp__rng rng = { sp__mix64(seed + 1) };

	for (int i = 0; i < DEPTHS; i++)
		for (int k = 0; k < SLICES; k++) {
			iops[i][k] = c(1 << i) * exp(noise * normal(&rng));
			if (sp__rng_real(&rng) < disturbed)
				iops[i][k] *= 0.4 + 0.4 * sp__rng_real(&rng);
		}
	find(seed);
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
	ok(is(knees.latency, 1) && is(knees.recommended, 64) && is(knees.throughput, 128),
	   "a disk gains slowly");
	plant(peak, 0, 0, 1);
	ok(is(knees.latency, 8) && is(knees.throughput, 8),
	   "a falling series is not better than a rising one");
	plant(linear, 0, 0, 1);
	ok(is(knees.latency, 256) && knees.rising, "a curve rising to its end is reported");
}

/*
 * In how many of 30 runs all knees are at most a factor of two off; in *best, the
 * recommended depth is, or noise is warned of.
 */
static int near(curve *c, unsigned latency, unsigned recommended, unsigned throughput, int *best)
{
	int all = 0;

	*best = 0;
	for (uint64_t seed = 0; seed < 30; seed++) {
		bool good;

		plant(c, 0.05, 0.1, seed * 77 + 3);
		good = fabs(log2((double)knees.recommended.depth / recommended)) <= 1;
		*best += good || knees.noise;
		all += good && fabs(log2((double)knees.latency.depth / latency)) <= 1 &&
		       fabs(log2((double)knees.throughput.depth / throughput)) <= 1;
	}
	diag("all %d of 30, recommended %d", all, *best);
	return all;
}

static void noisy(void)
{
	int best;

	ok(near(sharp, 16, 16, 16, &best) >= 27 && best >= 29, "a sharp knee is found in noise");
	ok(near(soft, 8, 64, 128, &best) >= 28 && best >= 29, "and a soft one");
	ok(near(disk, 1, 64, 128, &best) >= 28 && best >= 29, "and that of a disk");
	ok(near(peak, 8, 8, 8, &best) >= 29 && best >= 29, "and a peak");
}

/* The expected results for a table. */
struct table {
	double iops[DEPTHS], half[DEPTHS], latency[DEPTHS], max;
	int best;
};

static struct table table;

static void tabulate(void)
{
	table = (struct table){ .best = 0 };
	for (int i = 0; i < DEPTHS; i++) {
		struct sp_benchset_estimate e;
		double v[SLICES];

		memcpy(v, latency_ns[i], sizeof(v));
		table.latency[i] = sp__stat_estimate(v, SLICES).value;
		memcpy(v, iops[i], sizeof(v));
		e = sp__stat_estimate(v, SLICES);
		table.iops[i] = e.value;
		table.half[i] = e.high - e.value;
		if (e.value > table.max) {
			table.max = e.value;
			table.best = i;
		}
	}
}

static int row(unsigned depth)
{
	int i = 0;

	while (i < DEPTHS && 1u << i != depth)
		i++;
	return i;
}

/* In the table, the smallest depth with this value, within its own range. */
static bool min(struct sp__knee k, double share)
{
	int at = row(k.depth);

	if (at == DEPTHS || row(k.low) > at || row(k.high) < at || row(k.high) == DEPTHS)
		return false;
	for (int i = 0; i < at; i++)
		if (table.iops[i] >= share * table.max)
			return false;
	return table.iops[at] >= share * table.max;
}

static bool max_power(struct sp__knee k)
{
	int at = row(k.depth);

	if (at == DEPTHS || row(k.low) > at || row(k.high) < at || row(k.high) == DEPTHS)
		return false;
	for (int i = 0; i < DEPTHS; i++)
		if (table.iops[i] / table.latency[i] > table.iops[at] / table.latency[at])
			return false;
	return true;
}

static bool alike(int a, int b)
{
	double noise = fmax(table.half[a], table.half[b]);

	return noise > fabs(table.iops[a] - table.iops[b]) && noise >= 0.01 * table.max;
}

static enum sp_benchset_noise hidden(int at)
{
	int same = 0;

	if (at && alike(at, at - 1))
		return SP_BENCHSET_NOISE_SMALLER;
	while (same < DEPTHS && alike(same, at))
		same++;
	if (at == 0 && same == DEPTHS)
		return SP_BENCHSET_NOISE_ALL;
	if (fmax(table.half[at], table.half[table.best]) > 0.1 * table.max &&
	    (table.best != at || (at + 1 < DEPTHS && alike(at, at + 1))))
		return SP_BENCHSET_NOISE_TENTH;
	return SP_BENCHSET_NOISE_LOW;
}

/* From no noise to much, tables that follow a curve and tables that follow none. */
static void random_tables(void)
{
	static curve *const curves[] = { sharp, soft, flat, disk, peak, linear };
	int kept = 0, warned = 0, right = 0, seen[4] = { 0 };
	struct sp__rng rng = { 11 };

	for (uint64_t seed = 0; seed < 100; seed++) {
		double noise = seed % 10 ? exp(-7 * sp__rng_real(&rng)) : 0;

		plant(curves[seed % 6], noise, 0.2 * sp__rng_real(&rng), seed);
		for (int i = 0; seed % 3 == 0 && i < DEPTHS; i++) {
			double rate = 800 + 200 * sp__rng_real(&rng);

			for (int k = 0; k < SLICES; k++)
				iops[i][k] = rate * exp(noise * normal(&rng));
		}
		find(seed);
		tabulate();
		kept += min(knees.recommended, 0.9) && min(knees.throughput, 0.95) &&
			max_power(knees.latency);
		warned += knees.noise == hidden(row(knees.recommended.depth));
		right += !knees.rising ||
			 (table.best == DEPTHS - 1 && table.iops[DEPTHS - 2] < 0.95 * table.max &&
			  !alike(DEPTHS - 1, DEPTHS - 2));
		seen[knees.noise]++;
	}
	diag("noise hides: nothing %d, smaller %d, all %d, a tenth %d", seen[0], seen[1], seen[2],
	     seen[3]);
	ok(kept == 100, "the knees are those of the table, the recommended depth has its 90 %%");
	ok(warned == 100, "noise is reported exactly if it exceeds the differences");
	ok(seen[0] && seen[1] && seen[2] && seen[3], "and there were tables of all kinds");
	ok(right == 100, "throughput that rises does so in the table");
}

/* Rounds that are slow at all depths. */
static void slow_rounds(void)
{
	for (int i = 0; i < DEPTHS; i++)
		for (int k = 0; k < SLICES; k++)
			iops[i][k] = soft(1 << i) * (k % 2 ? 1 : 0.3);
	find(1);
	ok(is(knees.latency, 8) && is(knees.recommended, 64) && is(knees.throughput, 128),
	   "a delay that is equal at all depths makes no knee uncertain");
}

/* Is 2 within the interval of the ratio of figures with 60 and 30? */
static bool ratio_holds(struct sp__rng *rng)
{
	double a[8], b[8], sums[2] = { 0 };
	struct sp_benchset_estimate e;

	for (int k = 0; k < 8; k++) {
		double slow = 1 + 0.5 * sp__rng_real(rng);

		sums[0] += a[k] = slow * (60 + 3 * normal(rng));
		sums[1] += b[k] = slow * (30 + 2 * normal(rng));
	}
	for (int k = 0; k < 8; k++)
		a[k] = 8 * (a[k] / sums[0] - b[k] / sums[1]);
	e = sp__stat_ratio(sums[0] / sums[1], a, 8);
	return e.low <= 2 && e.high >= 2;
}

/* Intervals hold the truth about as often as they say. */
static void intervals(void)
{
	struct sp__rng rng = { 5 };
	int hits[3] = { 0 }, sizes[2] = { 4, 12 };

	for (int s = 0; s < 2; s++)
		for (int i = 0; i < 2000; i++) {
			struct sp_benchset_estimate e;
			double v[12];

			for (int k = 0; k < sizes[s]; k++)
				v[k] = 50 + 3 * normal(&rng);
			e = sp__stat_estimate(v, (size_t)sizes[s]);
			hits[s] += e.low <= 50 && e.high >= 50;
		}
	for (int i = 0; i < 2000; i++)
		hits[2] += ratio_holds(&rng);
	diag("%d, %d and %d of 2000", hits[0], hits[1], hits[2]);
	ok(hits[0] > 1860 && hits[0] < 1940, "a 95 %% interval of four");
	ok(hits[1] > 1860 && hits[1] < 1940, "and of twelve, which leaves out two at either end");
	ok(hits[2] > 1860 && hits[2] < 1940, "and of a ratio in rounds that are slow for both");
}

static void estimates(void)
{
	double few[] = { 5, 3 }, spoiled[] = { 10, 11, 9, 1000, 10 }, none[] = { 0, 0, 0 };
	struct sp_benchset_estimate e = sp__stat_estimate(few, 2);

	ok(e.value == 4 && fabs(e.high - e.low - 2 * 12.706) < 1e-9, "the t interval of two");
	e = sp__stat_estimate(few, 1);
	ok(isnan(e.low) && isnan(e.high), "one has no interval");
	ok(fabs(sp__stat_trimmed(spoiled, 5) - 31.0 / 3) < 1e-9, "the worst of five do not count");
	e = sp__stat_ratio(2, none, 3);
	ok(e.value == 2 && e.low == 2 && e.high == 2, "a ratio whose slices do not differ is sure");
	e = sp__stat_ratio(2, none, 2);
	ok(e.value == 2 && isnan(e.low) && isnan(e.high), "two that do not differ say little");
	e = sp__stat_ratio(NAN, none, 3);
	ok(isnan(e.value) && isnan(e.low) && isnan(e.high), "an unknown value has no interval");
	ok(isnan(sp__stat_trimmed(few, 0)), "nothing has no mean");
}

int main(void)
{
	exact();
	noisy();
	random_tables();
	slow_rounds();
	intervals();
	estimates();
	return done();
}
