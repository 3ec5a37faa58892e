/* SPDX-License-Identifier: MIT */
/*
 * Counts requests, and decides when counting begins and ends.
 *
 * States: ramp, measuring, finished.  Counting begins at the end of the ramp.
 *
 * If a run time is given, counting ends after it and nothing more is issued; requests that are
 * outstanding then are reported separately.  If a number of bytes is given, also counted from the
 * end of the ramp, counting ends when the last request has completed.  A steady state (walk.c)
 * ends counting as the run time does.
 *
 * Algorithm: a class is passed over by each completion of another class since the class was last
 * served or, if later, began to have requests outstanding.  A mark in the count of all completions
 * yields this number without work at completions of other classes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/minmax.h"
#include "bench/state.h"
#include "bench/walk.h"

#define WINDOWS 40
#define WINDOW_MIN_NS 1000000

static int open_log(struct sp__depthlog *d, unsigned max)
{
	d->max = max;
	d->ns = calloc(max + 1u, sizeof(*d->ns));
	return d->ns ? 0 : -ENOMEM;
}

static void change(struct sp__depthlog *d, uint64_t now_ns, int by)
{
	/* Threads can read the clock in another order than they change the log. */
	if (now_ns > d->since_ns) {
		d->ns[d->n] += now_ns - d->since_ns;
		d->since_ns = now_ns;
	}
	d->n += (unsigned)by;
}

int sp__meter_open(struct sp_bench *b)
{
	unsigned all = 0;

	for (size_t i = 0; i < b->nloads; i++)
		all += b->loads[i].depth;
	for (size_t i = 0; i < b->nclasses; i++)
		if (open_log(&b->classes[i]->depth, all))
			return -ENOMEM;
	return open_log(&b->meter.depth, all);
}

void sp__meter_close(struct sp_bench *b)
{
	for (size_t i = 0; i < b->nclasses; i++)
		free(b->classes[i]->depth.ns);
	free(b->meter.depth.ns);
}

static uint64_t nanoseconds(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

/* Sets the CPU times to those used since the last call. */
static void use_cpu(struct sp_bench *b)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	b->meter.user_ns = nanoseconds(u.ru_utime) - b->meter.user_ns;
	b->meter.system_ns = nanoseconds(u.ru_stime) - b->meter.system_ns;
	b->meter.switches = (uint64_t)u.ru_nvcsw + (uint64_t)u.ru_nivcsw - b->meter.switches;
}

static void restart_log(struct sp__depthlog *d, uint64_t now_ns)
{
	for (unsigned i = 0; i <= d->max; i++)
		d->ns[i] = 0;
	d->since_ns = now_ns;
}

static void restart_windows(struct sp_bench *b, uint64_t now_ns)
{
	uint64_t width_ns = b->opts.runtime_ns / WINDOWS;

	b->meter.nwindows = 0;
	b->meter.width_ns = sp__max(width_ns, WINDOW_MIN_NS);
	b->meter.window_ns = now_ns + b->meter.width_ns;
}

/* Merges pairs of windows. */
static void widen_windows(struct sp_bench *b)
{
	for (size_t i = 0; i < b->nclasses; i++)
		for (size_t k = 0; k < SP__BENCH_WINDOWS_MAX / 2; k++)
			b->classes[i]->windows[k] = b->classes[i]->windows[2 * k + 1];
	b->meter.nwindows = SP__BENCH_WINDOWS_MAX / 2;
	b->meter.width_ns *= 2;
}

static void end_window(struct sp_bench *b, uint64_t now_ns)
{
	if (b->meter.nwindows == SP__BENCH_WINDOWS_MAX)
		widen_windows(b);
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp__benchclass *c = b->classes[i];

		c->windows[b->meter.nwindows] =
			(struct sp_bench_window){ now_ns - b->meter.begin_ns, c->latency.count,
						  c->latency.sum };
	}
	b->meter.nwindows++;
	b->meter.window_ns = now_ns + b->meter.width_ns;
}

static uint64_t completed(const struct sp_bench *b)
{
	uint64_t n = 0;

	for (size_t i = 0; i < b->nclasses; i++)
		n += b->classes[i]->latency.count;
	return n;
}

/* Ends a round, and the measurement if its last rounds are steady. */
static void end_round(struct sp_bench *b, uint64_t now_ns)
{
	struct sp__meter *m = &b->meter;
	double requests = (double)(completed(b) - m->round_requests);
	double ns = (double)(now_ns - m->round_begin_ns);

	sp__steady_add(&m->steady,
		       (struct sp_bench_round){ now_ns - m->begin_ns, requests * 1e9 / ns });
	if (m->steady.reached)
		m->end_ns = now_ns;
	m->round_begin_ns = now_ns;
	m->round_requests = completed(b);
	while (m->round_ns <= now_ns)
		m->round_ns += b->opts.steady_ns;
}

