/* SPDX-License-Identifier: MIT */
/*
 * Implements the device hooks of the rotating drive: one lane, and each request is one subrequest.
 *
 * The overhead of a request depends on its direction, on whether the cache serves it, and on the
 * previous request.  During it, the drive does not work for the request; it continues read-ahead
 * and writes from its buffer.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "dev/drive.h"
#include "dev/drive_cache_impl.h"
#include "dev/drive_impl.h"

/*
 * The positioning times of the subrequests of a bucket are bounded from below, so that SPTF need
 * not examine each of thousands.  No subrequest is reached before the arm has moved to its
 * cylinder.  Data that the cache has or will soon have read, and writes that fit into its buffer,
 * need no arm movement.  Buckets with such blocks have no bound, which costs time, but is correct.
 */
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

struct state {
	struct sp__arm arm;
	struct sp__drive_cache *cache; /* NULL: none */
	bool wrote;		       /* the last request served was a write */
};

const struct sp__drive *sp__model_drive(const struct sp__model *m)
{
	return m->ops == &sp__drive_ops ? m->impl : NULL;
}

static int drive_open(const struct sp__model *m, void **state)
{
	const struct sp__drive *d = m->impl;
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	if (d->cache.segments || d->cache.write_blocks) {
		s->cache = sp__drive_cache_new(m);
		if (!s->cache) {
			free(s);
			return -ENOMEM;
		}
	}
	*state = s;
	return 0;
}

static void drive_close(void *state)
{
	struct state *s = state;

	free(s->cache);
	free(s);
}

static unsigned drive_split(const struct sp__model *m, void *state, uint64_t now_ns, bool write,
			    uint64_t lbn, uint32_t *blocks, struct sp__subreq *subreqs,
			    unsigned max)
{
	const struct state *s = state;

	(void)now_ns, (void)max;
	subreqs[0] = (struct sp__subreq){ .lbn = lbn, .blocks = *blocks, .write = write };
	/* A request that the cache will answer need not be located, nor one without rivals. */
	if (!s->cache ||
	    (m->window_policy == SP__WINDOW_SPTF && !sp__drive_cache_expects(s->cache, lbn)))
		sp__drive_locate(m->impl, lbn, *blocks, &subreqs[0].pos);
	return 1;
}

static uint64_t overhead_ns(const struct sp__drive *d, struct state *s, uint64_t now_ns,
			    const struct sp__subreq *p)
{
	const uint64_t(*cases)[2] = d->overheads.begin_ns[p->write];
	bool hit = false;

	if (!d->overheads.any)
		return 0;
	if (s->cache && cases[0][s->wrote] != cases[1][s->wrote])
		hit = sp__drive_cache_hits(s->cache, &s->arm, now_ns, p);
	return cases[hit][s->wrote];
}

static uint64_t drive_position(const struct sp__model *m, void *state, uint64_t now_ns,
			       const struct sp__subreq *p, uint64_t limit_ns)
{
	const struct sp__drive *d = m->impl;
	struct state *s = state;
	uint64_t before = overhead_ns(d, s, now_ns, p);

	if (s->cache)
		return sp__drive_cache_position(s->cache, &s->arm, now_ns, before, p, limit_ns);
	if (before > limit_ns)
		return before;
	return before + sp__drive_near_ns(d, &s->arm, now_ns + before, p, limit_ns - before);
}

static void drive_bounds(const struct sp__model *m, void *state, uint64_t now_ns,
			 const struct sp__bucket *bucket, unsigned n, unsigned shift,
			 uint64_t *bound)
{
	const struct sp__subreq least = { .blocks = 1, .write = true };
	struct sp__drive_cache *c = ((struct state *)state)->cache;
	struct sp__arm *arm = &((struct state *)state)->arm;
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
				   : wait + way_ns(m->impl, arm, &bucket[i]);
	if (c)
		clear_kept(c, n, shift, bound);
}

static void drive_serve(const struct sp__model *m, void *state, uint64_t start_ns,
			const struct sp__subreq *p, struct sp__service *out)
{
	const struct sp__drive *d = m->impl;
	struct state *s = state;

	*out = (struct sp__service){ 0 };
	start_ns += overhead_ns(d, s, start_ns, p);
	if (s->cache)
		sp__drive_cache_serve(s->cache, &s->arm, start_ns, p, out);
	else
		sp__drive_direct(d, &s->arm, start_ns, p, out);
	out->done_ns += d->overheads.end_ns[p->write];
	s->wrote = p->write;
}

static uint64_t drive_drain(const struct sp__model *m, void *state, uint64_t now_ns)
{
	struct state *s = state;

	(void)m;
	return s->cache ? sp__drive_cache_drain(s->cache, &s->arm, now_ns) : now_ns;
}

const struct sp__device_ops sp__drive_ops = {
	.kind = "rotating",
	.free = sp__drive_free,
	.open = drive_open,
	.close = drive_close,
	.split = drive_split,
	.position = drive_position,
	.bounds = drive_bounds,
	.serve = drive_serve,
	.drain = drive_drain,
};
