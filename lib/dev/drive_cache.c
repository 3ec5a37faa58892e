/* SPDX-License-Identifier: MIT */
/*
 * The drive's own memory: segments of read data, read-ahead, and a buffer of
 * writes that were answered but are not on the medium.
 *
 * Idea: nothing happens by itself.  What the drive would have done since the
 * last call is worked out when the next one comes:
 *
 * - Read-ahead begins where a read ended and goes on track by track; ahead
 *   keeps the last track border that it has passed, and progress() says how far
 *   the head is beyond it at a given time.  The next use of the medium stops
 *   it; a segment holds what had been read by then.
 * - A write from the buffer begins as soon as the medium is free, and is not
 *   broken off.  catch_up(now) carries out those that began before now.  What
 *   is adjacent is written in one go, but by quarters of the buffer, so that a
 *   stream does not wait for all of it to become free.
 *
 * So the state after a call depends on the calls and their times alone.
 *
 * Invariants: ahead is active only while no written data waits; segment
 * ahead.segment ends where ahead has got to; the range of a segment holds at
 * most segment_blocks; no segment holds a block that waits to be written.
 *
 * Rejected: an event queue in the drive (needs a caller that lets time pass),
 * read-ahead in whole tracks only (wrong by up to a revolution for a host that
 * reads a stream a little slower than the medium).
 */
#include <stdlib.h>
#include <string.h>
#include "dev/drive.h"
#include "dev/drive_impl.h"

#define WAITING_MAX 128 /* extents in the write buffer */

struct segment {
	uint64_t lo, hi; /* equal: empty */
	uint64_t used;	 /* when, by count of requests */
};

struct ahead {
	bool active;
	unsigned segment;
	uint64_t lbn;	/* all before it is in the segment */
	uint64_t at_ns; /* when the head had passed it */
	uint64_t end;	/* where it is going to stop */
};

struct waiting {
	uint64_t lbn;
	uint32_t blocks;
	uint64_t since_ns;
};

struct sp__drive_cache {
	const struct sp__model *m;
	const struct sp__drive *d;
	const struct sp__cache_config *cfg;
	uint64_t count; /* of requests */
	struct ahead ahead;
	unsigned nwaiting;
	uint32_t blocks_waiting;
	uint32_t blocks_writing; /* their room is free when the medium is */
	struct waiting waiting[WAITING_MAX];
	struct segment segments[];
};

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

