/* SPDX-License-Identifier: MIT */
/*
 * Histograms of durations: buckets, quantiles within the promised error, adding
 * and subtracting.
 */
#include <math.h>
#include <stdlib.h>
#include "base/rng.h"
#include "obs/hist.h"
#include "obs/durations.h"
#include "tap.h"

static struct sp__hist a, b, c;

static void buckets(void)
{
	bool rising = true, narrow = true;
	unsigned last = 0;

	for (uint64_t v = 1; v < UINT64_MAX / 3; v += v / 97 + 1) {
		unsigned bucket = sp__hist_bucket(v);

		rising &= bucket >= last;
		last = bucket;
		/* A value 1/64 larger is in another bucket. */
		narrow &= v < 64 || sp__hist_bucket(v + v / 64 + 1) > bucket;
	}
	ok(rising, "a larger value is never in a lower bucket");
	ok(narrow, "a bucket is at most 1/64 of its values wide");
	ok(sp__hist_bucket(63) == 63 && sp__hist_bucket(64) == 64 && sp__hist_bucket(127) == 127 &&
		   sp__hist_bucket(128) == 128 && sp__hist_bucket(129) == 128,
	   "buckets of one value go up to 127");
	ok(sp__hist_bucket(UINT64_MAX) == SP__HIST_BUCKETS - 1, "the largest value has the last");
}

static void below(void)
{
	sp__hist_clear(&a);
	for (uint64_t v = 1; v <= 1000; v++)
		sp__hist_add(&a, v);
	ok(sp__hist_below(&a, 0) == 0 && sp__hist_below(&a, 1) == 0 && sp__hist_below(&a, 2) == 1 &&
		   sp__hist_below(&a, 100) == 99 && sp__hist_below(&a, 500) == 499,
	   "values below a limit that begins a bucket are counted exactly");
	ok(sp__hist_below(&a, 751) >= 739 && sp__hist_below(&a, 751) <= 750,
	   "others within a bucket");
	ok(sp__hist_below(&a, UINT64_MAX) == 1000, "all values are below the largest");
}

static void moments(void)
{
	struct sp__durations all = { 0 }, first = { 0 }, second = { 0 }, none = { 0 };

	ok(sp__durations_stddev(&all) == 0, "no values have no deviation");
	for (uint64_t v = 1; v <= 9; v++) {
		sp__durations_add(&all, UINT64_C(1000000000000) + v);
		sp__durations_add(v < 4 ? &first : &second, UINT64_C(1000000000000) + v);
	}
	ok(fabs(sp__durations_stddev(&all) - sqrt(7.5)) < 1e-4 && all.mean == 1000000000005.0,
	   "mean and deviation of large values keep their digits");
	sp__durations_merge(&none, &first);
	sp__durations_merge(&none, &second);
	sp__durations_merge(&none, &(struct sp__durations){ 0 });
	ok(none.count == 9 && none.min == all.min && none.max == all.max &&
		   fabs(none.mean - all.mean) < 1e-3 &&
		   fabs(sp__durations_stddev(&none) - sp__durations_stddev(&all)) < 1e-4,
	   "two sets have the moments of their union");
}

static int ascending(const void *x, const void *y)
{
	uint64_t p = *(const uint64_t *)x, q = *(const uint64_t *)y;

	return (p > q) - (p < q);
}

static void quantiles(void)
{
	enum { N = 20000 };
	static uint64_t values[N];
	struct sp__rng rng = { 5 };
	double worst = 0;

	sp__hist_clear(&a);
	ok(sp__hist_quantile(&a, 0.5) == 0, "the quantile of nothing is 0");
	for (int i = 0; i < N; i++) {
		values[i] = (uint64_t)exp(5 + 15 * sp__rng_real(&rng));
		sp__hist_add(&a, values[i]);
	}
	qsort(values, N, sizeof(values[0]), ascending);
	for (int i = 1; i <= 1000; i++) {
		double exact = (double)values[N / 1000 * i - 1];
		double error = fabs((double)sp__hist_quantile(&a, i / 1000.0) - exact) / exact;

		worst = error > worst ? error : worst;
	}
	ok(worst <= 0.008, "quantiles are within 0.8 %% of the exact ones (worst %.4f)", worst);
	ok(sp__hist_quantile(&a, 1) == values[N - 1] && a.max == values[N - 1] &&
		   a.min == values[0] && sp__hist_quantile(&a, 0) >= values[0],
	   "minimum and maximum are exact");
}

static void sums(void)
{
	sp__hist_clear(&a);
	sp__hist_clear(&b);
	for (uint64_t v = 1000; v < 2000; v++)
		sp__hist_add(v < 1500 ? &a : &b, v);
	c = a;
	sp__hist_merge(&c, &b);
	ok(c.count == 1000 && c.min == 1000 && c.max == 1999 && c.sum == 1499500,
	   "merging adds counts and sums");
	ok(labs((long)sp__hist_quantile(&c, 0.5) - 1499) <= 12, "and the median is that of both");
	sp__hist_since(&b, &c, &a);
	ok(b.count == 500 && b.sum == 874750 && labs((long)b.min - 1500) <= 16 && b.max == 1999,
	   "values added since an earlier copy");
	sp__hist_since(&b, &c, &c);
	ok(b.count == 0 && sp__hist_quantile(&b, 0.9) == 0, "nothing since itself");
	sp__hist_clear(&a);
	sp__hist_clear(&c);
	sp__hist_add(&c, 0);
	sp__hist_add(&c, 5000);
	sp__hist_since(&b, &c, &a);
	ok(b.count == 2 && b.min == 0 && b.max == 5000, "a value of 0 is the minimum");
}

int main(void)
{
	buckets();
	below();
	moments();
	quantiles();
	sums();
	return done();
}
