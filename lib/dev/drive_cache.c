/* SPDX-License-Identifier: MIT */
/*
 * Implements the drive's memory: segments of read data, read-ahead, and a buffer of writes that
 * were answered but are not on the medium.
 *
 * Algorithm.  The state only changes in calls: each call first computes the activity of the drive
 * since the last one.
 *
 * - Read-ahead begins where a read ended and continues track by track. ahead keeps the last track
 *   border that it has passed, and ahead_progress() computes how far the head is beyond it at a
 *   given time.  The next use of the medium stops it, or waits until it reaches the end of a track
 *   or its own end.  A segment then holds the data read until then.
 * - A write from the buffer begins as soon as the medium is free, and is not interrupted.
 *   sp__buffer_catch_up() performs the writes that began before now.  Adjacent data is written in
 *   one operation, but at most a quarter of the buffer, and the buffer accepts data as space
 *   becomes free.  So a stream of writes of any size loses no revolution.
 *
 * So the state after a call only depends on the calls and their times.
 *
 * Invariants: ahead is active only while no written data waits; segment ahead.segment ends where
 * read-ahead is; the range of a segment has at most segment_blocks; no segment has an old version
 * of a block that waits to be written.
 *
 * Rejected: an event queue in the drive (it needs a caller that advances time), read-ahead only in
 * whole tracks (wrong by up to a revolution for a host that reads a stream slightly slower than the
 * medium).
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "dev/drive_cache_impl.h"

struct sp__drive_cache *sp__drive_cache_new(const struct sp__model *m)
{
	const struct sp__drive *d = m->impl;
	struct sp__drive_cache *c;

	c = calloc(1, sizeof(*c) + d->cache.segments * sizeof(c->segments[0]));
	if (!c)
		return NULL;
	c->m = m;
	c->d = d;
	c->cfg = &d->cache;
	return c;
}

/* Appends data to a segment; drops the oldest data if it is full. */
static void segment_grow(const struct sp__drive_cache *c, struct segment *s, uint64_t hi)
{
	s->hi = sp__max(s->hi, hi);
	if (s->hi - s->lo > c->cfg->segment_blocks)
		s->lo = s->hi - c->cfg->segment_blocks;
}

/* Returns the blocks to be read ahead next, to the end of their track. */
static struct sp__subreq ahead_subreq(const struct sp__drive_cache *c, uint64_t end)
{
	struct sp__subreq p = { .lbn = c->ahead.lbn };

	sp__drive_locate(c->d, p.lbn, (uint32_t)(end - p.lbn), &p.pos);
	p.blocks = p.pos.blocks;
	return p;
}

/* True if the leg is still valid.  Its end only matters if it was cut short. */
static bool holds(const struct leg *l, const struct ahead *a, const struct sp__arm *arm)
{
	uint64_t end = l->lbn + l->next.blocks;

	return l->next.blocks && l->lbn == a->lbn && l->at_ns == a->at_ns &&
	       l->from.cyl == arm->cyl && l->from.head == arm->head &&
	       (end < l->end ? end <= a->end : l->end == a->end);
}

/* Returns the next leg, from a->lbn < a->end on; does not move the arm. */
static const struct leg *next_leg(struct sp__drive_cache *c, const struct sp__arm *arm)
{
	const struct ahead *a = &c->ahead;
	struct leg *l = &c->leg;

	if (holds(l, a, arm))
		return l;
	*l = (struct leg){ .lbn = a->lbn,
			   .at_ns = a->at_ns,
			   .end = a->end,
			   .from = *arm,
			   .to = *arm,
			   .next = ahead_subreq(c, a->end) };
	sp__drive_media(c->d, &l->to, l->at_ns, &l->next, false, false, &l->pass);
	return l;
}

/*
 * Returns the progress of read-ahead at a time: the first LBN not read.  Advances its base, and the
 * arm, over the completed tracks; now is the arm at that time.
 */
static uint64_t ahead_progress(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			       struct sp__arm *now)
{
	struct ahead *a = &c->ahead;

	while (a->lbn < a->end) {
		const struct leg *l = next_leg(c, arm);
		const struct sp__service *s = &l->pass;
		struct sp__arm to = l->to;
		uint64_t begin;

		to.free_ns = arm->free_ns;
		if (s->done_ns > now_ns) {
			*now = now_ns < a->at_ns + s->seek_ns ? *arm : to;
			begin = s->done_ns - s->transfer_ns;
			if (now_ns <= begin)
				return a->lbn;
			return a->lbn + (now_ns - begin) * l->next.blocks / s->transfer_ns;
		}
		*arm = to;
		a->lbn += l->next.blocks;
		a->at_ns = s->done_ns;
	}
	*now = *arm;
	return a->lbn;
}

