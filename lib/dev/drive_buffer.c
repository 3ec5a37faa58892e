/* SPDX-License-Identifier: MIT */
/*
 * Implements the write buffer of the drive: chooses the data and the time of writes to the medium
 * (drive_cache.c has the algorithm).
 */
#include <string.h>
#include "base/minmax.h"
#include "dev/drive_cache_impl.h"

/* Returns the waiting write that is first when the medium is free at now_ns. */
static unsigned choose(struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns)
{
	uint64_t least = UINT64_MAX;
	unsigned best = 0;

	if (c->m->window_policy != SP__WINDOW_SPTF)
		return 0;
	for (unsigned i = 0; i < c->nwaiting && c->waiting[i].since_ns <= now_ns; i++) {
		struct waiting *w = &c->waiting[i];
		struct sp__subreq p = { .lbn = w->lbn, .blocks = w->blocks, .write = true };
		uint64_t ns;

		if (!w->pos.blocks)
			sp__drive_locate(c->d, w->lbn, w->blocks, &w->pos);
		p.pos = w->pos;
		ns = sp__drive_reach_ns(c->d, arm, now_ns, &p, false, least);
		if (ns < least) {
			least = ns;
			best = i;
		}
	}
	return best;
}

void sp__buffer_destage(struct sp__drive_cache *c, struct sp__arm *arm)
{
	uint64_t start = sp__max(arm->free_ns, c->waiting[0].since_ns);
	unsigned i = choose(c, arm, start);
	struct waiting *w = &c->waiting[i];
	struct sp__subreq p = { .lbn = w->lbn, .write = true };
	struct sp__service s = { 0 };

	p.blocks = (uint32_t)sp__min(w->blocks, c->cfg->write_blocks / 4 + 1);
	sp__ahead_stop(c, arm, start);
	start = sp__max(start, arm->free_ns);
	sp__drive_media(c->d, arm, start, &p, c->d->zero_latency[1], false, &s);
	arm->free_ns = s.done_ns;
	c->blocks_waiting -= p.blocks;
	c->blocks_writing = p.blocks;
	c->writing_end = p.lbn + p.blocks;
	w->lbn += p.blocks;
	w->blocks -= p.blocks;
	w->pos.blocks = 0;
	if (w->blocks)
		return;
	c->nwaiting--;
	memmove(w, w + 1, (c->nwaiting - i) * sizeof(*w));
}

void sp__buffer_catch_up(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	while (c->nwaiting && sp__max(arm->free_ns, c->waiting[0].since_ns) < now_ns)
		sp__buffer_destage(c, arm);
}

uint64_t sp__drive_cache_drain(struct sp__drive_cache *c, struct sp__arm *arm, uint64_t now_ns)
{
	c->settled = false;
	while (c->nwaiting)
		sp__buffer_destage(c, arm);
	return sp__max(arm->free_ns, now_ns);
}

static bool meets(const struct waiting *w, const struct sp__subreq *p)
{
	return w->lbn < p->lbn + p->blocks && p->lbn < w->lbn + w->blocks;
}

bool sp__buffer_has(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	for (unsigned i = 0; i < c->nwaiting; i++) {
		const struct waiting *w = &c->waiting[i];

		if (w->lbn <= p->lbn && p->lbn + p->blocks <= w->lbn + w->blocks)
			return true;
	}
	return false;
}

bool sp__buffer_meets(const struct sp__drive_cache *c, const struct sp__subreq *p)
{
	for (unsigned i = 0; i < c->nwaiting; i++) {
		if (meets(&c->waiting[i], p))
			return true;
	}
	return false;
}

/* True if p continues the last extent, which waits or is being written. */
static bool goes_on(const struct sp__drive_cache *c, bool writing, const struct sp__subreq *p)
{
	const struct waiting *last = c->nwaiting ? &c->waiting[c->nwaiting - 1] : NULL;

	return last ? last->lbn + last->blocks == p->lbn : writing && c->writing_end == p->lbn;
}

bool sp__buffer_writing(const struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns)
{
	return c->blocks_writing && arm->free_ns > now_ns;
}

bool sp__buffer_full(const struct sp__drive_cache *c, const struct sp__arm *arm, uint64_t now_ns,
		     const struct sp__subreq *p)
{
	bool writing = sp__buffer_writing(c, arm, now_ns);

	if (!c->cfg->write_segments)
		return c->nwaiting == WAITING_MAX;
	return c->nwaiting + writing >= c->cfg->write_segments && !goes_on(c, writing, p);
}

bool sp__buffer_has_space(const struct sp__drive_cache *c, const struct sp__arm *arm,
			  uint64_t now_ns, const struct sp__subreq *p)
{
	uint32_t used =
		c->blocks_waiting + (sp__buffer_writing(c, arm, now_ns) ? c->blocks_writing : 0);

	return used + p->blocks <= c->cfg->write_blocks && !sp__buffer_full(c, arm, now_ns, p);
}

void sp__buffer_put(struct sp__drive_cache *c, const struct sp__subreq *p, uint64_t now_ns)
{
	struct waiting *last = c->nwaiting ? &c->waiting[c->nwaiting - 1] : NULL;

	c->blocks_waiting += p->blocks;
	if (last && last->lbn + last->blocks == p->lbn) {
		last->blocks += p->blocks;
		last->pos.blocks = 0;
	} else {
		c->waiting[c->nwaiting++] = (struct waiting){
			.lbn = p->lbn, .blocks = p->blocks, .since_ns = now_ns, .pos = p->pos
		};
	}
}