static void measure(struct sp_bench *b, uint64_t now_ns)
{
	b->meter.measuring = true;
	b->issued_bytes = 0;
	for (size_t i = 0; i < b->nloads; i++)
		for (size_t k = 0; k < b->loads[i].ngroups; k++)
			b->loads[i].groups[k].issued_bytes = 0;
	b->meter.begin_ns = b->meter.interval_begin_ns = now_ns;
	b->meter.end_ns = b->opts.runtime_ns ? now_ns + b->opts.runtime_ns : UINT64_MAX;
	b->meter.tick_ns = b->opts.interval_ns ? now_ns + b->opts.interval_ns : UINT64_MAX;
	b->meter.round_ns = b->opts.steady_ns ? now_ns + b->opts.steady_ns : UINT64_MAX;
	b->meter.round_begin_ns = now_ns;
	restart_log(&b->meter.depth, now_ns);
	restart_windows(b, now_ns);
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp__benchclass *c = b->classes[i];

		sp__hist_clear(&c->latency);
		c->bytes = 0;
		memset(c->sides, 0, sizeof(c->sides));
		c->passed_over = c->longest_gap_ns = 0;
		c->mark = b->meter.completions;
		c->mark_ns = now_ns;
		restart_log(&c->depth, now_ns);
	}
	b->meter.user_ns = b->meter.system_ns = b->meter.switches = 0;
	use_cpu(b);
}

void sp__meter_begin(struct sp_bench *b, uint64_t now_ns)
{
	b->meter.begin_ns = now_ns;
	b->meter.end_ns = b->meter.tick_ns = b->meter.round_ns = UINT64_MAX;
	b->meter.depth.since_ns = now_ns;
	for (size_t i = 0; i < b->nclasses; i++)
		b->classes[i]->depth.since_ns = now_ns;
	if (!b->opts.ramp_ns)
		measure(b, now_ns);
}

void sp__meter_submitted(struct sp_bench *b, struct sp__bench_slot *s)
{
	struct sp__benchclass *c = s->class;
	uint64_t now_ns = s->req.submit_ns;

	if (!c->depth.n) {
		c->mark = b->meter.completions;
		c->mark_ns = now_ns;
	}
	change(&c->depth, now_ns, 1);
	change(&b->meter.depth, now_ns, 1);
}

/* Records how often the class was passed over, and for how long. */
static void passed(struct sp_bench *b, struct sp__benchclass *c, uint64_t now_ns)
{
	c->passed_over = sp__max(c->passed_over, b->meter.completions - c->mark);
	if (now_ns > c->mark_ns)
		c->longest_gap_ns = sp__max(c->longest_gap_ns, now_ns - c->mark_ns);
}

void sp__bench_count_error(struct sp_bench_error *list, size_t *n, int code, uint64_t count)
{
	size_t i = 0;

	while (i < *n && list[i].code != code && i + 1 < SP_BENCH_ERRORS_MAX)
		i++;
	if (i == *n)
		list[(*n)++] = (struct sp_bench_error){ .code = code };
	list[i].count += count;
}

static void count_side(struct sp__benchside *side, const struct sp__bench_slot *s)
{
	uint64_t done_ns = s->req.done_ns;

	side->bytes += s->req.bytes;
	sp__hist_add(&side->latency, done_ns - s->intended_ns);
	sp__durations_add(&side->moments, done_ns - s->intended_ns);
	if (!s->sent_ns || s->sent_ns < s->req.submit_ns || done_ns < s->sent_ns)
		return;
	sp__durations_add(&side->submission_moments, s->sent_ns - s->req.submit_ns);
	sp__durations_add(&side->completion_moments, done_ns - s->sent_ns);
	sp__hist_add(&side->completion, done_ns - s->sent_ns);
}

void sp__meter_done(struct sp_bench *b, struct sp__bench_slot *s)
{
	struct sp__benchclass *c = s->class;
	uint64_t now_ns = s->req.done_ns;

	if (b->meter.finished)
		return;
	change(&c->depth, now_ns, -1);
	change(&b->meter.depth, now_ns, -1);
	passed(b, c, now_ns);
	c->mark = ++b->meter.completions;
	c->mark_ns = now_ns;
	if ((uint32_t)s->req.result != s->req.bytes) {
		c->errors++;
		sp__bench_count_error(b->result.errors, &b->result.nerrors,
				      s->req.result < 0 ? s->req.result : SP_EFORMAT, 1);
		return;
	}
	sp__hist_add(&c->latency, now_ns - s->intended_ns);
	c->bytes += s->req.bytes;
	count_side(&c->sides[s->req.op == SP__OP_READ ? SP_BENCH_READS : SP_BENCH_WRITES], s);
}

static void slice(struct sp_bench *b, struct sp_bench_slice *s, const char *name,
		  struct sp__benchclass *const *classes, size_t n)
{
	struct sp__hist *sum = &b->meter.sum;

