/* SPDX-License-Identifier: MIT */
/*
 * The knees of throughput over depth.
 *
 * With D requests outstanding all the time, latency is D by throughput
 * (Little), so throughput alone tells all.  "Power", throughput by latency, is
 * the square of throughput by D; where it is greatest, a little more depth
 * raises latency, in proportion, as much as throughput (Kleinrock 1979).
 *
 * Slices of a depth are few and disturbed: a trimmed mean for each depth, then
 * a hill through them, so that one depth that came out too high is no maximum.
 * The same is done for samples of the slices, drawn with replacement (Efron
 * 1979); the median of their knees hangs less on the single slice than the
 * knee of all slices, and their spread is its confidence.
 *
 * Rejected: the greatest curvature of the curve (differences of noise); where
 * the lines of no load and of full load meet (full load divided by the rate
 * at depth 1, the figure that depends most on a machine's power saving).
 */
#include <math.h>
#include "base/doubles.h"
#include "base/rng.h"
#include "bench/stat.h"

#define SAMPLES 1000
#define THROUGHPUT_SHARE 0.95
#define RECOMMENDED_SHARE 0.90
#define RISING_SHARE 0.95

enum { LATENCY, THROUGHPUT, RECOMMENDED, KNEES };

static double greatest(const double *v, size_t n)
{
	double most = v[0];

	for (size_t i = 1; i < n; i++)
		most = v[i] > most ? v[i] : most;
	return most;
}

/* The least depth with so much throughput, on straight lines between the points. */
static double reached(const struct sp__curve_point *p, const double *fit, size_t n, double iops)
{
	size_t i = 0;
	double d;

	while (i + 1 < n && fit[i] < iops)
		i++;
	if (i == 0 || fit[i] <= fit[i - 1])
		return p[i].depth;
	d = (double)(p[i].depth - p[i - 1].depth) * (iops - fit[i - 1]) / (fit[i] - fit[i - 1]);
	return p[i - 1].depth + d;
}

static double most_power(const struct sp__curve_point *p, const double *fit, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (fit[i] * fit[i] / p[i].depth > fit[best] * fit[best] / p[best].depth)
			best = i;
	return p[best].depth;
}

static void find(double *depths, const struct sp__curve_point *p, const double *fit, size_t n)
{
	double most = greatest(fit, n);

	depths[LATENCY] = most_power(p, fit, n);
	depths[THROUGHPUT] = reached(p, fit, n, THROUGHPUT_SHARE * most);
	depths[RECOMMENDED] = reached(p, fit, n, RECOMMENDED_SHARE * most);
}

static size_t used(const struct sp__curve_point *p)
{
	return p->n < SP__SLICES_MAX ? p->n : SP__SLICES_MAX;
}

/* The curve of a sample; of all slices if there is no rng. */
static void curve(double *fit, const struct sp__curve_point *p, size_t n, struct sp__rng *rng)
{
	double x[SP__CURVE_MAX], weight[SP__CURVE_MAX], slices[SP__SLICES_MAX];

	for (size_t i = 0; i < n; i++) {
		size_t count = used(&p[i]);

		for (size_t k = 0; k < count; k++)
			slices[k] = p[i].iops[rng ? sp__rng_below(rng, count) : k];
		x[i] = sp__stat_trimmed(slices, count);
		weight[i] = (double)count;
	}
	sp__stat_hill(fit, x, weight, n);
}

/* The measured depth that is nearest by ratio. */
static unsigned nearest(const struct sp__curve_point *p, size_t n, double depth)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (fabs(log(p[i].depth / depth)) < fabs(log(p[best].depth / depth)))
			best = i;
	return p[best].depth;
}

static struct sp__knee summary(const struct sp__curve_point *p, size_t n, double *depths)
{
	sp__doubles_sort(depths, SAMPLES);
	return (struct sp__knee){ .depth = nearest(p, n, depths[SAMPLES / 2]),
				  .low = nearest(p, n, depths[SAMPLES / 40]),
				  .high = nearest(p, n, depths[SAMPLES - 1 - SAMPLES / 40]) };
}

static bool rises(const struct sp__curve_point *p, const double *fit, size_t n)
{
	size_t half = n - 1;

	while (half && p[half].depth > p[n - 1].depth / 2)
		half--;
	return fit[half] < RISING_SHARE * fit[n - 1];
}

void sp__knees_find(struct sp__knees *k, const struct sp__curve_point *p, size_t n, uint64_t seed)
{
	struct sp__rng rng = { sp__mix64(seed) };
	double depths[KNEES][SAMPLES], fit[SP__CURVE_MAX], one[KNEES];

	for (size_t s = 0; s < SAMPLES; s++) {
		curve(fit, p, n, &rng);
		find(one, p, fit, n);
		for (size_t i = 0; i < KNEES; i++)
			depths[i][s] = one[i];
	}
	curve(k->fit, p, n, NULL);
	k->latency = summary(p, n, depths[LATENCY]);
	k->throughput = summary(p, n, depths[THROUGHPUT]);
	k->recommended = summary(p, n, depths[RECOMMENDED]);
	k->rising = rises(p, k->fit, n);
}
