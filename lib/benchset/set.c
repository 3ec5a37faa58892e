/* SPDX-License-Identifier: MIT */
/*
 * Measures the points of a set in rounds.
 *
 * Algorithm: each point first has a short slice that does not count.  It warms up caches, and shows
 * the duration of a request (by Little's law if few completed) and the cost of opening and
 * draining.  These determine the number of rounds: a slice that counts lasts at least as long as a
 * request, and as long as twenty requests need.  All slices have the same length if that is long
 * enough.
 *
 * The ramp of a slice ends when the requests that filled the empty queues have completed.  These
 * waited less than others.  Before the duration of one request has passed, a class with few
 * requests has too large a share of those that remain.
 *
 * Time is virtual if the target is simulated, so such a set gives the same results every time.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/enum.h"
#include "benchset/set.h"

#define ROUNDS_MIN 3
#define TRY_SHARE 0.05 /* share of the time for the first slices of all points */
#define SLICE_MIN_NS 10e6
#define RAMP_WAITS 1.0
#define SLICE_WAITS 1.0
#define SLICE_REQUESTS 20
#define RAMP_SHARE 0.1

static int check(const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	if (o->total_bytes)
		return SP__REFUSE(
			err,
			"each measurement of a set ends after a time, not after a number of bytes");
	if (o->steady_ns)
		return SP__REFUSE(err, "a measurement of a set does not wait for a steady state");
	if (o->trace || o->interval_ns)
		return SP__REFUSE(err, "a set of measurements writes no trace and no intervals: "
				       "measure one setting");
	if (o->engine && !strcmp(o->engine, "sync"))
		return SP__REFUSE(err, "the engine \"sync\" has one request outstanding at a time");
	return sp__bench_check(o, err);
}

/* Creates the files once for all slices. */
static int hold(struct sp_benchset *set, const struct sp_bench_opts *o, struct sp_errinfo *err)
{
	if (!o->create)
		return 0;
	return sp__bench_hold(&set->holders[set->nholders++], o, err);
}

int sp__set_open(struct sp_benchset **out, const struct sp_benchset_opts *opts,
		 const struct sp_bench_opts *other, struct sp_errinfo *err)
{
	struct sp_benchset *set = calloc(1, sizeof(*set));
	int rc;

	*out = set;
	if (set)
		set->points = calloc(SP__SET_POINTS_MAX, sizeof(set->points[0]));
	if (!set || !set->points) {
		free(set);
		*out = NULL;
		return sp__err(err, -ENOMEM, "open", "", -1);
	}
	set->opts = *opts;
	set->budget_ns = opts->bench->runtime_ns;
	set->rng.state = sp__mix64(opts->bench->seed + 4711);
	rc = check(opts->bench, err);
	if (rc == 0 && other)
		rc = check(other, err);
	if (rc == 0)
		rc = hold(set, opts->bench, err);
	/* Files that both settings create exist by now. */
	if (rc == 0 && other && !opts->bench->create)
		rc = hold(set, other, err);
	return rc;
}

void sp_benchset_free(struct sp_benchset *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->nholders; i++)
		sp_bench_free(set->holders[i]);
	for (size_t i = 0; i < set->npoints; i++) {
		free(set->points[i].slices);
		free(set->points[i].latency);
	}
	free(set->points);
	free(set->shown);
	free(set->rows);
	free(set);
}

struct sp__setpoint *sp__set_add(struct sp_benchset *set, const struct sp_bench_opts *load)
{
	struct sp__setpoint *p = &set->points[set->npoints++];

	*p = (struct sp__setpoint){ .share = NAN, .opts = *load };
	memcpy(p->classes, load->classes, load->nclasses * sizeof(p->classes[0]));
	p->opts.overwrite =
		load->overwrite || (load->create && load->create != SP_BENCH_CREATE_MISSING);
	p->opts.create = SP_BENCH_CREATE_NO;
	p->opts.remove = false;
	return p;
}

static void first_slice(struct sp__setpoint *p, const struct sp_bench_result *r, double spent_ns)
{

	p->tried = true;
	p->rest_ns = fmax(0, spent_ns - (double)(r->elapsed_ns + p->opts.ramp_ns));
	p->wait_ns = r->total.latency_mean_ns;
	if (r->total.iops > 0)
		p->wait_ns = fmax(p->wait_ns, r->total.depth_mean / r->total.iops * 1e9);
	else
		p->wait_ns = (double)r->elapsed_ns;
	p->min_ns = fmax(p->wait_ns * SLICE_WAITS,
			 SLICE_REQUESTS *
				 (r->total.iops > 0 ? 1e9 / r->total.iops : (double)r->elapsed_ns));
}

