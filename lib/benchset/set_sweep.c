/* SPDX-License-Identifier: MIT */
/*
 * Measures throughput over depth.
 *
 * Algorithm: powers of two are measured for a quarter of the time to find the knees.  Then depths
 * halfway to their neighbours are added and the measurement starts again, so all depths are
 * measured in the same rounds.  If the time does not suffice for that, nothing is added and the
 * first rounds count.
 */
#include <stdlib.h>
#include "benchset/set.h"

#define FIRST_SHARE 0.25
#define FIRST_ROUNDS 4
#define ROUNDS 12
#define REFINE_ROUNDS 6 /* that must fit to start again */

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
