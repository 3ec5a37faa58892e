/* SPDX-License-Identifier: MIT */
/*
 * Bounds the positioning times of the subrequests of a bucket from below, so that SPTF need not
 * examine each of thousands.
 *
 * Algorithm.  No subrequest is reached before the arm has moved to its cylinder.  Data that the
 * cache has or will soon have read, and writes that fit into its buffer, need no arm movement.
 * Buckets with such blocks have no bound, which costs time, but is correct.
 */
#include "base/minmax.h"
#include "dev/drive_cache_impl.h"

static bool monotone(const struct sp__drive *d)
{
	return d->seek[0].monotone && (!d->seek[1].n || d->seek[1].monotone);
}

/* Returns the time of the move to the nearest cylinder of a bucket. */
static uint64_t way_ns(const struct sp__drive *d, const struct sp__arm *arm,
		       const struct sp__bucket *s)
{
	uint64_t ns = UINT64_MAX;
	uint32_t way = 0;

	if (s->unlocated || !(s->reads || s->writes) || !monotone(d))
		return 0;
	if (arm->cyl < s->first_cyl)
		way = s->first_cyl - arm->cyl;
	else if (arm->cyl > s->last_cyl)
		way = arm->cyl - s->last_cyl;
	if (s->reads)
		ns = sp__drive_move_ns(d, way, false, false);
	if (s->writes)
		ns = sp__min(ns, sp__drive_move_ns(d, way, false, true));
	return ns;
}

/* Clears the bounds of the buckets of [lo, hi], whose subrequests might need no arm movement. */
static void clear(uint64_t lo, uint64_t hi, unsigned n, unsigned shift, uint64_t *bound)
{
	for (uint64_t i = lo >> shift; i <= hi >> shift && i < n; i++)
		bound[i] = 0;
}

static void clear_kept(const struct sp__drive_cache *c, unsigned n, unsigned shift, uint64_t *bound)
{
	for (unsigned i = 0; i < c->cfg->segments; i++) {
		const struct segment *s = &c->segments[i];

		if (s->lo < s->hi)
			clear(s->lo, s->hi, n, shift, bound);
	}
	if (c->ahead.active)
		clear(c->segments[c->ahead.segment].lo,
		      sp__max(c->ahead.end, c->segments[c->ahead.segment].hi), n, shift, bound);
	if (c->blocks_writing)
		clear(c->writing_end, c->writing_end, n, shift, bound);
	for (unsigned i = 0; i < c->nwaiting; i++)
		clear(c->waiting[i].lbn, c->waiting[i].lbn + c->waiting[i].blocks, n, shift, bound);
}

void sp__drive_bounds(const struct sp__drive *d, struct sp__drive_cache *c, struct sp__arm *arm,
		      uint64_t now_ns, const struct sp__bucket *bucket, unsigned n, unsigned shift,
		      uint64_t *bound)
{
	const struct sp__subreq least = { .blocks = 1, .write = true };
	bool has_space = false;
	uint64_t wait = 0;

	if (c) {
		sp__cache_settle(c, arm, now_ns);
		arm = &c->now;
		wait = c->start_ns - now_ns;
		has_space = sp__buffer_has_space(c, arm, now_ns, &least);
	}
	for (unsigned i = 0; i < n; i++)
		bound[i] = bucket[i].unlocated || (has_space && bucket[i].writes)
				   ? 0
				   : wait + way_ns(d, arm, &bucket[i]);
	if (c)
		clear_kept(c, n, shift, bound);
}