/* True if the leg needs no head movement. */
static bool on_track(const struct leg *l)
{
	return l->from.cyl == l->to.cyl && l->from.head == l->to.head;
}

/*
 * Returns the progress of read-ahead if the medium is needed at a time, and when and where the arm
 * is free then: immediately, or at the end of what the drive still reads.
 */
static uint64_t ahead_leave(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			    struct sp__arm *now, uint64_t *free_ns)
{
	const struct ahead *a = &c->ahead;
	uint64_t lbn = ahead_progress(c, arm, now_ns, now);
	bool all = c->cfg->readahead_until == SP__UNTIL_END;

	*free_ns = now_ns;
	if (c->cfg->readahead_until == SP__UNTIL_REQUEST || lbn == a->end ||
	    (!all && lbn == a->lbn && !on_track(&c->leg)))
		return lbn;
	*now = *arm;
	*free_ns = a->at_ns;
	for (lbn = a->lbn; lbn == a->lbn || (all && lbn < a->end);) {
		struct sp__subreq next = { .lbn = lbn };
		struct sp__service pass = { 0 };

		sp__drive_locate(c->d, lbn, (uint32_t)(a->end - lbn), &next.pos);
		next.blocks = next.pos.blocks;
		sp__drive_media(c->d, now, *free_ns, &next, false, false, &pass);
		lbn += next.blocks;
		*free_ns = pass.done_ns;
	}
	return lbn;
}

void sp__ahead_stop(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	struct segment *s = &c->segments[c->ahead.segment];
	uint64_t free_ns;
	struct sp__arm now;

	if (!c->ahead.active)
		return;
	segment_grow(c, s, ahead_progress(c, arm, now_ns, &now));
	s->late = s->hi;
	segment_grow(c, s, ahead_leave(c, arm, now_ns, &now, &free_ns));
	s->late_ns = free_ns;
	arm->cyl = now.cyl;
	arm->head = now.head;
	if (free_ns > now_ns)
		arm->free_ns = sp__max(arm->free_ns, free_ns);
	c->ahead.active = false;
}

/* Returns the end of the read-ahead after a read. */
static uint64_t ahead_end(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	uint64_t lbn = p->lbn + p->blocks, at = lbn - 1;
	uint64_t end = sp__min(lbn + c->cfg->readahead_blocks, c->m->blocks);
	struct sp__trackpos first, pos;

	if (c->cfg->keep_reads)
		end = sp__max(lbn, sp__min(end, p->lbn + c->cfg->segment_blocks));
	if (c->cfg->readahead_within == SP__WITHIN_DRIVE)
		return end;
	sp__drive_locate(c->d, at, (uint32_t)(end - at), &first);
	for (pos = first; at < end; at += pos.blocks) {
		sp__drive_locate(c->d, at, (uint32_t)(end - at), &pos);
		if (pos.cyl != first.cyl ||
		    (c->cfg->readahead_within == SP__WITHIN_TRACK && pos.track != first.track))
			return at;
	}
	return end;
}

/* Starts read-ahead after a read, whose end is under the head at at_ns. */
static void ahead_start(struct sp__drive_cache *c, unsigned segment, const struct sp__subreq *p,
			uint64_t at_ns)
{
	c->ahead = (struct ahead){ .active = true,
				   .segment = segment,
				   .lbn = p->lbn + p->blocks,
				   .at_ns = at_ns,
				   .end = ahead_end(c, p) };
}

/* Adds the data read ahead to its segment; now as in ahead_progress(). */
static void ahead_update(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			 struct sp__arm *now)
{
	if (c->ahead.active)
		segment_grow(c, &c->segments[c->ahead.segment],
			     ahead_progress(c, arm, now_ns, now));
	else
		*now = *arm;
}

/* Returns the segment that has the whole subrequest; segments if none has. */
static unsigned find(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	unsigned i;

	for (i = 0; i < c->cfg->segments; i++) {
		if (c->segments[i].lo <= p->lbn && p->lbn + p->blocks <= c->segments[i].hi)
			break;
	}
	return i;
}

bool sp__drive_cache_expects(const struct sp__drive_cache *c, uint64_t lbn)
{
	for (unsigned i = 0; i < c->cfg->segments; i++) {
		const struct segment *s = &c->segments[i];

		if (s->lo <= lbn && lbn <= s->hi + c->cfg->readahead_blocks && s->lo < s->hi)
			return true;
	}
	return false;
}

/* True if the present read-ahead reaches the subrequest sooner than a new start. */
static bool on_the_way(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	const struct ahead *a = &c->ahead;
	const struct segment *s = &c->segments[a->segment];

	return a->active && p->lbn >= s->lo && p->lbn + p->blocks > s->hi &&
	       (p->lbn <= s->hi || p->lbn + p->blocks <= a->end);
}

