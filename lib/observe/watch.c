/* SPDX-License-Identifier: MIT */
/*
 * Samples the number of outstanding requests at a series of moments.
 *
 * Algorithm: the watch sleeps between moments, so watching costs little.  A moment that passes
 * before the thread wakes up is missed, and the previous sample also counts for that time.  Changes
 * in a trace are read later than they happened.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/enum.h"
#include "base/err.h"
#include "observe/watch.h"
#include "observe/watch_trace.h"

static uint64_t at(const struct sp__moments *m, uint64_t moment)
{
	return m->begin_ns + moment * m->period_ns;
}

/* Arms the timers; each expires at every nfds-th moment. */
static void set(const struct sp__moments *m)
{
	for (uint64_t moment = 1; moment <= m->nfds; moment++) {
		struct itimerspec when = { .it_value = sp__timespec(at(m, moment)),
					   .it_interval = sp__timespec(m->nfds * m->period_ns) };

		timerfd_settime(m->fds[moment % m->nfds], TFD_TIMER_ABSTIME, &when, NULL);
	}
}

void sp__moments_open(struct sp__moments *m, uint64_t begin_ns, uint64_t period_ns)
{
	*m = (struct sp__moments){ .begin_ns = begin_ns, .period_ns = period_ns, .next = 1 };
	for (; m->nfds < SP__MOMENTS_AHEAD; m->nfds++) {
		m->fds[m->nfds] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
		if (m->fds[m->nfds] < 0)
			break;
	}
	set(m);
}

/* Waits until a moment.  False: a signal arrived first. */
static bool wait_for(const struct sp__moments *m, uint64_t moment)
{
	uint64_t expired;

	if (!m->nfds)
		return sp__sleep_until(at(m, moment));
	return read(m->fds[moment % m->nfds], &expired, sizeof(expired)) == sizeof(expired);
}

/* Consumes the expirations of skipped moments, or their timers would be ready too early. */
static void skip(struct sp__moments *m, uint64_t moments)
{
	m->next += moments;
	for (uint64_t i = 1; i <= moments && i < m->nfds; i++)
		wait_for(m, m->next - i);
}

uint64_t sp__moments_wait(struct sp__moments *m, uint64_t now_ns)
{
	uint64_t passed = now_ns > m->begin_ns ? (now_ns - m->begin_ns) / m->period_ns : 0;
	uint64_t skipped = passed > m->next ? passed - m->next : 0;

	skip(m, skipped);
	m->next += wait_for(m, m->next);
	return skipped;
}

void sp__moments_close(struct sp__moments *m)
{
	while (m->nfds)
		close(m->fds[--m->nfds]);
}

#define RATE_DEFAULT 1000
#define RATE_MIN 1e-3
#define RATE_MAX 1e6
#define REFRESH_NS 1000000000
#define TRACE_NS 20000000

struct tally {
	uint64_t begin_ns; /* clock */
	struct sp__diskstat begin;
	double weighted; /* requests times ns */
	uint64_t samples;
	unsigned max;
};

struct sp_watch {
	struct sp_watch_opts opts;
	struct sp__watched watched;
	struct sp_watch_result result;
	uint64_t begin_ns;
	struct tally whole, interval;
	unsigned depth; /* at the last sample */
	uint64_t at_ns; /* its time */
	uint64_t depth_ns[SP_WATCH_DEPTH_MAX + 1];
};

static void restart(struct sp_watch *w, uint64_t now_ns)
{
	w->interval = (struct tally){ .begin_ns = now_ns, .begin = w->watched.stat };
}

/* Adds the time since the last sample to its depth. */
static void hold(struct sp_watch *w, uint64_t now_ns)
{
	uint64_t ns = now_ns - w->at_ns;

	w->depth_ns[w->depth] += ns;
	w->whole.weighted += (double)w->depth * (double)ns;
	w->interval.weighted += (double)w->depth * (double)ns;
	w->at_ns = now_ns;
}

static void count(struct tally *t, unsigned depth)
{
	t->samples++;
	if (depth > t->max)
		t->max = depth;
}

/* Sets the number outstanding from now on. */
static void set_depth(struct sp_watch *w, uint64_t outstanding)
{
	w->depth = outstanding < SP_WATCH_DEPTH_MAX ? (unsigned)outstanding : SP_WATCH_DEPTH_MAX;
	count(&w->whole, w->depth);
	count(&w->interval, w->depth);
}

