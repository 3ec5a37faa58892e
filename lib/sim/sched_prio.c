/* SPDX-License-Identifier: MIT */
/*
 * Implements deadline-prio: the deadline scheduler with priorities of Hall & Bonnet 2005, section
 * 4.1.
 *
 * Algorithm.  Reads and writes have trees by block as in deadline, but each priority level has a
 * queue by age with its own deadline.  When a batch ends, the request whose deadline passed first
 * is next, whatever its level.  If none has expired, the batches continue in the trees.
 *
 * Each level has its own group of request slots, so that no level can starve another at admission.
 * If the group of a level is full, its requests wait in order.  Alternatively, all levels share one
 * pool with a limit per level, lower for lower levels: a level is admitted while the requests of
 * all levels are below its limit.  The waiting request of the highest level is next, unless the
 * oldest one has waited for the aging time: that one is next, with the limit of the highest level.
 *
 * Of the five deadlines, the paper names the shortest and the longest, 0.25 s and 12 s, and uses 1
 * s, 3 s and 9 s in its measurements.  It does not give a size of the groups; this file assumes a
 * fifth of the 256 requests that some drivers of the time had.  The pool is not in the paper.  By
 * Little's law, the latencies of the paper's figure 7 mean that the scheduler has more low requests
 * when there are fewer high ones, which is impossible with groups.
 */
#include "base/minmax.h"
#include "sim/sched.h"

#define MS 1000000ull
#define REQUESTS 256

static void init(struct sp__sched *s)
{
	if (!s->params.group)
		s->params.group = REQUESTS / s->params.levels;
}

unsigned sp__sched_level(const struct sp__sched *s, const struct sp__blockreq *r)
{
	unsigned low = s->params.levels - 1, level = r->prio & 7;

	if (!r->prio)
		return s->params.levels / 2;
	if (sp__prio_class(r->prio) == SP__PRIO_RT)
		return 0;
	if (sp__prio_class(r->prio) == SP__PRIO_IDLE)
		return low;
	return level < low ? level : low;
}

static uint64_t expire(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return s->params.level_expire_ns[sp__sched_level(s, r)];
}

static struct sp__blockreq *expired(const struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *first = NULL, *r;
	unsigned i;

	for (i = 0; i < s->params.levels; i++) {
		r = TAILQ_FIRST(&s->fifos[i].requests);
		if (r && r->expire_ns <= now_ns && (!first || r->expire_ns < first->expire_ns))
			first = r;
	}
	return first;
}

static struct sp__blockreq *pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r = sp__reqtree_ceil(s->trees[s->dir], s->pos[s->dir]);

	if (r && s->batched < s->params.batch) {
		s->batched++;
	} else {
		s->batched = 1;
		r = expired(s, now_ns);
		if (r) {
			s->dir = r->write;
		} else {
			s->dir = sp__sched_direction(s, s->trees[0], s->trees[1]);
			r = sp__reqtree_ceil(s->trees[s->dir], s->pos[s->dir]);
			if (!r)
				r = sp__reqtree_ceil(s->trees[s->dir], 0);
		}
	}
	s->pos[s->dir] = r->end;
	return r;
}

static unsigned limit(const struct sp__sched *s, unsigned level)
{
	const struct sp__sched_params *p = &s->params;

	return p->npool ? (unsigned)p->pool[sp__min(level, p->npool - 1)] : p->group;
}

const struct sp__sched_ops sp__sched_deadline_prio = {
	.name = "deadline-prio",
	.params = "levels group pool aging batch starved",
	.defaults = { .aging_ns = 10000 * MS,
		      .batch = 16,
		      .writes_starved = 2,
		      .levels = 5,
		      .level_expire_ns = { 250 * MS, 1000 * MS, 3000 * MS, 9000 * MS,
					   12000 * MS } },
	.sorted = true,
	.init = init,
	.tree = sp__sched_by_direction,
	.fifo = sp__sched_level,
	.expire = expire,
	.pick = pick,
	.limit = limit,
};
