/* SPDX-License-Identifier: MIT */
/*
 * Implements the schedulers without deadlines.
 *
 * clook and sstf measure distances from the end of the last request, like the simulator that
 * produced the oracle files.
 */
#include "sim/sched.h"

static struct sp__blockreq *noop_pick(struct sp__sched *s, uint64_t now_ns)
{
	(void)now_ns;
	return TAILQ_FIRST(&s->fifos[0].requests);
}

/*
 * Picks upwards from the end of the last request, or downwards from its start.  The sweep reverses
 * to all requests that it cannot reach, so a request that overlaps the last one is not lost.
 */
static struct sp__blockreq *look_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r;

	(void)now_ns;
	if (s->down)
		r = sp__reqtree_below(s->trees[0], s->at);
	else
		r = sp__reqtree_ceil(s->trees[0], s->head);
	if (r)
		return r;
	s->down = !s->down;
	if (s->down)
		return sp__reqtree_below(s->trees[0], s->head);
	return sp__reqtree_ceil(s->trees[0], s->at);
}

static struct sp__blockreq *clook_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *r = sp__reqtree_ceil(s->trees[0], s->head);

	(void)now_ns;
	return r ? r : sp__reqtree_ceil(s->trees[0], 0);
}

static struct sp__blockreq *sstf_pick(struct sp__sched *s, uint64_t now_ns)
{
	struct sp__blockreq *above = sp__reqtree_ceil(s->trees[0], s->head);
	struct sp__blockreq *below = sp__reqtree_below(s->trees[0], s->head);

	(void)now_ns;
	if (!below)
		return above;
	/* If several start there, the first submitted. */
	below = sp__reqtree_ceil(s->trees[0], below->start);
	if (!above || s->head - below->start < above->start - s->head)
		return below;
	if (s->head - below->start > above->start - s->head)
		return above;
	return below->seq < above->seq ? below : above;
}

const struct sp__sched_ops sp__sched_noop = {
	.name = "noop",
	.params = "",
	.pick = noop_pick,
};

const struct sp__sched_ops sp__sched_look = {
	.name = "look",
	.params = "",
	.sorted = true,
	.pick = look_pick,
};

const struct sp__sched_ops sp__sched_clook = {
	.name = "clook",
	.params = "",
	.sorted = true,
	.pick = clook_pick,
};

const struct sp__sched_ops sp__sched_sstf = {
	.name = "sstf",
	.params = "",
	.sorted = true,
	.pick = sstf_pick,
};
