/* SPDX-License-Identifier: MIT */
/*
 * Computes the result of a measurement from the counts of meter.c, and lists the options that had
 * no effect because of the engine, the kernel or a limit.
 */
#include <string.h>
#include <sys/resource.h>
#include "base/minmax.h"
#include "bench/state.h"
#include "sim/machine.h"

static bool is(const struct sp_bench *b, const char *engine)
{
	return !strcmp(b->loads[0].port->engine, engine);
}

/* Adds an option with the reason why the kernel did not register buffers or files. */
static void add_refused(struct sp_bench *b, const char *option, int rc)
{
	struct sp_no_effects *to = &b->result.no_effects;
	struct rlimit limit;

	if (b->device)
		sp_no_effects_add(to, option, "a simulated target registers nothing");
	else if (rc == -ENOTSUP)
		sp_no_effects_add(
			to, option,
			"the engine %s cannot register buffers and files: only io_uring can",
			b->loads[0].port->engine);
	else if (rc == -ENOMEM && getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
		 limit.rlim_cur != RLIM_INFINITY)
		sp_no_effects_add(
			to, option,
			"locked memory is limited to %llu bytes (ulimit -l), %llu are needed",
			(unsigned long long)limit.rlim_cur,
			(unsigned long long)b->loads[0].pool_bytes);
	else
		sp_no_effects_add(to, option, "%s", sp_strerror(rc));
}

static void registered(struct sp_bench *b)
{
	const struct sp__port *p = b->loads[0].port;

	if (b->opts.fixed_buffers && (b->device || p->pool_rc))
		add_refused(b, "--fixedbufs", p->pool_rc);
	if (b->opts.register_files && (b->device || p->files_rc))
		add_refused(b, "--registerfiles", p->files_rc);
}

/* True if a class shares the depth and the rate of the run. */
static bool any_sharing(const struct sp_bench *b)
{
	for (size_t i = 0; i < b->nclasses; i++)
		if (!b->classes[i]->spec.depth && b->classes[i]->spec.rate <= 0)
			return true;
	return false;
}

static void has_rates(struct sp_bench *b)
{
	struct sp_no_effects *to = &b->result.no_effects;

	if (b->opts.rate > 0 && !any_sharing(b))
		sp_no_effects_add(to, "--rate_iops", "each class has a depth or rate of its own");
	if (b->opts.replay && b->opts.replay->no_stall && b->opts.replay->time_scale > 0 &&
	    b->opts.replay->time_scale != 1)
		sp_no_effects_add(to, "--replay_time_scale",
				  "with --replay_no_stall the recorded times are ignored");
}

/*
 * Adds options without effect on the engine of threads, which has one request per class at a time.
 */
static void threads(struct sp_bench *b)
{
	static const char reason[] = "sync has one request at a time for each class";
	struct sp_no_effects *to = &b->result.no_effects;
	bool depth = b->opts.depth > 1, shares = false;

	for (size_t i = 0; i < b->nclasses; i++) {
		depth |= b->classes[i]->spec.depth > 1;
		shares |= b->classes[i]->spec.share != b->classes[0]->spec.share;
	}
	for (size_t i = 0; !b->threaded && i < b->nclasses; i++)
		if (b->classes[i]->spec.prio)
			sp_no_effects_add(to, "prio of --class",
					  "neither io_uring nor libaio is available");
	if (depth)
		sp_no_effects_add(to, "--depth", reason);
	if (shares)
		sp_no_effects_add(to, "share of --class", reason);
	if (b->opts.batch_submit > 1)
		sp_no_effects_add(to, "--iodepth_batch", reason);
	if (b->opts.batch_min > 1)
		sp_no_effects_add(to, "--iodepth_batch_complete_min", reason);
	if (b->opts.batch_max > 1)
		sp_no_effects_add(to, "--iodepth_batch_complete_max", reason);
}

