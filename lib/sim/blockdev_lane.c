/* SPDX-License-Identifier: MIT */
/*
 * Splits, chooses and serves requests on the lanes of a simulated device.
 *
 * Algorithm.  A dispatched request is split into subrequests, and each is appended to the list of
 * its lane.  A lane is awake if it is idle and has subrequests.  At a decision, each awake lane
 * chooses a subrequest, the first one or the one with the shortest positioning time (among many:
 * with buckets), and serves it to its end.  If the first one has waited for the age limit, it is
 * chosen.
 *
 * Buckets choose the subrequest with the shortest positioning time (SPTF) among thousands.  A
 * bucket has the subrequests whose first block is in its range of blocks.  It is searched only if
 * its nearest subrequest could be nearer than the best one found so far.  The device computes a
 * lower bound of the positioning times of a bucket (sp__device_ops.bounds), mostly from the
 * distance of the arm to the cylinders of its subrequests.  With 4096 requests all over a drive,
 * about 1 in 50 is examined.  The choice equals the choice of examining all: minimum time, then
 * first submitted.
 *
 * Rejected: a tree by cylinder.  It would also have to find the subrequests that the drive's cache
 * has.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "sim/blockdev_impl.h"

/* From this number of subrequests on, buckets cost less than a search of all. */
#define SHELVED 128

/* The subrequests of a lane by their blocks. */
#define BUCKETS 512

struct sp__bucketset {
	unsigned shift; /* bucket i has subrequests that begin in blocks from i << shift on */
	struct sp__bucket bucket[BUCKETS];
	struct sp__lane_subreq *first[BUCKETS];
};

/* The best subrequest so far. */
struct sp__nearest {
	struct sp__lane_subreq *subreq; /* NULL: none yet */
	uint64_t ns;
};

/* Returns NULL if there is no memory. */
static struct sp__bucketset *bucketset_new(uint64_t blocks)
{
	struct sp__bucketset *s = calloc(1, sizeof(*s));

	while (s && (blocks - 1) >> s->shift >= BUCKETS)
		s->shift++;
	return s;
}

/* Widens a bucket's cylinder range; the first subrequest sets it. */
static void widen(struct sp__bucket *bucket, uint32_t cyl, bool first)
{
	bucket->first_cyl = first ? cyl : sp__min(bucket->first_cyl, cyl);
	bucket->last_cyl = first ? cyl : sp__max(bucket->last_cyl, cyl);
}

static void count(struct sp__bucket *bucket, const struct sp__subreq *p, unsigned change)
{
	*(p->write ? &bucket->writes : &bucket->reads) += change;
	bucket->unlocated += p->pos.blocks ? 0 : change;
}

static void bucketset_put(struct sp__bucketset *s, struct sp__lane_subreq *p)
{
	unsigned i = (unsigned)(p->subreq.lbn >> s->shift);
	struct sp__bucket *bucket = &s->bucket[i];

	if (p->subreq.pos.blocks)
		widen(bucket, p->subreq.pos.cyl,
		      bucket->reads + bucket->writes == bucket->unlocated);
	count(bucket, &p->subreq, 1);
	p->before = NULL;
	p->beside = s->first[i];
	if (p->beside)
		p->beside->before = p;
	s->first[i] = p;
}

static void bucketset_take(struct sp__bucketset *s, struct sp__lane_subreq *p)
{
	unsigned i = (unsigned)(p->subreq.lbn >> s->shift);

	count(&s->bucket[i], &p->subreq, -1u);
	if (p->before)
		p->before->beside = p->beside;
	else
		s->first[i] = p->beside;
	if (p->beside)
		p->beside->before = p->before;
}

/*
 * Compares p with the best one.
 *
 * The limit best->ns saves the computation of the angle for most subrequests of a deep window.
 * None is better than one that takes no time, except one submitted earlier.
 */
static void lane_look(struct sp__blockdev *bd, struct sp__lane_subreq *p, struct sp__nearest *best)
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

/* Examines the subrequests of a bucket, once. */
static void look(struct sp__blockdev *bd, const struct sp__bucketset *s, unsigned i,
		 uint64_t *bound, struct sp__nearest *best)
{
	for (struct sp__lane_subreq *p = s->first[i]; p; p = p->beside)
		lane_look(bd, p, best);
	bound[i] = SP__NEVER;
}

/*
 * Returns the nearest bucket to which the arm has to move; sets the bound of empty ones to
 * SP__NEVER.  Its best subrequest excludes most other buckets; a subrequest without arm movement
 * might not.
 */
static unsigned first_of(const struct sp__bucketset *s, uint64_t *bound)
{
	unsigned best = 0;

	for (unsigned i = 0; i < BUCKETS; i++) {
		if (!s->first[i])
			bound[i] = SP__NEVER;
		if (bound[i] - 1 < bound[best] - 1)
			best = i;
	}
	return best;
}

/* Returns the subrequest with the shortest positioning time; of equal ones, the first submitted. */
static struct sp__lane_subreq *bucketset_nearest(struct sp__blockdev *bd, struct sp__lane *lane)
{
	const struct sp__model *m = bd->dev.model;
	const struct sp__bucketset *s = lane->buckets;
	struct sp__nearest best = { NULL, SP__NEVER };
	uint64_t bound[BUCKETS];

	m->ops->bounds(m, bd->dev.state, bd->now_ns, s->bucket, BUCKETS, s->shift, bound);
	look(bd, s, first_of(s, bound), bound, &best);
	for (unsigned i = 0; i < BUCKETS; i++)
		if (bound[i] <= best.ns && bound[i] != SP__NEVER)
			look(bd, s, i, bound, &best);
	return best.subreq;
}

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
		bd->lanes[i].buckets = bucketset_new(m->blocks);
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
		bucketset_put(lane->buckets, p);
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

/* Returns the subrequest that the head reaches first. */
static struct sp__lane_subreq *nearest(struct sp__blockdev *bd, struct sp__lane *lane)
{
	struct sp__nearest best = { NULL, SP__NEVER };
	struct sp__lane_subreq *p;
	unsigned n = 0;

	if (lane->buckets && lane->n >= SHELVED)
		return bucketset_nearest(bd, lane);
	for (p = TAILQ_FIRST(&lane->subreqs); p && n < bd->held; p = TAILQ_NEXT(p, link), n++)
		lane_look(bd, p, &best);
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
		bucketset_take(lane->buckets, p);
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