/* Takes a sample.  Returns 1; 0: missed; -ENOENT: the target is gone. */
static int sample(struct sp_watch *w, uint64_t *now_ns)
{
	uint64_t outstanding = 0;
	int rc = sp__watched_sample(&w->watched, &outstanding);

	*now_ns = sp__now_ns();
	if (rc <= 0)
		return rc;
	hold(w, *now_ns);
	set_depth(w, outstanding);
	if (w->watched.nrings > w->result.rings)
		w->result.rings = (unsigned)w->watched.nrings;
	return 1;
}

static double exact(const struct sp_watch *w, const struct tally *t, uint64_t now_ns)
{
	if (w->watched.source != SP_WATCH_STAT || now_ns == t->begin_ns)
		return NAN;
	return (double)(w->watched.stat.queue_ms - t->begin.queue_ms) * 1e6 /
	       (double)(now_ns - t->begin_ns);
}

static void end_interval(struct sp_watch *w, uint64_t now_ns)
{
	const struct tally *t = &w->interval;
	struct sp_watch_interval i = { .begin_ns = t->begin_ns - w->begin_ns,
				       .end_ns = now_ns - w->begin_ns,
				       .samples = t->samples,
				       .depth_mean = t->weighted / (double)(now_ns - t->begin_ns),
				       .depth_mean_exact = exact(w, t, now_ns),
				       .depth_max = t->max,
				       .depth_last = w->depth };

	w->opts.interval(w->opts.interval_arg, &i);
	restart(w, now_ns);
}

/* Ends the interval if it has lasted interval_ns. */
static void check_interval(struct sp_watch *w, uint64_t now_ns, uint64_t interval_ns)
{
	uint64_t begin_ns = w->interval.begin_ns;

	if (w->opts.interval_ns && w->opts.interval && now_ns > begin_ns &&
	    now_ns - begin_ns >= interval_ns)
		end_interval(w, now_ns);
}

static bool over(struct sp_watch *w, uint64_t now_ns)
{
	w->result.stopped = w->opts.stop && *w->opts.stop;
	return w->result.stopped ||
	       (w->opts.runtime_ns && now_ns - w->begin_ns >= w->opts.runtime_ns);
}

/* Begins the measurement with the first sample. */
static int begin(struct sp_watch *w, struct sp_errinfo *err)
{
	int rc = 0;

	for (unsigned i = 0; i < 100 && rc == 0; i++) {
		w->at_ns = sp__now_ns();
		rc = sample(w, &w->begin_ns);
	}
	if (rc < 0)
		return sp__err(err, rc, "read", w->opts.target, -1);
	if (rc == 0)
		return sp__errf(err, SP_EUNSUP, "read", w->opts.target, -1,
				"does not show outstanding requests");
	restart(w, w->begin_ns);
	w->whole = w->interval;
	memset(w->depth_ns, 0, sizeof(w->depth_ns));
	set_depth(w, w->depth);
	return 0;
}

static void watch(struct sp_watch *w)
{
	double rate = w->opts.rate > 0 ? w->opts.rate : RATE_DEFAULT;
	uint64_t now_ns = w->begin_ns, refresh_ns = now_ns + REFRESH_NS;
	struct sp__moments moments;
	int rc = 1;

	sp__moments_open(&moments, w->begin_ns, (uint64_t)(1e9 / rate));
	while (rc >= 0 && !over(w, now_ns)) {
		w->result.missed += sp__moments_wait(&moments, now_ns);
		rc = sample(w, &now_ns);
		w->result.missed += rc == 0;
		if (now_ns >= refresh_ns ||
		    (rc == 1 && w->watched.source == SP_WATCH_FDINFO && !w->watched.nrings)) {
			if (!sp__watched_refresh(&w->watched))
				rc = -ENOENT;
			refresh_ns = now_ns + REFRESH_NS;
		}
		check_interval(w, now_ns, w->opts.interval_ns);
	}
	sp__moments_close(&moments);
	w->result.ended = rc < 0;
	check_interval(w, w->at_ns, 1);
}

static void change(void *arg, uint64_t ns, uint64_t outstanding)
{
	struct sp_watch *w = arg;

	if (ns < w->begin_ns)
		ns = w->begin_ns;
	hold(w, ns);
	set_depth(w, outstanding);
}