/* Adds options without effect on a target without a file, which has nothing to cache. */
static void unreal(struct sp_bench *b, const char *what)
{
	struct sp_no_effects *to = &b->result.no_effects;

	if (b->opts.buffered)
		sp_no_effects_add(to, "--direct=0", "%s has no page cache of the system", what);
	if (!b->device)
		for (size_t i = 0; i < b->nclasses; i++)
			if (b->classes[i]->spec.prio)
				sp_no_effects_add(to, "prio of --class", "%s sends no requests",
						  what);
}

/* bench_result.c: called after the loads have ended, before they are closed. */
static void bench_no_effects(struct sp_bench *b)
{
	const struct sp_no_effects *callers = b->opts.no_effects;

	for (size_t i = 0; callers && i < callers->n; i++)
		sp_no_effects_add(&b->result.no_effects, callers->list[i].option, "%s",
				  callers->list[i].reason);
	registered(b);
	has_rates(b);
	if (is(b, "sync"))
		threads(b);
	if (b->device)
		unreal(b, "a simulated target");
	else if (is(b, "null"))
		unreal(b, "the engine null");
}

#define PASSED_MIN 100
#define PASSED_TIMES 10

static void latencies(struct sp_bench_stats *s, const struct sp__hist *h)
{
	s->requests = h->count;
	if (!h->count)
		return;
	s->latency_mean_ns = (double)h->sum / (double)h->count;
	s->latency_min_ns = h->min;
	s->latency_p50_ns = sp__hist_quantile(h, 0.5);
	s->latency_p90_ns = sp__hist_quantile(h, 0.9);
	s->latency_p99_ns = sp__hist_quantile(h, 0.99);
	s->latency_p999_ns = sp__hist_quantile(h, 0.999);
	s->latency_p9999_ns = sp__hist_quantile(h, 0.9999);
	s->latency_max_ns = h->max;
}

static void depths(struct sp_bench_stats *s, const struct sp__depthlog *d)
{
	double weighted = 0, time = 0;

	s->depth_ns = d->ns;
	for (unsigned i = 0; i <= d->max; i++) {
		weighted += (double)i * (double)d->ns[i];
		time += (double)d->ns[i];
		if (d->ns[i])
			s->depths = i + 1;
	}
	s->depth_mean = time > 0 ? weighted / time : 0;
}

static void rates(struct sp_bench_stats *s, uint64_t elapsed_ns)
{
	if (!elapsed_ns)
		return;
	s->iops = (double)s->requests * 1e9 / (double)elapsed_ns;
	s->bandwidth_bytes_per_s = (double)s->bytes * 1e9 / (double)elapsed_ns;
}

/* Converts sums since the beginning into sums of each window, and adds up the classes. */
static void windows(struct sp_bench *b)
{
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp_bench_window *w = b->classes[i]->windows;

		for (size_t k = b->meter.nwindows; k-- > 0;) {
			w[k].requests -= k ? w[k - 1].requests : 0;
			w[k].latency_sum_ns -= k ? w[k - 1].latency_sum_ns : 0;
			b->windows[k].end_ns = w[k].end_ns;
			b->windows[k].requests += w[k].requests;
			b->windows[k].latency_sum_ns += w[k].latency_sum_ns;
		}
		b->stats[i].windows = w;
		b->stats[i].nwindows = b->meter.nwindows;
	}
	b->result.total.windows = b->windows;
	b->result.total.nwindows = b->meter.nwindows;
}

/* A class that has ended was measured until its last completion. */
static uint64_t class_elapsed_ns(const struct sp_bench *b, const struct sp__benchclass *c)
{
	for (size_t i = 0; i < b->nloads; i++)
		for (size_t k = 0; k < b->loads[i].ngroups; k++) {
			const struct sp__bench_group *g = &b->loads[i].groups[k];

			for (size_t n = 0; n < g->nclasses; n++)
				if (g->classes[n] == c && sp__group_issued(b, g) && !c->depth.n)
					return c->mark_ns - b->meter.begin_ns;
		}
	return b->result.elapsed_ns;
}

