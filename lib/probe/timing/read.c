/* SPDX-License-Identifier: MIT */
/*
 * Reads single blocks from the platter.
 *
 * A block answered from the drive's cache gives no information on the platter.  Such answers are
 * recognised by their speed.  The block is then read again, after other reads have flushed the
 * cache.
 */
#include "base/minmax.h"
#include "probe/timing/timing.h"

#define HIT_TRIES 6

void sp__timing_begin(struct sp__timing *tm, struct sp__target *target,
		      const struct sp_probe_opts *opts)
{
	*tm = (struct sp__timing){ .target = target, .opts = opts };
	tm->rng.state = sp__mix64(opts->seed + 77);
}

int sp__timing_stopped(const struct sp__timing *tm)
{
	return tm->opts->stop && *tm->opts->stop ? -EINTR : 0;
}

void sp__timing_progress(const struct sp__timing *tm, enum sp_probe_step step, double done)
{
	if (tm->opts->progress)
		tm->opts->progress(tm->opts->progress_arg, step, done);
}

/* Returns a random block far from lbn. */
static uint64_t far_from(struct sp__timing *tm, uint64_t lbn)
{
	uint64_t half = tm->target->blocks / 2;

	return (lbn + half / 2 + sp__rng_below(&tm->rng, half ? half : 1)) % tm->target->blocks;
}

/* True if a block near lbn was read recently enough to be in the cache. */
static bool remembered(const struct sp__timing *tm, uint64_t lbn)
{
	const struct sp__cachefact *c = &tm->cache;

	for (unsigned i = 1; i <= tm->cache.flush && i <= c->count; i++) {
		uint64_t near = c->recent[(c->count - i) % SP__RECENT];

		if (sp__absdiff(near, lbn) < SP__NEAR_BLOCKS)
			return true;
	}
	return false;
}

static int read_once(struct sp__timing *tm, uint64_t lbn, struct sp__shot *s)
{
	int rc = sp__timing_stopped(tm);

	if (rc)
		return rc;
	rc = tm->target->ops->transfer(tm->target, lbn, false, s);
	tm->cost.errors += rc == -EIO;
	tm->cache.recent[tm->cache.count++ % SP__RECENT] = lbn;
	return rc;
}

int sp__timing_flush(struct sp__timing *tm, uint64_t lbn)
{
	struct sp__shot s;
	int rc;

	for (unsigned i = 0; i < tm->cache.flush; i++) {
		rc = read_once(tm, far_from(tm, lbn), &s);
		if (rc && rc != -EIO)
			return rc;
		tm->cost.flush_reads++;
	}
	return 0;
}

int sp__timing_read(struct sp__timing *tm, uint64_t lbn, struct sp__shot *s)
{
	int rc = 0;

	if (tm->cache.on && remembered(tm, lbn))
		rc = sp__timing_flush(tm, lbn);
	for (unsigned i = 0; i < HIT_TRIES && !rc; i++) {
		rc = read_once(tm, lbn, s);
		tm->cost.reads++;
		if (rc || !tm->cache.on || s->done_ns - s->issue_ns >= tm->cache.hit_ns)
			return rc;
		tm->cost.cache_hits++;
		rc = sp__timing_flush(tm, lbn);
	}
	return rc;
}

double sp__rev_at(const struct sp__timing *tm, uint64_t ns)
{
	double turns = ((double)(ns - tm->spin.epoch_ns) - tm->spin.anchor_ns) / tm->spin.period_ns;

	return turns - floor(turns);
}

int sp__angle_read(struct sp__timing *tm, uint64_t lbn, unsigned n, double *rev, uint64_t *done_ns)
{
	double revs[SP__ANGLE_MAX];
	struct sp__shot s = { 0 };

	for (unsigned i = 0; i < n; i++) {
		int rc = sp__timing_read(tm, lbn, &s);

		if (rc)
			return rc;
		revs[i] = sp__rev_at(tm, s.done_ns);
	}
	*rev = sp__rev_middle(revs, n, SP__EARLY);
	*done_ns = s.done_ns;
	return 0;
}

/* A half-normal distribution: its quantile SP__EARLY, and the minimum of few samples. */
double sp__angle_error(const struct sp__timing *tm, unsigned n)
{
	return fmax(0.34 / sqrt(n), 1.25 / (n + 1)) * tm->scatter.sd_ns / tm->spin.period_ns;
}