void sp__drive_cache_free(struct sp__drive_cache *c)
{
	free(c);
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* The data of a segment grow at the end; the oldest fall off. */
static void grow(const struct sp__drive_cache *c, struct segment *s, uint64_t hi)
{
	s->hi = max64(s->hi, hi);
	if (s->hi - s->lo > c->cfg->segment_blocks)
		s->lo = s->hi - c->cfg->segment_blocks;
}

/* The blocks that ahead reads next, to the end of their track. */
static struct sp__piece next_piece(const struct sp__drive_cache *c, uint64_t end)
{
	const struct ahead *a = &c->ahead;
	struct sp__track t;

	sp__trackmap_find(c->d->map, a->lbn, &t);
	end = min64(end, t.first_lbn + t.blocks);
	return (struct sp__piece){ .lbn = a->lbn, .blocks = (uint32_t)(end - a->lbn) };
}

/*
 * How far ahead has got at a time: returns the first LBN not read.  Moves its
 * base over the tracks that are done.  now, if not NULL, is the arm then.
 */
static uint64_t progress(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			 struct sp__arm *now)
{
	struct ahead *a = &c->ahead;

	while (a->lbn < a->end) {
		struct sp__piece p = next_piece(c, a->end);
		struct sp__service s = { 0 };
		struct sp__arm to = *arm;
		uint64_t begin;

		sp__drive_media(c->d, &to, a->at_ns, &p, false, &s);
		if (s.done_ns > now_ns) {
			*now = now_ns < a->at_ns + s.seek_ns ? *arm : to;
			begin = s.done_ns - s.transfer_ns;
			if (now_ns <= begin)
				return a->lbn;
			return a->lbn + (now_ns - begin) * p.blocks / s.transfer_ns;
		}
		*arm = to;
		a->lbn += p.blocks;
		a->at_ns = s.done_ns;
	}
	*now = *arm;
	return a->lbn;
}

/* The medium is wanted for something else at now_ns. */
static void stop_ahead(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	struct sp__arm now;

	if (!c->ahead.active)
		return;
	grow(c, &c->segments[c->ahead.segment], progress(c, arm, now_ns, &now));
	arm->cyl = now.cyl;
	arm->head = now.head;
	c->ahead.active = false;
}

/* The data of the request and what follows come from the medium by and by. */
static void start_ahead(struct sp__drive_cache *c, unsigned segment, uint64_t lbn, uint64_t at_ns)
{
	c->ahead = (struct ahead){ .active = true,
				   .segment = segment,
				   .lbn = lbn,
				   .at_ns = at_ns,
				   .end = min64(lbn + c->cfg->readahead_blocks, c->m->blocks) };
}

/* Which of the waiting writes goes first when the medium is free at now_ns. */
static unsigned choose(const struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns)
{
	uint64_t least = UINT64_MAX;
	unsigned best = 0;

	if (c->m->window_policy != SP__WINDOW_SPTF)
		return 0;
	for (unsigned i = 0; i < c->nwaiting && c->waiting[i].since_ns <= now_ns; i++) {
		struct sp__piece p = { .lbn = c->waiting[i].lbn,
				       .blocks = c->waiting[i].blocks,
				       .write = true };
		uint64_t ns = sp__drive_reach_ns(c->d, arm, now_ns, &p);

		if (ns < least) {
			least = ns;
			best = i;
		}
	}
	return best;
}

/* Writes one waiting extent to the medium, or a part, as soon as that is free. */
static void destage(struct sp__drive_cache *c, struct sp__arm *arm)
{
	uint64_t start = max64(arm->free_ns, c->waiting[0].since_ns);
	unsigned i = choose(c, arm, start);
	struct waiting *w = &c->waiting[i];
	struct sp__piece p = { .lbn = w->lbn, .write = true };
	struct sp__service s = { 0 };

	p.blocks = (uint32_t)min64(w->blocks, c->cfg->write_blocks / 4 + 1);
	stop_ahead(c, arm, start);
	sp__drive_media(c->d, arm, start, &p, false, &s);
	arm->free_ns = s.done_ns;
	c->blocks_waiting -= p.blocks;
	c->blocks_writing = p.blocks;
	w->lbn += p.blocks;
	w->blocks -= p.blocks;
	if (w->blocks)
		return;
	c->nwaiting--;
	memmove(w, w + 1, (c->nwaiting - i) * sizeof(*w));
}

static void catch_up(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	while (c->nwaiting && max64(arm->free_ns, c->waiting[0].since_ns) < now_ns)
		destage(c, arm);
}

uint64_t sp__drive_cache_drain(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	while (c->nwaiting)
		destage(c, arm);
	return max64(arm->free_ns, now_ns);
}

static bool meets(const struct waiting *w, const struct sp__piece *p)
{
	return w->lbn < p->lbn + p->blocks && p->lbn < w->lbn + w->blocks;
}

/* Is all that is to be read in one waiting extent? */
static bool in_waiting(const struct sp__drive_cache *c, const struct sp__piece *p)
{
	for (unsigned i = 0; i < c->nwaiting; i++) {
		const struct waiting *w = &c->waiting[i];

		if (w->lbn <= p->lbn && p->lbn + p->blocks <= w->lbn + w->blocks)
			return true;
	}
	return false;
}

static bool any_waiting(const struct sp__drive_cache *c, const struct sp__piece *p)
{
	for (unsigned i = 0; i < c->nwaiting; i++) {
		if (meets(&c->waiting[i], p))
			return true;
	}
	return false;
}

/* Brings what has been read ahead into its segment. */
static void update_segment(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	struct sp__arm now;

	if (c->ahead.active)
		grow(c, &c->segments[c->ahead.segment], progress(c, arm, now_ns, &now));
}

/* The segment that has all of the piece; segments if none. */
static unsigned find(const struct sp__drive_cache *c, const struct sp__piece *p)
{
	unsigned i;

	for (i = 0; i < c->cfg->segments; i++) {
		if (c->segments[i].lo <= p->lbn && p->lbn + p->blocks <= c->segments[i].hi)
			break;
	}
	return i;
}

/* Will reading on get to the piece sooner than a new start? */
static bool on_the_way(const struct sp__drive_cache *c, const struct sp__piece *p)
{
	const struct ahead *a = &c->ahead;
	const struct segment *s = &c->segments[a->segment];

	return a->active && p->lbn >= s->lo && p->lbn + p->blocks > s->hi &&
	       (p->lbn <= s->hi || p->lbn + p->blocks <= a->end);
}

/* A hit: over the bus; the stream is read on. */
static void read_hit(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		     const struct sp__piece *p, unsigned segment, struct sp__service *s)
{
	struct ahead *a = &c->ahead;
	uint64_t end = min64(p->lbn + p->blocks + c->cfg->readahead_blocks, c->m->blocks);

	s->hit = true;
	s->done_ns = start_ns + c->cfg->read_hit_ns + sp__drive_bus_ns(c->d, p->blocks);
	if (segment == c->cfg->segments)
		return;
	c->segments[segment].used = c->count;
	if (!a->active || a->segment != segment || end <= a->end)
		return;
	if (a->lbn == a->end)
		a->at_ns = max64(start_ns, arm->free_ns);
	a->end = end;
}

/* Reading on until the piece has passed. */
static void read_on(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		    const struct sp__piece *p, struct sp__service *s)
{
	struct ahead *a = &c->ahead;
	uint64_t end = p->lbn + p->blocks;
	struct segment *seg = &c->segments[a->segment];

	if (a->lbn == a->end)
		a->at_ns = start_ns;
	while (a->lbn < end) {
		struct sp__piece next = next_piece(c, end);
		struct sp__service part = { 0 };

		sp__drive_media(c->d, arm, a->at_ns, &next, false, &part);
		a->lbn += next.blocks;
		a->at_ns = part.done_ns;
	}
	grow(c, seg, end);
	seg->used = c->count;
	arm->free_ns = a->at_ns;
	c->blocks_writing = 0;
	s->transfer_ns = a->at_ns > start_ns ? a->at_ns - start_ns : 0;
	s->done_ns = max64(a->at_ns + sp__drive_bus_ns(c->d, 1),
			   start_ns + c->cfg->read_hit_ns + sp__drive_bus_ns(c->d, p->blocks));
	start_ahead(c, a->segment, end, a->at_ns);
}

/* The segment that a stream goes on in, or the one unused for longest. */
static unsigned victim(const struct sp__drive_cache *c, const struct sp__piece *p)
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

static void read_miss(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		      const struct sp__piece *p, struct sp__service *s)
{
	struct segment *seg;
	unsigned i;

	stop_ahead(c, arm, start_ns);
	sp__drive_direct(c->d, arm, max64(start_ns, arm->free_ns), p, s);
	c->blocks_writing = 0;
	if (!c->cfg->segments)
		return;
	i = victim(c, p);
	seg = &c->segments[i];
	if (!(seg->lo < seg->hi && seg->lo <= p->lbn && p->lbn <= seg->hi))
		*seg = (struct segment){ .lo = p->lbn, .hi = p->lbn };
	grow(c, seg, p->lbn + p->blocks);
	seg->used = c->count;
	if (!c->nwaiting && seg->hi == p->lbn + p->blocks)
		start_ahead(c, i, seg->hi, arm->free_ns);
}

static void serve_read(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
		       const struct sp__piece *p, struct sp__service *s)
{
	unsigned i;

	update_segment(c, arm, start_ns);
	i = find(c, p);
	if (i < c->cfg->segments || in_waiting(c, p)) {
		read_hit(c, arm, start_ns, p, i, s);
		return;
	}
	while (any_waiting(c, p))
		destage(c, arm);
	if (on_the_way(c, p))
		read_on(c, arm, start_ns, p, s);
	else
		read_miss(c, arm, start_ns, p, s);
}

/* What is written is not what the segments hold any more. */
static void forget(struct sp__drive_cache *c, const struct sp__piece *p)
{
	for (unsigned i = 0; i < c->cfg->segments; i++) {
		struct segment *s = &c->segments[i];

		if (s->lo >= p->lbn + p->blocks || s->hi <= p->lbn)
			continue;
		if (s->lo < p->lbn)
			s->hi = p->lbn;
		else
			s->hi = s->lo;
	}
}

/* Does the piece fit into the write buffer at now_ns? */
static bool room(const struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns,
		 const struct sp__piece *p)
{
	uint32_t used = c->blocks_waiting + (arm->free_ns > now_ns ? c->blocks_writing : 0);

	return used + p->blocks <= c->cfg->write_blocks && c->nwaiting < WAITING_MAX;
}

static void enqueue(struct sp__drive_cache *c, const struct sp__piece *p, uint64_t now_ns)
{
	struct waiting *last = c->nwaiting ? &c->waiting[c->nwaiting - 1] : NULL;

	c->blocks_waiting += p->blocks;
	if (last && last->lbn + last->blocks == p->lbn)
		last->blocks += p->blocks;
	else
		c->waiting[c->nwaiting++] = (struct waiting){ p->lbn, p->blocks, now_ns };
}

static void serve_write(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
			const struct sp__piece *p, struct sp__service *s)
{
	uint64_t now = start_ns;

	/* The answer does not wait for the medium, but read-ahead does not go on. */
	stop_ahead(c, arm, start_ns);
	forget(c, p);
	if (p->blocks > c->cfg->write_blocks) {
		now = sp__drive_cache_drain(c, arm, start_ns);
		sp__drive_direct(c->d, arm, now, p, s);
		c->blocks_writing = 0;
		return;
	}
	while (c->blocks_waiting + p->blocks > c->cfg->write_blocks || c->nwaiting == WAITING_MAX) {
		destage(c, arm);
		now = max64(now, arm->free_ns);
	}
	s->hit = now == start_ns;
	s->done_ns = now + c->cfg->write_hit_ns + sp__drive_bus_ns(c->d, p->blocks);
	enqueue(c, p, s->done_ns);
}

void sp__drive_cache_serve(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t start_ns,
			   const struct sp__piece *p, struct sp__service *s)
{
	c->count++;
	catch_up(c, arm, start_ns);
	if (p->write)
		serve_write(c, arm, start_ns, p, s);
	else
		serve_read(c, arm, start_ns, p, s);
}

uint64_t sp__drive_cache_position(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
				  const struct sp__piece *p)
{
	struct sp__arm now = *arm;
	uint64_t start;

	catch_up(c, arm, now_ns);
	update_segment(c, arm, now_ns);
	if (p->write && room(c, arm, now_ns, p))
		return 0;
	if (!p->write && (find(c, p) < c->cfg->segments || in_waiting(c, p) || on_the_way(c, p)))
		return 0;
	now = *arm;
	if (c->ahead.active)
		progress(c, arm, now_ns, &now);
	start = max64(now_ns, arm->free_ns);
	return start - now_ns + sp__drive_reach_ns(c->d, &now, start, p);
}