static int note(struct sp_benchset *set, struct sp__setpoint *p, const struct sp_bench *b,
		double spent_ns)
{
	const struct sp_bench_result *from = sp_bench_result(b);
	struct sp_benchset_result *r = &set->result;
	bool counts = p->tried && !from->stopped;

	r->engine = from->engine;
	r->simulated = from->simulated;
	r->size_bytes = from->size_bytes;
	r->prio_fallback |= from->prio_fallback;
	for (size_t i = 0; i < from->no_effects.n; i++)
		sp_no_effects_add(&r->no_effects, from->no_effects.list[i].option, "%s",
				  from->no_effects.list[i].reason);
	for (size_t i = 0; i < from->nerrors; i++)
		sp__bench_count_error(r->errors, &r->nerrors, from->errors[i].code,
				      from->errors[i].count);
	set->stopped |= from->stopped;
	if (!p->tried)
		first_slice(p, from, spent_ns);
	return counts && !sp__set_note(p, b) ? -ENOMEM : 0;
}

static double ramp_ns(const struct sp_benchset *set, const struct sp__setpoint *p, double ns)
{
	if (set->opts.bench->ramp_ns)
		return (double)set->opts.bench->ramp_ns;
	return fmax(ns * RAMP_SHARE, p->wait_ns * RAMP_WAITS);
}

/* Fails if an option had no effect: both settings might be the same without it. */
static int refuse_no_effect(const struct sp__setpoint *p, const struct sp_bench_result *r,
			    struct sp_errinfo *err)
{
	const struct sp_no_effect *e = &r->no_effects.list[0];

	return sp__errf(err, SP_EUNSUP, "measure", "", -1,
			"setting %s cannot be compared: %s had no effect: %s", p->name, e->option,
			e->reason);
}

static int slice(struct sp_benchset *set, struct sp__setpoint *p, double ns, struct sp_errinfo *err)
{
	uint64_t begin_ns = sp__now_ns(), spent_ns;
	struct sp_bench *b;
	int rc, kept = 0;

	p->opts.classes = p->classes;
	p->opts.seed = set->opts.bench->seed + sp__mix64(++set->seeds);
	p->opts.runtime_ns = (uint64_t)ns;
	if (!set->opts.bench->ramp_ns)
		p->opts.ramp_ns = (uint64_t)ramp_ns(set, p, ns);
	rc = sp_bench_run(&b, &p->opts, err);
	if (!b)
		return rc;
	spent_ns =
		sp_bench_result(b)->simulated ? sp__bench_machine_ns(b) : sp__now_ns() - begin_ns;
	set->spent_ns += spent_ns;
	if (!strcmp(sp_bench_result(b)->engine, "sync"))
		kept = sp__errf(err, SP_EUNSUP, "open", "", -1,
				"neither io_uring nor libaio is available");
	else if (set->strict && sp_bench_result(b)->no_effects.n)
		kept = refuse_no_effect(p, sp_bench_result(b), err);
	else
		kept = note(set, p, b, (double)spent_ns);
	sp_bench_free(b);
	if (kept == -ENOMEM)
		sp__err(err, kept, "measure", "", -1);
	return rc ? rc : kept;
}

static double slice_ns(const struct sp__setpoint *p, double ns)
{
	return fmax(ns, p->min_ns);
}

/* Returns the total duration of a slice of this length, with opening, ramp and draining. */
static double cost_ns(const struct sp_benchset *set, const struct sp__setpoint *p, double ns)
{
	double length = slice_ns(p, ns);

	return length + ramp_ns(set, p, length) + p->rest_ns;
}

/* Returns the duration of a round. */
static double round_ns(const struct sp_benchset *set, double ns)
{
	double sum = 0;

	for (size_t i = 0; i < set->npoints; i++)
		sum += cost_ns(set, &set->points[i], ns);
	return sum;
}

/* Returns the number of rounds that fit into the time, at most most; *ns: length of a slice. */
static unsigned plan(const struct sp_benchset *set, double left_ns, unsigned most, double *ns)
{
	double low = SLICE_MIN_NS, high = left_ns;
	unsigned rounds = most;

	while (rounds > ROUNDS_MIN && rounds * round_ns(set, SLICE_MIN_NS) > left_ns)
		rounds--;
	for (int i = 0; i < 50 && high > low; i++) {
		double middle = (low + high) / 2;

		if (rounds * round_ns(set, middle) > left_ns)
			high = middle;
		else
			low = middle;
	}
	*ns = low;
	return rounds;
}

