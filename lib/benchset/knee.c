/* SPDX-License-Identifier: MIT */
/*
 * Finds the knees of throughput over depth, and how certain they are.
 *
 * Algorithm: knees are computed from the values as shown, so readers of these find the same depths.
 * "Power" is throughput divided by latency.  At its maximum, a small increase of depth raises
 * latency and throughput in the same proportion (Kleinrock 1979).
 *
 * The interval of a knee comes from samples of the rounds, drawn with replacement (Efron 1979).  A
 * round is drawn for all depths together, so a round that is slow or fast at all depths does not
 * matter.
 *
 * Noise is the half interval of a depth.  It matters if it exceeds the differences on which the
 * recommendation rests: the difference to smaller depths, the difference between any two, or the
 * tenth that may be missing.
 *
 * Rejected: a fitted curve, since its knees contradict the values shown; the point of maximum
 * curvature, since it is a difference of noise; the crossing of the lines of no load and full load,
 * since it depends on the rate at depth 1, the value most affected by power saving.
 */
#include <math.h>
#include "base/doubles.h"
#include "base/rng.h"
#include "benchset/stat.h"

#define SAMPLES 1000
#define THROUGHPUT_SHARE 0.95
#define RECOMMENDED_SHARE 0.90
#define RISING_SHARE 0.95
#define NOISE_SHARE 0.01 /* of the highest value; less is ignored */

enum { LATENCY, THROUGHPUT, RECOMMENDED, KNEES };

/* Values of each depth. */
struct figures {
	double iops[SP__CURVE_MAX], latency_ns[SP__CURVE_MAX], noise[SP__CURVE_MAX];
};

static size_t best_of(const struct figures *f, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (f->iops[i] > f->iops[best])
			best = i;
	return best;
}

/* Returns the smallest depth with at least this throughput. */
static size_t reached(const struct figures *f, double iops)
{
	size_t i = 0;

	while (f->iops[i] < iops)
		i++;
	return i;
}

static double power(const struct figures *f, size_t i)
{
	return f->iops[i] > 0 ? f->iops[i] / f->latency_ns[i] : 0;
}

static void find(size_t *at, const struct figures *f, size_t n)
{
	double most = f->iops[best_of(f, n)];

	at[LATENCY] = 0;
	for (size_t i = 1; i < n; i++)
		if (power(f, i) > power(f, at[LATENCY]))
			at[LATENCY] = i;
	at[THROUGHPUT] = reached(f, THROUGHPUT_SHARE * most);
	at[RECOMMENDED] = reached(f, RECOMMENDED_SHARE * most);
}

static size_t used(const struct sp__curve_point *p)
{
	return p->n < SP__SLICES_MAX ? p->n : SP__SLICES_MAX;
}

/* Returns the mean latency of a sample of rounds; NaN: nothing completed in them. */
static double latency(const struct sp__curve_point *p, const size_t *rounds, size_t n)
{
	double v[SP__SLICES_MAX];
	size_t count = 0;

	for (size_t k = 0; k < n; k++)
		if (!isnan(p->latency_ns[rounds[k] % n * p->stride]))
			v[count++] = p->latency_ns[rounds[k] % n * p->stride];
	return sp__stat_trimmed(v, count);
}

/* Computes the values of a sample of rounds; a depth with fewer rounds uses some of them twice. */
static void measure(struct figures *f, const struct sp__curve_point *p, size_t n,
		    const size_t *rounds)
{
	for (size_t i = 0; i < n; i++) {
		struct sp_benchset_estimate e;
		double v[SP__SLICES_MAX];
		size_t count = used(&p[i]);

		for (size_t k = 0; k < count; k++)
			v[k] = p[i].iops[rounds[k] % count * p[i].stride];
		e = sp__stat_estimate(v, count);
		f->iops[i] = e.value;
		f->noise[i] = e.high - e.value;
		f->latency_ns[i] = latency(&p[i], rounds, count);
	}
}

static struct sp__knee summary(const struct sp__curve_point *p, size_t at, double *depths)
{
	unsigned depth = p[at].depth;

	sp__doubles_sort(depths, SAMPLES);
	return (struct sp__knee){ .depth = depth,
				  .low = (unsigned)fmin(depth, depths[SAMPLES / 40]),
				  .high = (unsigned)fmax(depth,
							 depths[SAMPLES - 1 - SAMPLES / 40]) };
}

static double noise_of(const struct figures *f, size_t a, size_t b)
{
	return fmax(f->noise[a], f->noise[b]);
}

static bool rises(const struct sp__curve_point *p, const struct figures *f, size_t n)
{
	size_t last = n - 1, half = last;
	double more;

	while (half && p[half].depth > p[last].depth / 2)
		half--;
	more = f->iops[last] - f->iops[half];
	return best_of(f, n) == last && f->iops[half] < RISING_SHARE * f->iops[last] &&
	       !(noise_of(f, half, last) > more);
}

static bool alike(const struct figures *f, size_t a, size_t b, double least)
{
	double noise = noise_of(f, a, b);

	return noise >= least && noise > fabs(f->iops[a] - f->iops[b]);
}

static void find_noise(struct sp__knees *k, const struct sp__curve_point *p,
		       const struct figures *f, size_t n, size_t at)
{
	size_t low = at, high = at, best = best_of(f, n);
	double least = NOISE_SHARE * f->iops[best], tenth = (1 - RECOMMENDED_SHARE) * f->iops[best];

	while (low && alike(f, at, low - 1, least))
		low--;
	while (high + 1 < n && alike(f, at, high + 1, least))
		high++;
	k->alike_low = p[low].depth;
	k->alike_high = p[high].depth;
	k->noise = SP_BENCHSET_NOISE_LOW;
	if (low < at)
		k->noise = SP_BENCHSET_NOISE_SMALLER;
	else if (n > 1 && high == n - 1 && low == 0)
		k->noise = SP_BENCHSET_NOISE_ALL;
	else if ((best != at || high > at) && noise_of(f, at, best) > tenth)
		k->noise = SP_BENCHSET_NOISE_TENTH;
}

void sp__knees_find(struct sp__knees *k, const struct sp__curve_point *p, size_t n, uint64_t seed)
{
	struct sp__rng rng = { sp__mix64(seed) };
	double depths[KNEES][SAMPLES];
	size_t rounds[SP__SLICES_MAX], at[KNEES], most = 0;
	struct figures f;

	for (size_t i = 0; i < n; i++)
		most = used(&p[i]) > most ? used(&p[i]) : most;
	for (size_t s = 0; s < SAMPLES; s++) {
		for (size_t i = 0; i < most; i++)
			rounds[i] = sp__rng_below(&rng, most);
		measure(&f, p, n, rounds);
		find(at, &f, n);
		for (size_t i = 0; i < KNEES; i++)
			depths[i][s] = p[at[i]].depth;
	}
	for (size_t i = 0; i < most; i++)
		rounds[i] = i;
	measure(&f, p, n, rounds);
	find(at, &f, n);
	k->latency = summary(p, at[LATENCY], depths[LATENCY]);
	k->throughput = summary(p, at[THROUGHPUT], depths[THROUGHPUT]);
	k->recommended = summary(p, at[RECOMMENDED], depths[RECOMMENDED]);
	k->rising = rises(p, &f, n);
	find_noise(k, p, &f, n, at[RECOMMENDED]);
}
