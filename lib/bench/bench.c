/* SPDX-License-Identifier: MIT */
/*
 * Opens a measurement, runs its loads, on threads if the engine needs them, and closes it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/outfile_impl.h"
#include "base/enum.h"
#include "bench/state.h"
#include "io/engine.h"

#define SEED_STEP 16

static int copy_classes(struct sp_bench *b, struct sp_errinfo *err)
{
	for (size_t i = 0; i < b->opts.nclasses; i++) {
		struct sp__benchclass *c = calloc(1, sizeof(*c));

		if (!c)
			return sp__err(err, -ENOMEM, "open", "", -1);
		c->spec = b->opts.classes[i];
		c->rng.state = sp__mix64(b->opts.seed * SEED_STEP + i + 1);
		b->classes[b->nclasses++] = c;
	}
	return 0;
}

struct sp__load *sp__bench_load(struct sp_bench *b)
{
	struct sp__load *l = &b->loads[b->nloads];

	l->bench = b;
	l->rng.state = sp__mix64(b->opts.seed + 1000 + b->nloads);
	b->nloads++;
	return l;
}

struct sp__bench_group *sp__bench_add_group(struct sp__load *l, size_t first, size_t n,
					    unsigned depth, double rate)
{
	struct sp__bench_group *g = &l->groups[l->ngroups++];

	*g = (struct sp__bench_group){
		.classes = &l->classes[first],
		.nclasses = n,
		.depth = depth,
		.gap_ns = rate > 0 ? 1e9 / rate : 0,
	};
	for (size_t i = 0; i < n; i++)
		g->total_bytes = sp__max(g->total_bytes, g->classes[i]->spec.total_bytes);
	l->depth += depth;
	return g;
}

/*
 * One load for all classes: a group for those that share the depth, then one for each other class.
 */
static void plan_shared(struct sp_bench *b)
{
	struct sp__load *l = sp__bench_load(b);
	size_t n = 0, sharing;

	for (size_t i = 0; i < b->nclasses; i++)
		if (!b->classes[i]->spec.depth && b->classes[i]->spec.rate <= 0)
			l->classes[n++] = b->classes[i];
	sharing = n;
	if (sharing)
		sp__bench_add_group(l, 0, sharing, b->opts.depth, b->opts.rate);
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp_bench_class *c = &b->classes[i]->spec;

		if (!c->depth && c->rate <= 0)
			continue;
		l->classes[n] = b->classes[i];
		sp__bench_add_group(l, n++, 1, c->depth ? c->depth : b->opts.depth, c->rate);
	}
}

/* A load for each class, with a thread of its own and one request at a time. */
static void plan_threads(struct sp_bench *b)
{
	b->threaded = true;
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp__load *l = sp__bench_load(b);
		double rate = b->classes[i]->spec.rate;

		l->classes[0] = b->classes[i];
		sp__bench_add_group(l, 0, 1, 1,
				    rate > 0 ? rate : b->opts.rate * b->classes[i]->spec.share);
	}
}

static int plan_classes(struct sp_bench *b, void *arg, struct sp_errinfo *err)
{
	(void)arg;
	(void)err;
	if (b->opts.engine && !strcmp(b->opts.engine, "sync"))
		plan_threads(b);
	else
		plan_shared(b);
	return 0;
}

static int open_all(struct sp_bench *b, sp__bench_plan *plan, void *arg, struct sp_errinfo *err)
{
	int rc = b->opts.replay ? sp__replay_open(&b->replay, &b->opts, err) : 0;

	rc = rc ? rc : copy_classes(b, err);
	if (rc == 0)
		rc = sp__output_set_check(NULL, b->opts.trace, NULL, b->opts.targets,
					  b->opts.ntargets, err);
	if (rc == 0 && b->opts.replay)
		rc = sp__output_set_check(NULL, b->opts.trace, NULL, &b->opts.replay->trace, 1,
					  err);
	if (rc == 0 && b->opts.trace)
		rc = sp__trace_open(&b->trace, b->opts.trace, err);
	if (rc == 0)
		rc = sp__bench_open_targets(b, err);
	if (rc == 0)
		rc = sp__bench_settle_prios(b, err);
	if (rc)
		return rc;
	sp__volume_trace(b->device, b->trace);
	rc = plan(b, arg, err);
	if (rc)
		return rc;
	if (sp__meter_open(b))
		return sp__err(err, -ENOMEM, "open", "", -1);
	if (b->opts.settled)
		b->opts.settled(b->opts.settled_arg, &b->opts);
	return 0;
}

static void stop(struct sp_bench *b)
{
	pthread_mutex_lock(&b->lock);
	b->stopped = true;
	pthread_mutex_unlock(&b->lock);
}

/* Runs a load.  Restores the priority of the thread, which executes other tasks later. */
static void load_main(void *arg)
{
	struct sp__load *l = arg;
	const uint16_t prio = l->classes[0]->spec.prio;
	long before = sp__ioprio_get();

	l->rc = sp__ioprio_set(prio);
	if (l->rc)
		sp__err(&l->err, l->rc, "ioprio_set", "", -1);
	else
		l->rc = sp__load_run(l, &l->err);
	if (prio)
		sp__ioprio_restore(before);
	if (l->rc)
		stop(l->bench);
}