/* Serves a hit: transfers over the bus; read-ahead of the stream continues. */
static void read_hit(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		     const struct sp__subreq *p, unsigned segment, struct sp__service *s)
{
	struct ahead *a = &c->ahead;
	uint64_t end;

	s->hit = true;
	s->done_ns = start_ns + c->cfg->read_hit_ns + sp__drive_bus_ns(c->d, p->blocks);
	if (segment == c->cfg->segments)
		return;
	if (p->lbn + p->blocks > c->segments[segment].late)
		s->done_ns = sp__max(s->done_ns, c->segments[segment].late_ns +
							 sp__drive_tail_ns(c->d, p->blocks));
	c->segments[segment].used = c->count;
	if (!a->active || a->segment != segment || c->cfg->readahead_misses)
		return;
	end = ahead_end(c, p);
	if (end <= a->end)
		return;
	if (a->lbn == a->end)
		a->at_ns = sp__max(start_ns, arm->free_ns);
	a->end = end;
}

/* Continues read-ahead until the subrequest has passed. */
static void read_on(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		    const struct sp__subreq *p, struct sp__service *s)
{
	struct ahead *a = &c->ahead;
	uint64_t end = p->lbn + p->blocks;
	struct segment *seg = &c->segments[a->segment];

	if (a->lbn == a->end)
		a->at_ns = start_ns;
	while (a->lbn < end) {
		struct sp__subreq next = ahead_subreq(c, end);
		struct sp__service part = { 0 };

		sp__drive_media(c->d, arm, a->at_ns, &next, false, false, &part);
		a->lbn += next.blocks;
		a->at_ns = part.done_ns;
	}
	segment_grow(c, seg, end);
	seg->used = c->count;
	arm->free_ns = a->at_ns;
	c->blocks_writing = 0;
	s->transfer_ns = a->at_ns > start_ns ? a->at_ns - start_ns : 0;
	s->done_ns = sp__max(a->at_ns + sp__drive_tail_ns(c->d, p->blocks),
			     start_ns + c->cfg->read_hit_ns + sp__drive_bus_ns(c->d, p->blocks));
	ahead_start(c, a->segment, p, a->at_ns);
}

/* Returns the segment in which a stream continues, or the least recently used one. */
static unsigned victim(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < c->cfg->segments; i++) {
		const struct segment *s = &c->segments[i];

		if (s->lo < s->hi && s->lo <= p->lbn && p->lbn <= s->hi)
			return i;
		if (s->used < c->segments[oldest].used)
			oldest = i;
	}
	return oldest;
}

/* Stores a request's data in a segment.  Returns which, and whether they continue its contents. */
static unsigned keep(struct sp__drive_cache *c, const struct sp__subreq *p, bool *goes_on)
{
	unsigned i = victim(c, p);
	struct segment *s = &c->segments[i];

	*goes_on = s->lo < s->hi && s->lo <= p->lbn && p->lbn <= s->hi;
	if (!*goes_on)
		*s = (struct segment){ .lo = p->lbn, .hi = p->lbn };
	segment_grow(c, s, p->lbn + p->blocks);
	s->used = c->count;
	return i;
}

/* Adds the blocks that passed the head before the blocks of a read to the front of its segment. */
static void keep_passing(const struct sp__drive_cache *c, const struct sp__arm *arm,
			 const struct sp__subreq *p, struct segment *s)
{
	struct sp__subreq before = { .lbn = sp__drive_passing(c->d, p->lbn, arm->wait_ns) };

	before.blocks = (uint32_t)(p->lbn - before.lbn);
	if (s->lo != p->lbn || sp__buffer_meets(c, &before))
		return;
	s->lo = before.lbn;
	segment_grow(c, s, s->hi);
}

static void read_miss(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		      const struct sp__subreq *p, struct sp__service *s)
{
	bool goes_on;
	unsigned i;

	sp__ahead_stop(c, arm, start_ns);
	sp__drive_direct(c->d, arm, sp__max(start_ns, arm->free_ns), p, s);
	c->blocks_writing = 0;
	if (!c->cfg->segments)
		return;
	i = keep(c, p, &goes_on);
	if (c->cfg->keep_passing)
		keep_passing(c, arm, p, &c->segments[i]);
	if (!c->nwaiting && c->segments[i].hi == p->lbn + p->blocks &&
	    (goes_on || !c->cfg->readahead_streams))
		ahead_start(c, i, p, arm->free_ns);
}

static void serve_read(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		       const struct sp__subreq *p, struct sp__service *s)
{
	struct sp__arm now;
	unsigned i;

	ahead_update(c, arm, start_ns, &now);
	i = find(c, p);
	if (i < c->cfg->segments || sp__buffer_has(c, p)) {
		read_hit(c, arm, start_ns, p, i, s);
		return;
	}
	while (sp__buffer_meets(c, p))
		sp__buffer_destage(c, arm);
	if (on_the_way(c, p))
		read_on(c, arm, start_ns, p, s);
	else
		read_miss(c, arm, start_ns, p, s);
}