bool sp__set_time_for(const struct sp_benchset *set, unsigned rounds)
{
	return (double)set->spent_ns + rounds * round_ns(set, SLICE_MIN_NS) <=
	       (double)set->budget_ns;
}

static void shuffle(struct sp_benchset *set, size_t *order)
{
	for (size_t i = 0; i < set->npoints; i++) {
		size_t k = sp__rng_below(&set->rng, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
}

static void report_progress(const struct sp_benchset *set)
{
	double done = (double)set->spent_ns / (double)set->budget_ns;

	if (set->opts.progress)
		set->opts.progress(set->opts.progress_arg, done < 1 ? done : 1);
}

static int try_all(struct sp_benchset *set, struct sp_errinfo *err)
{
	double ns = (double)set->budget_ns * TRY_SHARE / (double)set->npoints;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < set->npoints && !set->stopped; i++)
		if (!set->points[i].tried) {
			rc = slice(set, &set->points[i], ns, err);
			report_progress(set);
		}
	return rc;
}

int sp__set_run(struct sp_benchset *set, double share, unsigned rounds, struct sp_errinfo *err)
{
	double ns;
	size_t order[SP__SET_POINTS_MAX];
	int rc = try_all(set, err);

	if (set->opts.rounds && set->opts.rounds < rounds + set->rounds)
		rounds = set->opts.rounds > set->rounds ? set->opts.rounds - set->rounds : 0;
	rounds = plan(set, (double)set->budget_ns * share - (double)set->spent_ns, rounds, &ns);
	for (unsigned k = 0; k < rounds; k++) {
		shuffle(set, order);
		set->rounds++;
		for (size_t i = 0; i < set->npoints; i++) {
			struct sp__setpoint *p = &set->points[order[i]];

			if (rc || set->stopped)
				return rc;
			if ((double)set->spent_ns + cost_ns(set, p, ns) > (double)set->budget_ns)
				return 0;
			rc = slice(set, p, slice_ns(p, ns), err);
			report_progress(set);
		}
	}
	return rc;
}

void sp__set_forget(struct sp_benchset *set)
{
	for (size_t i = 0; i < set->npoints; i++) {
		struct sp__setpoint *p = &set->points[i];

		p->nslices = 0;
		p->elapsed_ns = p->cpu_ns = 0;
		memset(p->sums, 0, sizeof(p->sums));
		for (size_t k = 0; p->latency && k < p->opts.nclasses; k++)
			sp__hist_clear(&p->latency[k]);
	}
	set->rounds = 0;
}

/* True if a request completed or failed in a slice that counts. */
static bool any_request(const struct sp_benchset *set)
{
	bool any = set->result.nerrors > 0;

	for (size_t i = 0; i < set->npoints; i++)
		any |= set->points[i].nslices > 0 &&
		       set->points[i].sums[set->points[i].opts.nclasses].requests > 0;
	return any;
}

int sp__set_done(struct sp_benchset **out, struct sp_benchset *set, int rc, struct sp_errinfo *err)
{
	struct sp_benchset_result *r = &set->result;
	bool any = false;

	if (rc == 0 && !set->stopped && !any_request(set))
		rc = sp__errf(err, -ENODATA, "measure", "", -1,
			      "no measurement was long enough for a request: --runtime gives more "
			      "time");
	r->stopped = set->stopped && rc == 0;
	r->elapsed_s = (double)set->spent_ns / 1e9;
	for (size_t i = 0; i < set->npoints; i++)
		any |= set->points[i].nslices > 0 && rc != -ENODATA;
	if (sp__set_figures(set)) {
		any = false;
		rc = sp__err(err, -ENOMEM, "measure", "", -1);
	}
	*out = set;
	if (rc && !any) {
		sp_benchset_free(set);
		*out = NULL;
	}
	return rc;
}

const struct sp_benchset_result *sp_benchset_result(const struct sp_benchset *set)
{
	return &set->result;
}

SP__ENUM_TABLE(sp_benchset_share_of, { "outstanding", 0 }, { "issued", 1 })

SP__ENUM_TABLE(sp_benchset_effect, { "unknown", SP_BENCHSET_EFFECT_UNKNOWN },
	       { "no", SP_BENCHSET_EFFECT_NONE }, { "yes", SP_BENCHSET_EFFECT_YES })

SP__ENUM_TABLE(sp_benchset_noise, { "smaller", SP_BENCHSET_NOISE_SMALLER },
	       { "all", SP_BENCHSET_NOISE_ALL }, { "tenth", SP_BENCHSET_NOISE_TENTH })