	*s = (struct sp_bench_slice){ .name = name };
	sp__hist_clear(sum);
	for (size_t i = 0; i < n; i++) {
		struct sp__benchclass *c = classes[i];

		sp__hist_since(&b->meter.diff, &c->latency, &c->earlier);
		sp__hist_merge(sum, &b->meter.diff);
		s->bytes += c->bytes - c->earlier_bytes;
		s->outstanding += c->depth.n;
	}
	s->requests = sum->count;
	if (!sum->count)
		return;
	s->latency_mean_ns = (double)sum->sum / (double)sum->count;
	s->latency_p50_ns = sp__hist_quantile(sum, 0.5);
	s->latency_p99_ns = sp__hist_quantile(sum, 0.99);
	s->latency_max_ns = sum->max;
}

static void interval(struct sp_bench *b, uint64_t now_ns)
{
	struct sp_bench_interval i = { .begin_ns = b->meter.interval_begin_ns - b->meter.begin_ns,
				       .end_ns = now_ns - b->meter.begin_ns,
				       .nclasses = b->nclasses };

	slice(b, &i.total, "total", b->classes, b->nclasses);
	for (size_t k = 0; k < b->nclasses; k++)
		slice(b, &i.classes[k], b->classes[k]->spec.name, &b->classes[k], 1);
	for (size_t k = 0; k < b->nclasses; k++) {
		b->classes[k]->earlier = b->classes[k]->latency;
		b->classes[k]->earlier_bytes = b->classes[k]->bytes;
	}
	b->meter.interval_begin_ns = now_ns;
	while (b->meter.tick_ns <= now_ns)
		b->meter.tick_ns += b->opts.interval_ns;
	b->opts.interval(b->opts.interval_arg, &i);
}

void sp__meter_clock(struct sp_bench *b, uint64_t now_ns)
{
	if (b->meter.finished) /* a thread that returned late */
		return;
	if (!b->meter.measuring && now_ns - b->meter.begin_ns >= b->opts.ramp_ns)
		measure(b, now_ns);
	if (b->meter.measuring && now_ns >= b->meter.window_ns)
		end_window(b, now_ns);
	if (now_ns >= b->meter.round_ns)
		end_round(b, now_ns);
	if (now_ns >= b->meter.tick_ns)
		interval(b, now_ns);
}

static unsigned free_slots(const struct sp__bench_group *g)
{
	unsigned n = 0;

	for (const struct sp__bench_slot *s = g->free; s; s = s->next)
		n++;
	return n;
}

/* Counts due requests of a rate that will not be submitted, and how long they have waited. */
static void overdue(struct sp_bench *b, const struct sp__bench_group *g, uint64_t now_ns)
{
	double late_ns = (double)now_ns - g->next_ns;
	uint64_t due = late_ns < 0 ? 0 : (uint64_t)(late_ns / g->gap_ns) + 1;
	unsigned room = free_slots(g);

	if (due <= room)
		return;
	b->result.overdue += due - room;
	if (late_ns > (double)b->meter.overdue_ns)
		b->meter.overdue_ns = (uint64_t)late_ns;
	if (g->nclasses == 1 && late_ns > (double)g->classes[0]->oldest_ns)
		g->classes[0]->oldest_ns = (uint64_t)late_ns;
}

static bool all_asked(const struct sp_bench *b)
{
	return b->opts.total_bytes && b->issued_bytes >= b->opts.total_bytes;
}

void sp__meter_end(struct sp_bench *b, uint64_t now_ns)
{
	if (b->meter.finished)
		return;
	/* A run that is stopped during the ramp has measured nothing. */
	if (!b->meter.measuring)
		measure(b, now_ns);
	b->meter.finished = true;
	b->meter.finished_ns = now_ns;
	use_cpu(b);
	if (b->opts.interval && b->opts.interval_ns && now_ns > b->meter.interval_begin_ns)
		interval(b, now_ns);
	change(&b->meter.depth, now_ns, 0);
	for (size_t i = 0; i < b->nclasses; i++) {
		struct sp__benchclass *c = b->classes[i];

		change(&c->depth, now_ns, 0);
		if (c->depth.n)
			passed(b, c, now_ns);
		c->oldest_ns = 0;
	}
	for (size_t i = 0; i < b->nloads; i++) {
		struct sp__load *l = &b->loads[i];

		for (unsigned k = 0; k < l->depth; k++) {
			struct sp__bench_slot *s = &l->slots[k];

			if (s->class && now_ns > s->intended_ns)
				s->class->oldest_ns =
					sp__max(s->class->oldest_ns, now_ns - s->intended_ns);
		}
		for (size_t k = 0; k < l->ngroups && !all_asked(b); k++)
			if (l->groups[k].gap_ns > 0 && !sp__group_issued(b, &l->groups[k]))
				overdue(b, &l->groups[k], now_ns);
	}
}