/* Removes written blocks from the segments. */
static void forget(struct sp__drive_cache *c, const struct sp__subreq *p)
{
	for (unsigned i = 0; i < c->cfg->segments; i++) {
		struct segment *s = &c->segments[i];

		if (s->lo >= p->lbn + p->blocks || s->hi <= p->lbn)
			continue;
		if (s->lo < p->lbn && !c->cfg->write_drops)
			s->hi = p->lbn;
		else
			s->hi = s->lo;
	}
}

/* Stores written blocks in a segment, if the drive keeps them. */
static void keep_written(struct sp__drive_cache *c, const struct sp__subreq *p)
{
	unsigned i = c->cfg->keep_writes && !c->cfg->write_drops ? find(c, p) : c->cfg->segments;
	bool goes_on;

	if (i < c->cfg->segments) {
		c->segments[i].used = c->count;
		return;
	}
	forget(c, p);
	if (c->cfg->keep_writes)
		(void)keep(c, p, &goes_on);
}

/*
 * Puts the part of a write that fits into the buffer, and leaves the rest.  Returns the time that
 * it takes.
 */
static uint64_t take(struct sp__drive_cache *c, struct sp__subreq *rest, uint64_t now_ns)
{
	struct sp__subreq part = *rest;
	uint64_t bus_ns;

	part.blocks = sp__min(rest->blocks, c->cfg->write_blocks - c->blocks_waiting);
	if (part.blocks < rest->blocks)
		part.pos.blocks = rest->pos.blocks = 0;
	bus_ns = sp__drive_bus_ns(c->d, part.blocks);
	sp__buffer_put(c, &part, now_ns + bus_ns + c->cfg->write_hit_ns);
	rest->lbn += part.blocks;
	rest->blocks -= part.blocks;
	return bus_ns;
}

static void serve_write(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
			const struct sp__subreq *p, struct sp__service *s)
{
	struct sp__subreq rest = *p;
	uint64_t now = start_ns;

	/* The answer does not wait for the medium, but read-ahead ends. */
	sp__ahead_stop(c, arm, start_ns);
	keep_written(c, p);
	if (!c->cfg->write_blocks) {
		sp__drive_direct(c->d, arm, sp__max(start_ns, arm->free_ns), p, s);
		return;
	}
	s->hit = true;
	while (rest.blocks) {
		while (c->blocks_waiting == c->cfg->write_blocks ||
		       sp__buffer_full(c, arm, now, &rest)) {
			if (!c->cfg->write_segments || !sp__buffer_writing(c, arm, now))
				sp__buffer_destage(c, arm);
			now = sp__max(now, arm->free_ns);
			s->hit = false;
		}
		now += take(c, &rest, now);
	}
	s->done_ns = now + c->cfg->write_hit_ns;
}

void sp__drive_cache_serve(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
			   const struct sp__subreq *p, struct sp__service *s)
{
	c->count++;
	c->settled = false;
	sp__buffer_catch_up(c, arm, start_ns);
	if (p->write)
		serve_write(c, arm, start_ns, p, s);
	else
		serve_read(c, arm, start_ns, p, s);
}

void sp__cache_settle(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	uint64_t free_ns;

	if (c->settled && c->settled_ns == now_ns)
		return;
	sp__buffer_catch_up(c, arm, now_ns);
	ahead_update(c, arm, now_ns, &c->now);
	c->start_ns = sp__max(now_ns, arm->free_ns);
	if (c->ahead.active) {
		ahead_leave(c, arm, now_ns, &c->now, &free_ns);
		c->start_ns = sp__max(c->start_ns, free_ns);
	}
	c->settled_ns = now_ns;
	c->settled = true;
}

static inline bool has(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	return find(c, p) < c->cfg->segments || sp__buffer_has(c, p) || on_the_way(c, p);
}

bool sp__drive_cache_hits(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			  const struct sp__subreq *p)
{
	if (p->write)
		return p->blocks <= c->cfg->write_blocks;
	sp__cache_settle(c, arm, now_ns);
	return has(c, p);
}

uint64_t sp__drive_cache_position(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
				  uint64_t before_ns, const struct sp__subreq *p, uint64_t limit_ns)
{
	uint64_t wait;

	sp__cache_settle(c, arm, now_ns);
	/* Needs no arm movement. */
	if (p->write ? sp__buffer_has_space(c, arm, now_ns, p) : has(c, p))
		return 0;
	wait = sp__max(c->start_ns - now_ns, before_ns);
	if (wait > limit_ns)
		return wait;
	return wait + sp__drive_near_ns(c->d, &c->now, now_ns + wait, p, limit_ns - wait);
}
