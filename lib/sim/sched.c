/* SPDX-License-Identifier: MIT */
/*
 * Implements queues, trees and merging for all schedulers.
 *
 * A request merges with one that ends where it starts, or starts where it ends.  If it closes the
 * gap between two, they become one, and the older one keeps its position in the queue and its
 * deadline.
 */
#include <string.h>
#include "sim/sched.h"

static const struct sp__sched_ops *const schedulers[] = {
	&sp__sched_noop,     &sp__sched_look,	       &sp__sched_clook,   &sp__sched_sstf,
	&sp__sched_deadline, &sp__sched_deadline_prio, &sp__sched_promote, &sp__sched_strict,
};

const struct sp__sched_ops *sp__sched_list(unsigned i)
{
	return i < sizeof(schedulers) / sizeof(*schedulers) ? schedulers[i] : NULL;
}

int sp__sched_open(struct sp__sched *s, const char *text, struct sp_errinfo *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	rc = sp__sched_parse(text, &s->ops, &s->params, err);
	if (rc)
		return rc;
	s->sorted = s->ops->sorted;
	for (unsigned i = 0; i < SP__SCHED_FIFOS_MAX; i++)
		TAILQ_INIT(&s->fifos[i].requests);
	if (s->ops->init)
		s->ops->init(s);
	s->batched = s->params.batch; /* no batch is open */
	return 0;
}

enum sp__prioclass sp__prio_class(uint16_t prio)
{
	unsigned class = prio >> 13;

	return class == SP__PRIO_NONE || class > SP__PRIO_IDLE ? SP__PRIO_BE : class;
}

static struct sp__blockreq **tree_of(struct sp__sched *s, const struct sp__blockreq *r)
{
	return &s->trees[s->ops->tree ? s->ops->tree(s, r) : 0];
}

unsigned sp__sched_by_direction(const struct sp__sched *s, const struct sp__blockreq *r)
{
	(void)s;
	return r->write;
}

unsigned sp__sched_fifo(const struct sp__sched *s, const struct sp__blockreq *r)
{
	return s->ops->fifo ? s->ops->fifo(s, r) : 0;
}

struct sp__fifo *sp__sched_queue(struct sp__sched *s, unsigned number)
{
	return &s->fifos[(number + s->promoted) % SP__SCHED_FIFOS_MAX];
}

void sp__sched_add(struct sp__sched *s, struct sp__blockreq *r, uint64_t now_ns)
{
	struct sp__fifo *f = sp__sched_queue(s, sp__sched_fifo(s, r));

	r->fifo = (uint8_t)(f - s->fifos);
	r->added_ns = now_ns;
	r->expire_ns = s->ops->expire ? now_ns + s->ops->expire(s, r) : SP__NEVER;
	TAILQ_INSERT_TAIL(&f->requests, r, link);
	f->n++;
	s->n++;
	if (s->sorted)
		sp__reqtree_insert(tree_of(s, r), r);
}

static void take(struct sp__sched *s, struct sp__blockreq *r)
{
	struct sp__fifo *f = &s->fifos[r->fifo];

	TAILQ_REMOVE(&f->requests, r, link);
	f->n--;
	s->n--;
	if (s->sorted)
		sp__reqtree_erase(tree_of(s, r), r);
}

struct sp__blockreq *sp__sched_next(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r = s->n ? s->ops->pick(s, now_ns) : NULL;

	if (r)
		take(s, r);
	return r;
}

void sp__sched_dispatched(struct sp__sched *s, const struct sp__blockreq *r)
{
	s->at = r->start;
	s->head = r->end;
	s->inside[sp__prio_class(r->prio)]++;
}

void sp__sched_done(struct sp__sched *s, const struct sp__blockreq *r)
{
	s->inside[sp__prio_class(r->prio)]--;
}

bool sp__sched_alike(const struct sp__sched *s, const struct sp__blockreq *a,
		     const struct sp__blockreq *b)
{
	return a->write == b->write && sp__prio_class(a->prio) == sp__prio_class(b->prio) &&
	       sp__sched_fifo(s, a) == sp__sched_fifo(s, b) &&
	       a->end - a->start + (b->end - b->start) <= s->merge_blocks_max;
}

void sp__blockreq_join(struct sp__blockreq *a, struct sp__blockreq *b)
{
	if (a->end == b->start)
		a->end = b->end;
	else
		a->start = b->start;
	a->last->merged = b;
	a->last = b->last;
}

/*
 * Returns the waiting request that can grow by r and is adjacent to it, above or below; NULL: none.
 */
static struct sp__blockreq *neighbour(struct sp__sched *s, const struct sp__blockreq *r, bool above)
{
	struct sp__blockreq *tree = *tree_of(s, r);
	struct sp__blockreq *c;

	c = above ? sp__reqtree_ceil(tree, r->end) : sp__reqtree_below(tree, r->start);
	if (!c || c->batch || (above ? c->start != r->end : c->end != r->start))
		return NULL;
	return sp__sched_alike(s, c, r) ? c : NULL;
}

/* Enlarges c, which waits, by r; its position in the tree is its start. */
static void grow(struct sp__sched *s, struct sp__blockreq *c, struct sp__blockreq *r)
{
	bool moves = c->start == r->end;

	if (moves)
		sp__reqtree_erase(tree_of(s, c), c);
	sp__blockreq_join(c, r);
	if (moves)
		sp__reqtree_insert(tree_of(s, c), c);
}

struct sp__blockreq *sp__sched_merge(struct sp__sched *s, struct sp__blockreq *r,
				     struct sp__blockreq **absorbed)
{
	struct sp__blockreq *c = neighbour(s, r, false), *other;
	bool below = c;

	*absorbed = NULL;
	if (!c)
		c = neighbour(s, r, true);
	if (!c)
		return NULL;
	grow(s, c, r);
	other = neighbour(s, c, below);
	if (!other)
		return c;
	/* The older one keeps its position in the queue, and its deadline. */
	if (other->seq < c->seq) {
		struct sp__blockreq *t = c;

		c = other;
		other = t;
	}
	take(s, other);
	grow(s, c, other);
	*absorbed = other;
	return c;
}
