/* SPDX-License-Identifier: MIT */
/*
 * Splits, chooses and serves requests on the lanes of a simulated device.
 *
 * Algorithm.  A dispatched request is split into subrequests, and each is appended to the list of
 * its lane.  A lane is awake if it is idle and has subrequests.  At a decision, each awake lane
 * chooses a subrequest, the first one or the one with the shortest positioning time (among many:
 * blockdev_bucket.c), and serves it to its end.  If the first one has waited for the age limit, it
 * is chosen.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "sim/blockdev_impl.h"

/* From this number of subrequests on, buckets cost less than a search of all. */
#define SHELVED 128

int sp__lanes_open(struct sp__blockdev *bd)
{
	const struct sp__model *m = bd->dev.model;
	bool shelved = m->ops->bounds && bd->policy == SP__WINDOW_SPTF && bd->window >= SHELVED;
	unsigned per, n, i;

	bd->nlanes = m->lanes;
	per = bd->nlanes < 16 ? bd->nlanes : 16;
	n = bd->window * m->queues * per + SP__DEV_SUBREQS_MAX;
	bd->lanes = calloc(bd->nlanes, sizeof(*bd->lanes));
	bd->awake = calloc(bd->nlanes, sizeof(*bd->awake));
	bd->pool = calloc(n, sizeof(*bd->pool));
	if (!bd->lanes || !bd->awake || !bd->pool)
		return -ENOMEM;
	for (i = 0; i < bd->nlanes; i++) {
		bd->lanes[i].end = SP__NEVER;
		TAILQ_INIT(&bd->lanes[i].subreqs);
		if (!shelved)
			continue;
		bd->lanes[i].buckets = sp__bucketset_new(m->blocks);
		if (!bd->lanes[i].buckets)
			return -ENOMEM;
	}
	/* Untouched until it is used: a window can be much deeper than it is ever filled. */
	bd->fresh = bd->pool;
	TAILQ_INIT(&bd->free);
	bd->nfree = n;
	bd->lanes_next_ns = SP__NEVER;
	return 0;
}

void sp__lanes_close(struct sp__blockdev *bd)
{
	for (unsigned i = 0; bd->lanes && i < bd->nlanes; i++)
		free(bd->lanes[i].buckets);
	free(bd->lanes);
	free(bd->awake);
	free(bd->pool);
}

bool sp__lanes_ready(const struct sp__blockdev *bd)
{
	return bd->nawake || (bd->splitting.head && bd->nfree >= SP__DEV_SUBREQS_MAX);
}

static void wake(struct sp__blockdev *bd, struct sp__lane *lane)
{
	if (lane->awake || lane->active || !lane->n)
		return;
	lane->awake = true;
	bd->awake[bd->nawake++] = (unsigned)(lane - bd->lanes);
}

static void enqueue(struct sp__blockdev *bd, struct sp__blockreq *r,
		    const struct sp__subreq *subreq)
{
	struct sp__lane *lane = &bd->lanes[subreq->lane];
	struct sp__lane_subreq *p = TAILQ_FIRST(&bd->free);

	if (p)
		TAILQ_REMOVE(&bd->free, p, link);
	else
		p = bd->fresh++;
	bd->nfree--;
	p->subreq = *subreq;
	p->req = r;
	TAILQ_INSERT_TAIL(&lane->subreqs, p, link);
	lane->n++;
	if (lane->buckets)
		sp__bucketset_put(lane->buckets, p);
	wake(bd, lane);
}

static void split(struct sp__blockdev *bd)
{
	const struct sp__model *m = bd->dev.model;
	struct sp__subreq subreqs[SP__DEV_SUBREQS_MAX];
	struct sp__blockreq *r;
	unsigned n, i;

	while ((r = bd->splitting.head) && bd->nfree >= SP__DEV_SUBREQS_MAX) {
		uint32_t blocks = (uint32_t)(r->end - r->split);

		n = m->ops->split(m, bd->dev.state, bd->now_ns, r->write, r->split, &blocks,
				  subreqs, SP__DEV_SUBREQS_MAX);
		r->subreqs += n;
		r->split += blocks;
		if (r->split == r->end)
			sp__reqlist_pop(&bd->splitting);
		for (i = 0; i < n; i++)
			enqueue(bd, r, &subreqs[i]);
	}
}

