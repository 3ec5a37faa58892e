/* SPDX-License-Identifier: MIT */
/*
 * Implements deadline and strict: batches in block order, interrupted by requests whose deadline
 * passed.
 *
 * Algorithm.  Reads and writes each have a tree by block and a queue by age.  A batch ascends in
 * one tree.  When it reaches its maximum length, or the tree has no request above, the direction is
 * chosen again (reads, unless writes have been passed over writes_starved times).  The next batch
 * begins with the oldest request of that direction if it has expired, else where the last batch of
 * that tree ended.  The device's window corresponds to the dispatch queue of the kernel: a request
 * that has been picked is dispatched.
 *
 * strict keeps this state for each class.  A class is served only if higher ones have no request
 * waiting or in the device, except that a request that has waited for the aging time is served
 * first.  As in the kernel, only the request that its class would choose is considered.
 *
 * Sources: Hall & Bonnet 2005, section 2.1 (expiry of 1 s and 5 s); behaviour of Linux 2.6 (batch
 * of 16, writes passed over twice) and of mq-deadline in Linux 6 (expiry of 0.5 s and 5 s, aging of
 * 10 s).
 */
#include "sim/sched.h"

#define SECOND 1000000000ull

static void deadline_init(struct sp__sched *s)
{
	s->pos[0] = s->pos[1] = SP__NEVER;
}

static uint64_t expire(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return r->write ? s->params.write_expire_ns : s->params.read_expire_ns;
}

unsigned sp__sched_direction(struct sp__sched *s, bool reads, bool writes)
{
	if (reads && !(writes && s->starved >= s->params.writes_starved)) {
		s->starved += writes;
		return 0;
	}
	s->starved = 0;
	return 1;
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
		dir = sp__sched_direction(s, f[0].n > 0, f[1].n > 0);
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