/* True if the calling thread can run the only load.  A priority would outlast the run. */
static bool alone(const struct sp_bench *b)
{
	return b->nloads == 1 && !b->classes[0]->spec.prio;
}

static int run_threads(struct sp_bench *b, struct sp_errinfo *err)
{
	size_t n = 0;
	int rc = 0;

	while (n < b->nloads && sp__task_start_thread(&b->loads[n].task, load_main, &b->loads[n]))
		n++;
	if (!n && alone(b))
		return sp__load_run(&b->loads[0], err);
	if (n < b->nloads) {
		stop(b);
		rc = sp__errf(err, -EAGAIN, "start", "", -1,
			      "each class needs a thread with the engine \"sync\": %s",
			      sp_strerror(-EAGAIN));
	}
	while (n--) {
		sp__task_join(&b->loads[n].task);
		if (b->loads[n].rc && rc == 0) {
			rc = b->loads[n].rc;
			if (err)
				*err = b->loads[n].err;
		}
	}
	return rc;
}

static int run_all(struct sp_bench *b, struct sp_errinfo *err)
{
	uint64_t begin_ns;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < b->nloads; i++)
		rc = sp__load_open(&b->loads[i], err);
	if (rc)
		return rc;
	begin_ns = sp__volume_now_ns(b->device);
	if (b->replay)
		b->replay->begin_ns = begin_ns;
	sp__meter_begin(b, begin_ns);
	rc = b->threaded ? run_threads(b, err) : sp__load_run(&b->loads[0], err);
	if (!b->meter.finished)
		sp__meter_end(b, sp__volume_now_ns(b->device));
	sp__bench_figures(b);
	return rc;
}

static struct sp_bench *new_bench(const struct sp_bench_opts *opts, struct sp_errinfo *err)
{
	struct sp_bench *b = calloc(1, sizeof(*b));

	if (!b) {
		sp__err(err, -ENOMEM, "open", "", -1);
		return NULL;
	}
	b->opts = *opts;
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

int sp__bench_hold(struct sp_bench **out, const struct sp_bench_opts *opts, struct sp_errinfo *err)
{
	int rc;

	*out = new_bench(opts, err);
	rc = *out ? copy_classes(*out, err) : -ENOMEM;
	return rc ? rc : sp__bench_open_targets(*out, err);
}

int sp__bench_run(struct sp_bench **out, const struct sp_bench_opts *opts, sp__bench_plan *plan,
		  void *arg, struct sp_errinfo *err)
{
	struct sp_bench *b = new_bench(opts, err);
	int rc, closed;

	*out = NULL;
	if (!b)
		return -ENOMEM;
	rc = open_all(b, plan, arg, err);
	if (rc == 0)
		rc = run_all(b, err);
	closed = sp__trace_close(b->trace, err);
	b->trace = NULL;
	rc = rc ? rc : closed;
	if (!b->meter.finished) {
		b->opts.remove = true; /* leave no file if nothing was measured */
		sp_bench_free(b);
		return rc;
	}
	*out = b;
	return rc;
}

/* True if every class has an end. */
static bool ends(const struct sp_bench_opts *o)
{
	for (size_t i = 0; i < o->nclasses; i++)
		if (!o->classes[i].total_bytes)
			return false;
	return true;
}

int sp_bench_run(struct sp_bench **out, const struct sp_bench_opts *opts, struct sp_errinfo *err)
{
	int rc = sp__bench_check(opts, err);

	*out = NULL;
	if (rc == 0 && !opts->replay && !opts->runtime_ns && !opts->total_bytes && !ends(opts))
		rc = SP__REFUSE(err, "a run needs a duration or a number of bytes");
	return rc ? rc : sp__bench_run(out, opts, plan_classes, NULL, err);
}

const struct sp_bench_result *sp_bench_result(const struct sp_bench *bench)
{
	return &bench->result;
}

uint64_t sp__bench_min_bytes(const struct sp_bench *b)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < b->nfiles; i++)
		least = sp__min(least, b->files[i].bytes);
	return least;
}

const struct sp__hist *sp__bench_latency(const struct sp_bench *b, size_t class)
{
	return &b->classes[class]->latency;
}

uint64_t sp__bench_machine_ns(const struct sp_bench *b)
{
	return sp__volume_now_ns(b->device);
}

void sp__bench_close(struct sp_bench *b)
{
	for (size_t i = 0; i < b->nloads; i++)
		sp__load_close(&b->loads[i]);
	b->nloads = 0;
	if (!b->opts.remove)
		sp__bench_close_targets(b);
}

void sp_bench_free(struct sp_bench *b)
{
	if (!b)
		return;
	sp__bench_close(b);
	sp__bench_close_targets(b);
	sp__meter_close(b);
	sp__replay_close(b->replay);
	for (size_t i = 0; i < b->nclasses; i++)
		free(b->classes[i]);
	pthread_mutex_destroy(&b->lock);
	free(b);
}

SP__ENUM_TABLE(sp_bench_create, { "written", SP_BENCH_CREATE_WRITTEN },
	       { "reserved", SP_BENCH_CREATE_RESERVED }, { "sparse", SP_BENCH_CREATE_SPARSE })

SP__ENUM_TABLE(sp_bench_process, { "linear", 0 }, { "poisson", 1 })
