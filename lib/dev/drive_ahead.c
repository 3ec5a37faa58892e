/* SPDX-License-Identifier: MIT */
/*
 * Read-ahead of the drive: its progress is computed only when it is asked for (drive_cache.c has
 * the idea).
 */
#include "base/minmax.h"
#include "dev/drive_cache_impl.h"

void sp__segment_grow(const struct sp__drive_cache *c, struct segment *s, uint64_t hi)
{
	s->hi = sp__max(s->hi, hi);
	if (s->hi - s->lo > c->cfg->segment_blocks)
		s->lo = s->hi - c->cfg->segment_blocks;
}

struct sp__piece sp__ahead_piece(const struct sp__drive_cache *c, uint64_t end)
{
	struct sp__piece p = { .lbn = c->ahead.lbn };

	sp__drive_place(c->d, p.lbn, (uint32_t)(end - p.lbn), &p.place);
	p.blocks = p.place.blocks;
	return p;
}

/* Is the leg what would be worked out now?  Its end matters only where it was cut short. */
static bool holds(const struct leg *l, const struct ahead *a, const struct sp__arm *arm)
{
	uint64_t end = l->lbn + l->next.blocks;

	return l->next.blocks && l->lbn == a->lbn && l->at_ns == a->at_ns &&
	       l->from.cyl == arm->cyl && l->from.head == arm->head &&
	       (end < l->end ? end <= a->end : l->end == a->end);
}

/* The next leg, from a->lbn < a->end on; does not move anything. */
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
			   .next = sp__ahead_piece(c, a->end) };
	sp__drive_media(c->d, &l->to, l->at_ns, &l->next, false, &l->pass);
	return l;
}

uint64_t sp__ahead_progress(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
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

void sp__ahead_stop(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	struct sp__arm now;

	if (!c->ahead.active)
		return;
	sp__segment_grow(c, &c->segments[c->ahead.segment],
			 sp__ahead_progress(c, arm, now_ns, &now));
	arm->cyl = now.cyl;
	arm->head = now.head;
	c->ahead.active = false;
}

void sp__ahead_start(struct sp__drive_cache *c, unsigned segment, uint64_t lbn, uint64_t at_ns)
{
	c->ahead = (struct ahead){ .active = true,
				   .segment = segment,
				   .lbn = lbn,
				   .at_ns = at_ns,
				   .end = sp__min(lbn + c->cfg->readahead_blocks, c->m->blocks) };
}

void sp__ahead_update(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
		      struct sp__arm *now)
{
	if (c->ahead.active)
		sp__segment_grow(c, &c->segments[c->ahead.segment],
				 sp__ahead_progress(c, arm, now_ns, now));
	else
		*now = *arm;
}