/*
 * Compares p with the best one.
 *
 * The limit best->ns saves the computation of the angle for most subrequests of a deep window.
 * None is better than one that takes no time, except one submitted earlier.
 */
void sp__lane_look(struct sp__blockdev *bd, struct sp__lane_subreq *p, struct sp__nearest *best)
{
	const struct sp__model *m = bd->dev.model;
	uint64_t t;

	if (!best->ns && p->req->seq > best->subreq->req->seq)
		return;
	t = m->ops->position(m, bd->dev.state, bd->now_ns, &p->subreq, best->ns);
	if (!best->subreq || t < best->ns ||
	    (t == best->ns && p->req->seq < best->subreq->req->seq))
		*best = (struct sp__nearest){ p, t };
}

/* Returns the subrequest that the head reaches first. */
static struct sp__lane_subreq *nearest(struct sp__blockdev *bd, struct sp__lane *lane)
{
	struct sp__nearest best = { NULL, SP__NEVER };
	struct sp__lane_subreq *p;
	unsigned n = 0;

	if (lane->buckets && lane->n >= SHELVED)
		return sp__bucketset_nearest(bd, lane);
	for (p = TAILQ_FIRST(&lane->subreqs); p && n < bd->held; p = TAILQ_NEXT(p, link), n++)
		sp__lane_look(bd, p, &best);
	return best.subreq;
}

static struct sp__lane_subreq *choose(struct sp__blockdev *bd, struct sp__lane *lane)
{
	struct sp__lane_subreq *p = TAILQ_FIRST(&lane->subreqs);

	if (bd->policy == SP__WINDOW_SPTF && lane->n > 1 &&
	    bd->now_ns - p->req->dispatch_ns < bd->age_ns)
		p = nearest(bd, lane);
	TAILQ_REMOVE(&lane->subreqs, p, link);
	lane->n--;
	if (lane->buckets)
		sp__bucketset_take(lane->buckets, p);
	return p;
}

static void serve(struct sp__blockdev *bd, struct sp__lane *lane)
{
	const struct sp__model *m = bd->dev.model;
	struct sp__lane_subreq *p = choose(bd, lane);

	lane->active = p;
	m->ops->serve(m, bd->dev.state, bd->now_ns, &p->subreq, &lane->service);
	bd->stats.seeks += p->subreq.lbn != lane->end;
	lane->end = p->subreq.lbn + p->subreq.blocks;
	bd->lanes_next_ns = sp__min(bd->lanes_next_ns, lane->service.done_ns);
	if (!bd->nbusy++)
		bd->busy_since_ns = bd->now_ns;
}

void sp__lanes_start(struct sp__blockdev *bd)
{
	unsigned i;

	split(bd);
	for (i = 0; i < bd->nawake; i++) {
		struct sp__lane *lane = &bd->lanes[bd->awake[i]];

		lane->awake = false;
		serve(bd, lane);
	}
	bd->nawake = 0;
}

/* Ends the service of a lane's subrequest; returns its request if that was its last one. */
static struct sp__blockreq *finish(struct sp__blockdev *bd, struct sp__lane *lane)
{
	struct sp__lane_subreq *p = lane->active;
	struct sp__blockreq *r = p->req;

	bd->stats.seek_ns += lane->service.seek_ns;
	bd->stats.rotate_ns += lane->service.rotate_ns;
	bd->stats.transfer_ns += lane->service.transfer_ns;
	r->missed |= !lane->service.hit;
	lane->active = NULL;
	TAILQ_INSERT_HEAD(&bd->free, p, link);
	bd->nfree++;
	if (!--bd->nbusy)
		bd->stats.busy_ns += bd->now_ns - bd->busy_since_ns;
	wake(bd, lane);
	return --r->subreqs || r->split != r->end ? NULL : r;
}

struct sp__blockreq *sp__lanes_finish(struct sp__blockdev *bd)
{
	struct sp__reqlist done = { NULL, NULL };
	uint64_t next = SP__NEVER;
	struct sp__blockreq *r;
	unsigned i;

	for (i = 0; i < bd->nlanes; i++) {
		struct sp__lane *lane = &bd->lanes[i];

		if (!lane->active)
			continue;
		if (lane->service.done_ns > bd->now_ns) {
			next = sp__min(next, lane->service.done_ns);
			continue;
		}
		r = finish(bd, lane);
		if (r)
			sp__reqlist_push(&done, r);
	}
	bd->lanes_next_ns = next;
	return done.head;
}