static struct sp_bench_times times_of(const struct sp__durations *m)
{
	if (!m->count)
		return (struct sp_bench_times){ 0 };
	return (struct sp_bench_times){ m->count, m->min, m->max, m->mean,
					sp__durations_stddev(m) };
}

static void side_figures(struct sp_bench_side *s, const struct sp__hist *h, uint64_t bytes,
			 uint64_t elapsed_ns)
{
	s->requests = h->count;
	s->bytes = bytes;
	if (!h->count)
		return;
	if (elapsed_ns) {
		s->iops = (double)h->count * 1e9 / (double)elapsed_ns;
		s->bandwidth_bytes_per_s = (double)bytes * 1e9 / (double)elapsed_ns;
	}
	s->latency_mean_ns = (double)h->sum / (double)h->count;
	s->latency_min_ns = h->min;
	s->latency_p50_ns = sp__hist_quantile(h, 0.5);
	s->latency_p90_ns = sp__hist_quantile(h, 0.9);
	s->latency_p99_ns = sp__hist_quantile(h, 0.99);
	s->latency_p999_ns = sp__hist_quantile(h, 0.999);
	s->latency_p9999_ns = sp__hist_quantile(h, 0.9999);
	s->latency_max_ns = h->max;
}

static void side_moments(struct sp_bench_side *s, const struct sp__durations *latency,
			 const struct sp__durations *submission,
			 const struct sp__durations *completion)
{
	s->latency_stddev_ns = sp__durations_stddev(latency);
	s->submission = times_of(submission);
	s->completion = times_of(completion);
}

static void total_side(struct sp_bench *b, struct sp_bench_side *to, int side)
{
	struct sp__meter *m = &b->meter;
	uint64_t bytes = 0;

	sp__hist_clear(&m->diff);
	m->latency = m->submission = m->completion = (struct sp__durations){ 0 };
	for (size_t i = 0; i < b->nclasses; i++) {
		const struct sp__benchside *s = &b->classes[i]->sides[side];

		sp__hist_merge(&m->diff, &s->latency);
		sp__durations_merge(&m->latency, &s->moments);
		sp__durations_merge(&m->submission, &s->submission_moments);
		sp__durations_merge(&m->completion, &s->completion_moments);
		bytes += s->bytes;
	}
	side_figures(to, &m->diff, bytes, b->result.elapsed_ns);
	side_moments(to, &m->latency, &m->submission, &m->completion);
}

static void class_figures(struct sp_bench *b, struct sp_bench_stats *s, struct sp__benchclass *c)
{
	uint64_t limit = (uint64_t)b->meter.depth.max * PASSED_TIMES;

	s->name = c->spec.name;
	s->prio = c->spec.prio;
	s->read_requests = c->sides[SP_BENCH_READS].latency.count;
	s->bytes = c->bytes;
	s->errors = c->errors;
	s->unfinished = c->depth.n;
	latencies(s, &c->latency);
	depths(s, &c->depth);
	s->elapsed_ns = class_elapsed_ns(b, c);
	rates(s, s->elapsed_ns);
	for (int i = SP_BENCH_READS; i <= SP_BENCH_WRITES; i++) {
		const struct sp__benchside *side = &c->sides[i];

		side_figures(&s->sides[i], &side->latency, side->bytes, s->elapsed_ns);
		side_moments(&s->sides[i], &side->moments, &side->submission_moments,
			     &side->completion_moments);
	}
	s->longest_wait_ns = sp__max(c->oldest_ns, s->latency_max_ns);
	s->longest_gap_ns = c->longest_gap_ns;
	s->passed_over = c->passed_over;
	s->starved = c->passed_over >= sp__max(limit, PASSED_MIN);
}