static int watch_trace(struct sp_watch *w, struct sp_errinfo *err)
{
	uint64_t now_ns = sp__now_ns();
	int rc = 0;

	w->begin_ns = w->at_ns = now_ns;
	restart(w, now_ns);
	w->whole = w->interval;
	while (rc == 0 && !over(w, now_ns)) {
		(void)sp__sleep_until(now_ns + TRACE_NS);
		now_ns = sp__now_ns();
		rc = sp__tracer_read(w->watched.tracer, now_ns, change, w);
		hold(w, now_ns);
		check_interval(w, now_ns, w->opts.interval_ns);
	}
	w->result.ended = rc == -ENOENT;
	w->result.missed = sp__tracer_lost(w->watched.tracer);
	check_interval(w, w->at_ns, 1);
	return rc && rc != -ENOENT ? sp__err(err, rc, "read", w->opts.target, -1) : 0;
}

static unsigned quantile(const struct sp_watch *w, double q)
{
	double want = q * (double)w->result.elapsed_ns, seen = 0;
	unsigned i = 0;

	for (; i < SP_WATCH_DEPTH_MAX; i++) {
		seen += (double)w->depth_ns[i];
		if (seen >= want)
			break;
	}
	return i;
}

static void figures(struct sp_watch *w)
{
	struct sp_watch_result *r = &w->result;
	const struct sp__diskstat *now = &w->watched.stat, *before = &w->whole.begin;
	double seconds;

	memcpy(r->name, w->watched.name, sizeof(r->name));
	r->source = w->watched.source;
	r->elapsed_ns = w->at_ns - w->begin_ns;
	r->samples = w->whole.samples;
	r->depth_max = w->whole.max;
	r->depth_mean_exact = exact(w, &w->whole, w->at_ns);
	r->latency_mean_ns = NAN;
	r->depth_ns = w->depth_ns;
	for (size_t i = 0; i <= SP_WATCH_DEPTH_MAX; i++)
		if (w->depth_ns[i])
			r->depths = i + 1;
	if (!r->elapsed_ns)
		return;
	seconds = (double)r->elapsed_ns / 1e9;
	r->depth_mean = w->whole.weighted / (double)r->elapsed_ns;
	r->depth_p50 = quantile(w, 0.5);
	r->depth_p90 = quantile(w, 0.9);
	r->depth_p99 = quantile(w, 0.99);
	r->requests = now->requests - before->requests;
	r->iops = (double)r->requests / seconds;
	if (r->requests)
		r->latency_mean_ns =
			(double)(now->latency_ms - before->latency_ms) * 1e6 / (double)r->requests;
}

int sp_watch_run(struct sp_watch **out, const struct sp_watch_opts *opts, struct sp_errinfo *err)
{
	uint64_t cpu_ns = sp__clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct sp_watch *w;
	int rc;

	*out = NULL;
	if (opts->rate != 0 && !(opts->rate >= RATE_MIN && opts->rate <= RATE_MAX))
		return sp__errf(err, -EINVAL, "check", "", -1,
				"the sample rate is not from 0.001 to 1000000 per second");
	w = calloc(1, sizeof(*w));
	if (!w)
		return sp__err(err, -ENOMEM, "open", opts->target, -1);
	w->opts = *opts;
	rc = sp__watched_open(&w->watched, opts, err);
	if (rc == 0 && w->watched.tracer)
		rc = watch_trace(w, err);
	else if (rc == 0 && (rc = begin(w, err)) == 0)
		watch(w);
	if (rc) {
		sp__watched_close(&w->watched);
		free(w);
		return rc;
	}
	figures(w);
	w->result.cpu_ns = sp__clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	sp__watched_close(&w->watched);
	*out = w;
	return 0;
}

const struct sp_watch_result *sp_watch_result(const struct sp_watch *watch)
{
	return &watch->result;
}

void sp_watch_free(struct sp_watch *watch)
{
	free(watch);
}

SP__ENUM_TABLE(sp_watch_source, { "auto", SP_WATCH_AUTO }, { "stat", SP_WATCH_STAT },
	       { "inflight", SP_WATCH_INFLIGHT }, { "fdinfo", SP_WATCH_FDINFO },
	       { "trace", SP_WATCH_TRACE })

const char *sp_watch_source_about(enum sp_watch_source source)
{
	static const char *const about[] = {
		"",
		"requests in the device's queue and in the scheduler",
		"requests given to the driver",
		"operations that io_uring has taken but not completed",
		"every block request, from start to completion",
	};

	return about[source];
}
