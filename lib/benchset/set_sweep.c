/* SPDX-License-Identifier: MIT */
/*
 * Measures throughput over depth, and finds its knees.
 *
 * Algorithm: powers of two are measured for a quarter of the time to find the knees.  Then depths
 * halfway to their neighbours are added and the measurement starts again, so all depths are
 * measured in the same rounds.  If the time does not suffice for that, nothing is added and the
 * first rounds count.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/rng.h"
#include "benchset/set.h"
#include "benchset/stat.h"

/*
 * Knees are computed from the values as shown, so readers of these find the same depths.
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

#define SAMPLES 1000
#define THROUGHPUT_SHARE 0.95
#define RECOMMENDED_SHARE 0.90
#define RISING_SHARE 0.95
#define NOISE_SHARE 0.01 /* share of the highest value; smaller differences are ignored */

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

#define FIRST_SHARE 0.25
#define FIRST_ROUNDS 4
#define ROUNDS 12
#define REFINE_ROUNDS 6 /* rounds for which time must be left to start again */

static void add_depth(struct sp_benchset *set, unsigned depth)
{
	struct sp_bench_opts *o = &sp__set_add(set, set->opts.bench)->opts;

	o->depth = depth;
	if (o->batch_min > depth)
		o->batch_min = depth;
}

static int by_depth(const void *a, const void *b)
{
	const struct sp__setpoint *x = a, *y = b;

	return (x->opts.depth > y->opts.depth) - (x->opts.depth < y->opts.depth);
}

static void sort(struct sp_benchset *set)
{
	qsort(set->points, set->npoints, sizeof(set->points[0]), by_depth);
}

/* False if a point has fewer than three slices, or nothing completed. */
static bool find_knees(const struct sp_benchset *set, struct sp__knees *knees)
{
	struct sp__curve_point curve[SP__CURVE_MAX];
	bool any = false;

	for (size_t i = 0; i < set->npoints; i++) {
		const struct sp__setpoint *p = &set->points[i];
		const double *first;

		if (p->nslices < 3)
			return false;
		first = p->slices->metrics[p->opts.nclasses];
		curve[i] = (struct sp__curve_point){ p->opts.depth, p->nslices,
						     first + SP__SET_IOPS, first + SP__SET_MEAN,
						     sizeof(*p->slices) / sizeof(*first) };
		any |= p->sums[p->opts.nclasses].requests > 0;
	}
	if (any)
		sp__knees_find(knees, curve, set->npoints, set->opts.bench->seed);
	return any;
}

/* Adds the depth halfway between point i and the next one of the first n. */
static void add_between(struct sp_benchset *set, size_t n, size_t i)
{
	unsigned middle;

	if (i + 1 >= n)
		return;
	middle = (set->points[i].opts.depth + set->points[i + 1].opts.depth) / 2;
	for (size_t k = 0; k < set->npoints; k++)
		if (set->points[k].opts.depth == middle)
			return;
	add_depth(set, middle);
}

static void refine(struct sp_benchset *set, const struct sp__knees *k)
{
	const unsigned depths[] = { k->latency.depth, k->throughput.depth, k->recommended.depth };
	size_t n = set->npoints;

	for (size_t d = 0; d < sizeof(depths) / sizeof(depths[0]); d++) {
		size_t i = 0;

		while (set->points[i].opts.depth < depths[d])
			i++;
		if (i)
			add_between(set, n, i - 1);
		add_between(set, n, i);
	}
	sort(set);
	sp__set_forget(set);
}

static struct sp_benchset_knee knee(const struct sp_benchset *set, const struct sp__knee *k)
{
	size_t i = 0;

	while (set->shown[i].depth != k->depth)
		i++;
	return (struct sp_benchset_knee){ k->depth, k->low, k->high, set->shown[i].total.iops.value,
					  set->shown[i].total.latency_mean_ns.value };
}

static void show_knees(struct sp_benchset *set, const struct sp__knees *k)
{
	struct sp_benchset_result *r = &set->result;

	r->knees = true;
	r->latency_knee = knee(set, &k->latency);
	r->throughput_knee = knee(set, &k->throughput);
	r->recommended = knee(set, &k->recommended);
	r->rising = k->rising;
	r->noise = k->noise;
	r->alike_low = k->alike_low;
	r->alike_high = k->alike_high;
}

static int check(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	if (o->rate > 0)
		return SP__REFUSE(err, "a sweep over depths has no rate");
	for (size_t i = 0; i < o->nclasses; i++)
		if (o->classes[i].depth || o->classes[i].rate > 0)
			return SP__REFUSE(err, "class %s: classes of a sweep share its depth",
					  o->classes[i].name);
	return 0;
}

int sp_benchset_sweep(struct sp_benchset **out, const struct sp_benchset_opts *opts,
		      struct sp_errinfo *err)
{
	struct sp_benchset *set;
	struct sp__knees knees;
	int rc = check(opts->bench, err);

	*out = NULL;
	if (rc)
		return rc;
	rc = sp__set_open(&set, opts, NULL, err);
	if (!set)
		return rc;
	for (unsigned depth = 1; depth < opts->bench->depth; depth *= 2)
		add_depth(set, depth);
	add_depth(set, opts->bench->depth);
	if (rc == 0)
		rc = sp__set_run(set, FIRST_SHARE, FIRST_ROUNDS, err);
	if (rc == 0 && !set->stopped && sp__set_time_for(set, REFINE_ROUNDS) &&
	    find_knees(set, &knees))
		refine(set, &knees);
	if (rc == 0 && !set->stopped)
		rc = sp__set_run(set, 1, ROUNDS, err);
	rc = sp__set_done(out, set, rc, err);
	if (*out && find_knees(set, &knees))
		show_knees(set, &knees);
	return rc;
}
