/* SPDX-License-Identifier: MIT */
/*
 * Chooses the subrequest with the shortest positioning time (SPTF) among thousands.
 *
 * Algorithm.  Subrequests are stored in buckets by their first block.  A bucket is searched only if
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

struct sp__bucketset *sp__bucketset_new(uint64_t blocks)
{
	struct sp__bucketset *s = calloc(1, sizeof(*s));

	while (s && (blocks - 1) >> s->shift >= SP__BLOCK_BUCKETS)
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

void sp__bucketset_put(struct sp__bucketset *s, struct sp__lane_subreq *p)
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

void sp__bucketset_take(struct sp__bucketset *s, struct sp__lane_subreq *p)
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

/* Examines the subrequests of a bucket, once. */
static void look(struct sp__blockdev *bd, const struct sp__bucketset *s, unsigned i,
		 uint64_t *bound, struct sp__nearest *best)
{
	for (struct sp__lane_subreq *p = s->first[i]; p; p = p->beside)
		sp__lane_look(bd, p, best);
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

	for (unsigned i = 0; i < SP__BLOCK_BUCKETS; i++) {
		if (!s->first[i])
			bound[i] = SP__NEVER;
		if (bound[i] - 1 < bound[best] - 1)
			best = i;
	}
	return best;
}

struct sp__lane_subreq *sp__bucketset_nearest(struct sp__blockdev *bd, struct sp__lane *lane)
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
	return best.subreq;
}
