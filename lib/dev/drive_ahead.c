/* SPDX-License-Identifier: MIT */
/*
 * Read-ahead of the drive: how far it has got, worked out when somebody asks
 * (drive_cache.c has the idea).
 */
#include "dev/drive_cache_impl.h"

void sp__segment_grow(const struct sp__drive_cache *c, struct segment *s, uint64_t hi)
{
	s->hi = max64(s->hi, hi);
	if (s->hi - s->lo > c->cfg->segment_blocks)
		s->lo = s->hi - c->cfg->segment_blocks;
}

struct sp__piece sp__ahead_piece(const struct sp__drive_cache *c, uint64_t end)
{
	const struct ahead *a = &c->ahead;
	struct sp__track t;

	sp__trackmap_find(c->d->map, a->lbn, &t);
	end = min64(end, t.first_lbn + t.blocks);
	return (struct sp__piece){ .lbn = a->lbn, .blocks = (uint32_t)(end - a->lbn) };
}

uint64_t sp__ahead_progress(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns,
			    struct sp__arm *now)
{
	struct ahead *a = &c->ahead;

	while (a->lbn < a->end) {
		struct sp__piece p = sp__ahead_piece(c, a->end);
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
				   .end = min64(lbn + c->cfg->readahead_blocks, c->m->blocks) };
}

void sp__ahead_update(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	struct sp__arm now;

	if (c->ahead.active)
		sp__segment_grow(c, &c->segments[c->ahead.segment],
				 sp__ahead_progress(c, arm, now_ns, &now));
}
