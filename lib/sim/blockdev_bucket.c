/* SPDX-License-Identifier: MIT */
/*
 * SPTF among thousands: pieces lie on buckets by the blocks where they begin, and a bucket is
 * looked through only if its nearest piece may be nearer than the best one found so far.
 *
 * The device bounds the positions of a bucket from below (sp__device_ops.bounds), mostly by the way
 * of the arm to the cylinders of its pieces.  Of 4096 requests all over a drive some 1 in 50 is
 * looked at.  The choice is that of looking at all: the least time, then the first submitted.
 *
 * Rejected: a tree by cylinder.  It would have to find the pieces that the drive's cache has, too.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "sim/blockdev_impl.h"

struct sp__bucketset *sp__bucketset_new(uint64_t blocks)
{
	struct sp__bucketset *s = calloc(1, sizeof(*s));

	while (s && (blocks - 1) >> s->shift >= SP__BLOCK_BUCKETS)
		s->shift++;
	return s;
}

/* Every piece widens the range of its bucket, which begins anew when that is empty. */
static void widen(struct sp__bucket *bucket, uint32_t cyl, bool first)
{
	bucket->first_cyl = first ? cyl : sp__min(bucket->first_cyl, cyl);
	bucket->last_cyl = first ? cyl : sp__max(bucket->last_cyl, cyl);
}

static void count(struct sp__bucket *bucket, const struct sp__piece *p, unsigned change)
{
	*(p->write ? &bucket->writes : &bucket->reads) += change;
	bucket->unplaced += p->place.blocks ? 0 : change;
}

void sp__bucketset_put(struct sp__bucketset *s, struct sp__lanepiece *p)
{
	unsigned i = (unsigned)(p->piece.lbn >> s->shift);
	struct sp__bucket *bucket = &s->bucket[i];

	if (p->piece.place.blocks)
		widen(bucket, p->piece.place.cyl,
		      bucket->reads + bucket->writes == bucket->unplaced);
	count(bucket, &p->piece, 1);
	p->before = NULL;
	p->beside = s->first[i];
	if (p->beside)
		p->beside->before = p;
	s->first[i] = p;
}

void sp__bucketset_take(struct sp__bucketset *s, struct sp__lanepiece *p)
{
	unsigned i = (unsigned)(p->piece.lbn >> s->shift);

	count(&s->bucket[i], &p->piece, -1u);
	if (p->before)
		p->before->beside = p->beside;
	else
		s->first[i] = p->beside;
	if (p->beside)
		p->beside->before = p->before;
}

/* Looks at the pieces of a bucket, once. */
static void look(struct sp__blockdev *bd, const struct sp__bucketset *s, unsigned i,
		 uint64_t *bound, struct sp__nearest *best)
{
	for (struct sp__lanepiece *p = s->first[i]; p; p = p->beside)
		sp__lane_look(bd, p, best);
	bound[i] = SP__NEVER;
}

/*
 * The nearest bucket to which the arm goes; those without pieces have no bound.  Its best makes
 * most others too far away at once, while what is at hand may be anything.
 */
static unsigned first_of(const struct sp__bucketset *s, uint64_t *bound)
{
	unsigned best = 0;

	for (unsigned i = 0; i < SP__BLOCK_BUCKETS; i++) {
		if (!s->first[i])
			bound[i] = SP__NEVER;
		if (bound[i] - 1 < bound[best] - 1)
			best = i;
	}
	return best;
}

struct sp__lanepiece *sp__bucketset_nearest(struct sp__blockdev *bd, struct sp__lane *lane)
{
	const struct sp__model *m = bd->dev.model;
	const struct sp__bucketset *s = lane->buckets;
	struct sp__nearest best = { NULL, SP__NEVER };
	uint64_t bound[SP__BLOCK_BUCKETS];

	m->ops->bounds(m, bd->dev.state, bd->now_ns, s->bucket, SP__BLOCK_BUCKETS, s->shift, bound);
	look(bd, s, first_of(s, bound), bound, &best);
	for (unsigned i = 0; i < SP__BLOCK_BUCKETS; i++)
		if (bound[i] <= best.ns && bound[i] != SP__NEVER)
			look(bd, s, i, bound, &best);
	return best.piece;
}
