/* SPDX-License-Identifier: MIT */
/*
 * Implements the schedulers with deadlines or priorities: deadline, strict, deadline-prio, promote.
 *
 * deadline: batches in block order, interrupted by requests whose deadline passed.  Reads and
 * writes each have a tree by block and a queue by age.  A batch ascends in one tree.  When it
 * reaches its maximum length, or the tree has no request above, the direction is chosen again
 * (reads, unless writes have been passed over writes_starved times).  The next batch begins with
 * the oldest request of that direction if it has expired, else where the last batch of that tree
 * ended.  The device's window corresponds to the dispatch queue of the kernel: a request that has
 * been picked is dispatched.
 *
 * strict keeps this state for each class.  A class is served only if higher ones have no request
 * waiting or in the device, except that a request that has waited for the aging time is served
 * first.  As in the kernel, only the request that its class would choose is considered.
 *
 * Sources: Hall & Bonnet 2005, section 2.1 (expiry of 1 s and 5 s); behaviour of Linux 2.6 (batch
 * of 16, writes passed over twice) and of mq-deadline in Linux 6 (expiry of 0.5 s and 5 s, aging of
 * 10 s).
 */
#include "base/minmax.h"
#include "sim/sched.h"

/*
 * promote: the queues of a storage server, Hall & Bonnet 2005, section 5.
 *
 * Algorithm.  Each priority level has a queue by age.  The highest one that is not empty is active:
 * its requests are dispatched.  Once it is empty, all waiting requests move up by one queue, and
 * the highest one that is not empty becomes active.  FIFOs form a ring, so a promotion moves its
 * start and no request: queues above the active one are empty.
 *
 * The paper says that low requests cannot starve.  This holds if the active queue is closed to
 * arriving requests, whose levels therefore count from one below the top; the next active queue is
 * promoted until it is there.  A request then waits for at most as many active queues as there are
 * levels.  With "open", requests join the active queue, and lower queues wait while such requests
 * arrive.
 */
static unsigned arrival(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return sp__sched_level(s, r) + !s->params.open;
}

static struct sp__blockreq *promote_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r;
	unsigned active = 0;

	(void)now_ns;
	while (!sp__sched_queue(s, active)->n)
		active++;
	r = TAILQ_FIRST(&sp__sched_queue(s, active)->requests);
	if (!s->params.open)
		s->promoted += active;
	else if (!TAILQ_NEXT(r, link))
		s->promoted++;
	return r;
}

const struct sp__sched_ops sp__sched_promote = {
	.name = "promote",
	.params = "queues open",
	.defaults = { .levels = 5 },
	.fifo = arrival,
	.pick = promote_pick,
};

/*
 * deadline-prio: the deadline scheduler with priorities of Hall & Bonnet 2005, section
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
 * s, 3 s and 9 s in its measurements.  It does not give a size of the groups; this code assumes a
 * fifth of the 256 requests that some drivers of the time had.  The pool is not in the paper.  By
 * Little's law, the latencies of the paper's figure 7 mean that the scheduler has more low requests
 * when there are fewer high ones, which is impossible with groups.
 */
#define MS 1000000ull
#define REQUESTS 256

static void prio_init(struct sp__sched *s)
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

static uint64_t prio_expire(const struct sp__sched *s, const struct sp__blockreq *r)
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

/* Returns the next direction: reads, unless waiting writes have been passed over often enough. */
static unsigned sched_direction(struct sp__sched *s, bool reads, bool writes)
{
	if (reads && !(writes && s->starved >= s->params.writes_starved)) {
		s->starved += writes;
		return 0;
	}
	s->starved = 0;
	return 1;
}

static struct sp__blockreq *prio_pick(struct sp__sched *s, uint64_t now_ns)
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
			s->dir = sched_direction(s, s->trees[0], s->trees[1]);
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
	.init = prio_init,
	.tree = sp__sched_by_direction,
	.fifo = sp__sched_level,
	.expire = prio_expire,
	.pick = prio_pick,
	.limit = limit,
};

#define SECOND 1000000000ull

static void deadline_init(struct sp__sched *s)
{
	s->pos[0] = s->pos[1] = SP__NEVER;
}

static uint64_t expire(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return r->write ? s->params.write_expire_ns : s->params.read_expire_ns;
}

/* Returns the request that the class would dispatch, if it arrived at latest_ns or before. */
static struct sp__blockreq *choose(struct sp__sched *s, unsigned class, uint64_t now_ns,
				   uint64_t latest_ns)
{
	unsigned base = 2 * class, dir = s->dir, starved = s->starved, batched = s->batched + 1;
	struct sp__fifo *f = &s->fifos[base];
	struct sp__blockreq *r = sp__reqtree_ceil(s->trees[base + dir], s->pos[base + dir]), *first;

	if (!f[0].n && !f[1].n)
		return NULL;
	if (!r || s->batched >= s->params.batch) {
		dir = sched_direction(s, f[0].n > 0, f[1].n > 0);
		batched = 1;
		r = sp__reqtree_ceil(s->trees[base + dir], s->pos[base + dir]);
		first = TAILQ_FIRST(&f[dir].requests);
		if (!r || first->expire_ns <= now_ns)
			r = first;
	}
	if (r->added_ns > latest_ns) {
		s->starved = starved;
		return NULL;
	}
	s->dir = dir;
	s->batched = batched;
	s->pos[base + dir] = r->end;
	return r;
}

static struct sp__blockreq *deadline_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r = choose(s, 0, now_ns, SP__NEVER);

	/* After a change of direction the oldest request is first. */
	s->pos[!s->dir] = SP__NEVER;
	return r;
}

static unsigned by_class(const struct sp__sched *s, const struct sp__blockreq *r)
{
	(void)s;
	return 2 * (sp__prio_class(r->prio) - SP__PRIO_RT) + r->write;
}

static struct sp__blockreq *strict_pick(struct sp__sched *s, uint64_t now_ns)
{
	const unsigned classes = SP__PRIO_IDLE - SP__PRIO_RT + 1;
	struct sp__blockreq *r;
	unsigned c;

	if (now_ns >= s->params.aging_ns) {
		for (c = SP__PRIO_BE - SP__PRIO_RT; c < classes; c++) {
			r = choose(s, c, now_ns, now_ns - s->params.aging_ns);
			if (r)
				return r;
		}
	}
	for (c = 0; c < classes; c++) {
		r = choose(s, c, now_ns, SP__NEVER);
		if (r || s->inside[c + SP__PRIO_RT])
			return r;
	}
	return NULL;
}

const struct sp__sched_ops sp__sched_deadline = {
	.name = "deadline",
	.params = "read write batch starved",
	.defaults = { .read_expire_ns = SECOND,
		      .write_expire_ns = 5 * SECOND,
		      .batch = 16,
		      .writes_starved = 2 },
	.sorted = true,
	.init = deadline_init,
	.tree = sp__sched_by_direction,
	.fifo = sp__sched_by_direction,
	.expire = expire,
	.pick = deadline_pick,
};

const struct sp__sched_ops sp__sched_strict = {
	.name = "strict",
	.params = "read write aging batch starved",
	.defaults = { .read_expire_ns = SECOND / 2,
		      .write_expire_ns = 5 * SECOND,
		      .aging_ns = 10 * SECOND,
		      .batch = 16,
		      .writes_starved = 2 },
	.sorted = true,
	.tree = by_class,
	.fifo = by_class,
	.expire = expire,
	.pick = strict_pick,
};
