/* SPDX-License-Identifier: MIT */
/*
 * Measures rates that any device has: by the number of outstanding requests, by their size, and
 * whether the rate is cut after a burst.
 *
 * The knee is the lowest depth (or size) from which doubling gains less than a tenth.  Depths are
 * measured with random reads.  Sizes are measured with one request at a time, so depth does not
 * hide their effect.  A point takes about POINT_NS, all of them a few seconds.
 *
 * A lower rate must last for as many windows again: a pause, or load of other programs, ends.
 */
#include <stdlib.h>
#include "base/array.h"
#include "probe/depths/depths.h"

#define DEPTH_MAX 128
#define SIZE_FIRST 4096
#define SIZE_MAX_BYTES (1u << 20)
#define POINT_NS 200e6
#define READS_MAX 4096
#define READS_MIN 16
#define WINDOWS 10
#define SLOW_NS 2e6 /* a random read is slow beyond this time */
#define GAIN 1.1
#define CUT 0.6

struct load {
	struct sp__timing *tm;
	struct sp_probe_load *load;
	uint64_t lbn[READS_MAX];
	struct sp__shot shot[READS_MAX];
	double sorted[READS_MAX];
};

static int run(struct load *l, size_t n, uint32_t blocks, unsigned depth, struct sp_probe_rate *r)
{
	struct sp__timing *tm = l->tm;
	uint64_t positions = tm->target->blocks / blocks, elapsed;
	int rc = sp__timing_stopped(tm);

	for (size_t i = 0; i < n; i++)
		l->lbn[i] = sp__rng_below(&tm->rng, positions) * blocks;
	if (!rc)
		rc = tm->target->ops->stream(tm->target, l->lbn, n, blocks, depth, l->shot,
					     &elapsed);
	if (rc)
		return rc;
	tm->cost.reads += n;
	for (size_t i = 0; i < n; i++)
		l->sorted[i] = (double)(l->shot[i].done_ns - l->shot[i].issue_ns);
	*r = (struct sp_probe_rate){ .depth = depth, .bytes = blocks * tm->target->block_bytes };
	r->requests_s = (double)n / ((double)elapsed / 1e9);
	r->mb_s = r->requests_s * r->bytes / 1e6;
	r->p50_ns = sp__quantile(l->sorted, n, 0.5);
	r->p99_ns = sp__quantile(l->sorted, n, 0.99);
	return 0;
}

/* Measures a point for about POINT_NS, estimated from a short run. */
static int point(struct load *l, uint32_t blocks, unsigned depth)
{
	struct sp_probe_load *d = l->load;
	struct sp_probe_rate r;
	double n;
	int rc = run(l, READS_MIN < depth ? 2 * depth : READS_MIN, blocks, depth, &r);

	if (rc)
		return rc;
	n = fmin(fmax(r.requests_s * POINT_NS / 1e9, READS_MIN), READS_MAX);
	if (n > 2 * READS_MIN)
		rc = run(l, (size_t)n, blocks, depth, &r);
	if (rc)
		return rc;
	if (!SP__ARRAY_RESIZE(d->rates, d->nrates + 1))
		return -ENOMEM;
	d->rates[d->nrates++] = r;
	return 0;
}

static uint32_t to_blocks(const struct sp__timing *tm, uint32_t bytes)
{
	return bytes > tm->target->block_bytes ? bytes / tm->target->block_bytes : 1;
}

/* Sets *knee to the first x from which doubling gains less than a tenth. */
static void find_knee(unsigned x, double now, double *before, unsigned *knee)
{
	if (!*knee && now < GAIN * *before)
		*knee = x / 2;
	*before = now;
}

static int depths(struct load *l, uint32_t blocks)
{
	struct sp_probe_load *r = l->load;
	double before = 0;

	for (unsigned d = 1; d <= DEPTH_MAX; d *= 2) {
		int rc = point(l, blocks, d);

		if (rc)
			return rc;
		find_knee(d, r->rates[r->nrates - 1].requests_s, &before, &r->knee_depth);
		sp__timing_progress(l->tm, SP_PROBE_DEPTHS, 0.5 * d / DEPTH_MAX);
	}
	return 0;
}

static int sizes(struct load *l)
{
	struct sp_probe_load *r = l->load;
	double before = 0;

	for (uint32_t bytes = SIZE_FIRST; bytes <= SIZE_MAX_BYTES; bytes *= 2) {
		uint32_t blocks = to_blocks(l->tm, bytes);
		int rc = blocks > l->tm->target->blocks / 4 ? 1 : point(l, blocks, 1);

		if (rc)
			return rc < 0 ? rc : 0;
		find_knee(bytes, r->rates[r->nrates - 1].mb_s, &before, &r->knee_bytes);
	}
	return 0;
}

/* Measures the rates of windows under steady load. */
static int windows(struct load *l, uint32_t blocks, double from, double rate[WINDOWS])
{
	struct sp_probe_load *r = l->load;
	struct sp_probe_rate w = { 0 };
	unsigned depth = r->knee_depth ? r->knee_depth : DEPTH_MAX;
	int rc = 0;

	for (unsigned i = 0; i < WINDOWS && !rc; i++) {
		rc = run(l, READS_MAX / 4, blocks, depth, &w);
		rate[i] = w.requests_s;
		sp__timing_progress(l->tm, SP_PROBE_DEPTHS, from + 0.15 * i / WINDOWS);
	}
	return rc;
}

/* True if the rate falls to a lower level and stays there. */
static int throttling(struct load *l, uint32_t blocks)
{
	struct sp_probe_load *r = l->load;
	double rate[WINDOWS], early, late = 0;
	int rc = windows(l, blocks, 0.7, rate);

	if (rc)
		return rc;
	early = fmax(rate[0], rate[1]);
	for (unsigned i = WINDOWS - 4; i < WINDOWS; i++)
		late = fmax(late, rate[i]);
	r->throttle_share = 1;
	if (late >= CUT * early)
		return 0;
	rc = windows(l, blocks, 0.85, rate);
	for (unsigned i = 0; i < WINDOWS && !rc; i++) {
		r->throttle_looks++;
		r->throttle_look_misses += rate[i] >= CUT * early || rate[i] < CUT * late;
	}
	r->throttled = r->throttle_looks && 5 * r->throttle_look_misses <= r->throttle_looks;
	if (r->throttled)
		r->throttle_share = late / early;
	return rc;
}

int sp__depths_find(struct sp__depths *d, double latency_ns)
{
	struct load *l = malloc(sizeof(*l));
	uint32_t blocks = to_blocks(d->tm, SIZE_FIRST);
	int rc;

	if (!l)
		return -ENOMEM;
	l->tm = d->tm;
	l->load = d->load;
	rc = depths(l, blocks);
	if (!rc)
		rc = sizes(l);
	/* The rate of a slow device is not cut. */
	if (!rc && latency_ns < SLOW_NS)
		rc = throttling(l, blocks);
	free(l);
	return rc == -EIO ? 0 : rc;
}