static void total_figures(struct sp_bench *b)
{
	struct sp_bench_stats *t = &b->result.total;

	t->name = "total";
	sp__hist_clear(&b->meter.sum);
	for (size_t i = 0; i < b->nclasses; i++) {
		const struct sp_bench_stats *s = &b->stats[i];

		sp__hist_merge(&b->meter.sum, &b->classes[i]->latency);
		t->read_requests += s->read_requests;
		t->bytes += s->bytes;
		t->errors += s->errors;
		t->unfinished += s->unfinished;
		t->starved |= s->starved;
		t->longest_wait_ns = sp__max(t->longest_wait_ns, s->longest_wait_ns);
		t->longest_gap_ns = sp__max(t->longest_gap_ns, s->longest_gap_ns);
		t->passed_over = sp__max(t->passed_over, s->passed_over);
	}
	t->longest_wait_ns = sp__max(t->longest_wait_ns, b->meter.overdue_ns);
	latencies(t, &b->meter.sum);
	depths(t, &b->meter.depth);
	t->elapsed_ns = b->result.elapsed_ns;
	rates(t, t->elapsed_ns);
	for (int i = SP_BENCH_READS; i <= SP_BENCH_WRITES; i++)
		total_side(b, &t->sides[i], i);
}

static void device_counters(struct sp_bench *b)
{
	struct sp_bench_result *r = &b->result;
	struct sp__machine_stats m;

	sp__machine_stats(b->device->machine, &m);
	r->dispatched = m.device.dispatched;
	r->merges = m.device.merges;
	r->seeks = m.device.seeks;
	r->busy_ns = m.device.busy_ns;
	sp__machine_depths(b->device->machine, SP__DEPTH_DEVICE, b->device_ns);
	for (size_t i = 0; i <= SP__DEPTH_MAX; i++)
		if (b->device_ns[i])
			r->device_depths = i + 1;
	r->device_depth_ns = b->device_ns;
}

void sp__bench_figures(struct sp_bench *b)
{
	struct sp_bench_result *r = &b->result;

	r->simulated = b->device;
	r->engine = b->loads[0].port->engine;
	r->fixed_buffers = b->opts.fixed_buffers && !b->device && !b->loads[0].port->pool_rc;
	bench_no_effects(b);
	r->stopped = b->stopped;
	r->elapsed_ns = b->meter.finished_ns - b->meter.begin_ns;
	r->user_ns = b->device ? 0 : b->meter.user_ns;
	r->system_ns = b->device ? 0 : b->meter.system_ns;
	r->switches = b->device ? 0 : b->meter.switches;
	for (size_t i = 0; i < b->nfiles; i++)
		r->size_bytes += b->files[i].bytes;
	r->replay = b->replay ? &b->replay->result : NULL;
	r->steady = b->opts.steady_ns ? &b->meter.steady : NULL;
	r->nclasses = b->nclasses;
	r->classes = b->stats;
	for (size_t i = 0; i < b->nclasses; i++)
		class_figures(b, &b->stats[i], b->classes[i]);
	total_figures(b);
	windows(b);
	if (b->device)
		device_counters(b);
}

uint64_t sp_bench_quantile(const struct sp_bench *b, size_t which, double share)
{
	return sp__hist_quantile(which < b->nclasses ? &b->classes[which]->latency : &b->meter.sum,
				 share);
}

/* Returns the times of a side that are counted from the end of the submission, if it was timed. */
static const struct sp__hist *completions(const struct sp_bench *b, size_t which, int side)
{
	const struct sp__benchside *s = &b->classes[which]->sides[side];

	return s->completion.count ? &s->completion : &s->latency;
}

uint64_t sp_bench_side_quantile(const struct sp_bench *b, size_t which, enum sp_bench_side_of side,
				double share)
{
	return sp__hist_quantile(completions(b, which, (int)side), share);
}

uint64_t sp_bench_side_below(const struct sp_bench *b, size_t which, enum sp_bench_side_of side,
			     uint64_t limit_ns)
{
	return sp__hist_below(completions(b, which, (int)side), limit_ns);
}
