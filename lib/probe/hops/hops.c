/* SPDX-License-Identifier: MIT */
/*
 * Measures the minimum time of a hop from one track to another.
 *
 * Algorithm: a read brings the arm to the first track.  Soon after its end, a block of the other
 * track is requested at a moment chosen so that a given time u is left until its start passes the
 * head.  If the block is caught, the hop takes at most u.  If it arrives a revolution later, the
 * hop takes more.  Bisection over u finds the minimum to a few microseconds.  The block is the one
 * that passes first after the moment of issue: a drive that is idle for long after a read
 * continues to read ahead, and its arm is elsewhere.
 *
 * The moment of issue is known exactly, and the passing of the block from many samples.  So the
 * noise of a single completion must only be less than half a revolution, to identify the passing
 * to which it belongs.  The length of a block does not limit the resolution.  Each answer, for any
 * u, bounds the time to one revolution, so seeks longer than a revolution need no special case.
 *
 * A drive with a cache reads ahead, and then answers when it reaches the block by itself.  It
 * never reads backwards, so hops start from the farther track, and on one track they go to its
 * first block.
 *
 * Queued pairs cannot be timed in this way.  For them the block is chosen instead of the moment,
 * and the resolution is one block.
 */
#include <stdbool.h>
#include <stdint.h>
#include "dev/drive.h"
#include "probe/hops/hops.h"

/* Computes cylinders and heads of tracks, and names the order of heads. */

void sp__order_where(const struct sp__trackorder *o, uint64_t track, uint64_t *cyl, uint64_t *head)
{
	uint64_t round = (uint64_t)o->band * o->surfaces, at;

	*head = 0;
	*cyl = track;
	if (o->kind == SP__ORDER_CYLINDER) {
		*cyl = track / o->surfaces;
		*head = track % o->surfaces;
		if (o->reverses && *cyl % 2)
			*head = o->surfaces - 1 - *head;
	} else if (o->kind == SP__ORDER_BANDS) {
		*head = track % round / o->band;
		at = track % o->band;
		at = *head % 2 != o->descends ? o->band - 1 - at : at;
		*cyl = track / round * o->band + at;
	}
}

const char *sp__order_values(const struct sp__trackorder *o)
{
	switch (o->kind) {
	case SP__ORDER_CYLINDER:
		return sp__layout_names[o->reverses ? SP__LAYOUT_CYLINDER_SERPENTINE
						    : SP__LAYOUT_CYLINDER];
	case SP__ORDER_BANDS:
		return sp__layout_names[o->whole ? SP__LAYOUT_SURFACE_SERPENTINE
						 : SP__LAYOUT_HYBRID_SERPENTINE];
	case SP__ORDER_SURFACE:
		return sp__layout_names[SP__LAYOUT_SURFACE_SERPENTINE];
	default:
		return NULL;
	}
}

#define STEPS_MAX 40
#define SHOTS 4	      /* until one succeeds */
#define CHECK 12      /* readings of an angle that was predicted */
#define AGREES 5      /* standard errors */
#define GAP_NS 160000 /* from the end of the first read to the issue of the second */

struct hop {
	struct sp__hopper *hp;
	uint64_t from, to; /* a block; a track's first block */
	uint32_t to_blocks;
	double from_rev; /* angle at which `from` ends */
	double to_rev;	 /* angle at which `to` begins */
	uint64_t first;	 /* first block of the first track */
	uint32_t from_blocks;
	double first_rev; /* the angle at which it begins */
	bool write;
	bool behind;	     /* the drive may read ahead */
	double lo_ns, hi_ns; /* between these lies the time */
};

static int issue(struct hop *h, uint64_t lbn, struct sp__shot *s)
{
	struct sp__hopper *hp = h->hp;
	int rc = sp__timing_stopped(hp->tm);

	if (rc)
		return rc;
	hp->tm->cost.writes += h->write;
	hp->tm->cost.reads += !h->write;
	return hp->tm->target->ops->transfer(hp->tm->target, lbn, h->write, s);
}

/* Returns the last moment, up to ns (since epoch), at which an angle passes. */
static double passing(const struct sp__hopper *hp, double rev, double ns)
{
	double first = hp->tm->spin.anchor_ns + rev * hp->tm->spin.period_ns;

	return first + floor((ns - first) / hp->tm->spin.period_ns) * hp->tm->spin.period_ns;
}

/* Returns the block of the track whose start passes first after a moment, and its time. */
static uint64_t soonest(const struct hop *h, double ns, double *start_ns, double *rev)
{
	double revs = (ns - h->hp->tm->spin.anchor_ns) / h->hp->tm->spin.period_ns - h->to_rev;
	uint32_t block = (uint32_t)ceil((revs - floor(revs)) * h->to_blocks) % h->to_blocks;

	*rev = h->to_rev + (double)block / h->to_blocks;
	*start_ns = passing(h->hp, *rev, ns) + h->hp->tm->spin.period_ns;
	return h->to + block;
}

/*
 * Makes one hop with u left; returns the time that was really left, and whether it was enough.
 * -EAGAIN: the hop failed.
 */
static int shoot(struct hop *h, double u, double *left, bool *caught)
{
	struct sp__hopper *hp = h->hp;
	double period = hp->tm->spin.period_ns, gap = GAP_NS + 3 * hp->tm->scatter.sd_ns, at, end,
	       rev, sent;
	double late;
	struct sp__shot s;
	uint64_t lbn;
	int rc = hp->tm->cache.on ? sp__timing_flush(hp->tm, h->to) : 0;

	if (!rc)
		rc = sp__spin_look(hp->tm);
	if (!rc)
		rc = issue(h, h->from, &s);
	if (rc)
		return rc;
	/* The angle at which the first block really ended; completions are late, rarely early. */
	end = passing(hp, h->from_rev, (double)(s.done_ns - hp->tm->spin.epoch_ns) + period / 8);
	if (h->behind && h->to == h->first) {
		lbn = h->to;
		rev = h->to_rev;
		at = passing(hp, rev, end + gap + u) + period;
	} else {
		lbn = soonest(h, end + gap + u, &at, &rev);
	}
	if ((double)(hp->tm->target->ops->now(hp->tm->target) - hp->tm->spin.epoch_ns) > at - u)
		return -EAGAIN;
	hp->tm->target->ops->wait(hp->tm->target, hp->tm->spin.epoch_ns + (uint64_t)(at - u));
	rc = issue(h, lbn, &s);
	if (rc)
		return rc;
	/* On one track a block can be as fast as from memory without being there. */
	if (hp->tm->cache.on && h->to != h->first && s.done_ns - s.issue_ns < hp->tm->cache.hit_ns)
		return -EAGAIN;
	sent = (double)(s.issue_ns - hp->tm->spin.epoch_ns);
	end = (double)(s.done_ns - hp->tm->spin.epoch_ns) - period / h->to_blocks;
	late = end;
	end = passing(hp, rev, end + period / 8);
	late -= end;
	/* Too late: it can belong to another passing. */
	if (late < -4 * hp->tm->scatter.sd_ns - sp__hop_fine(hp) || late > period / 2)
		return -EAGAIN;
	*left = at - sent;
	*caught = end < at + period / 2;
	/* The time that would not have been enough, from the completion. */
	if (!*caught)
		*left = end - sent - period;
	return 0;
}

static int narrow(struct hop *h, double u)
{
	double left;
	bool caught;
	int rc = shoot(h, u, &left, &caught);

	if (rc)
		return rc == -EAGAIN ? 0 : rc;
	if (caught)
		h->hi_ns = fmin(h->hi_ns, left);
	else
		h->lo_ns = fmax(h->lo_ns, left);
	return 0;
}

static int bisect(struct hop *h)
{
	int rc = 0;

	for (unsigned i = 0; i < STEPS_MAX && !rc && h->hi_ns - h->lo_ns > sp__hop_fine(h->hp); i++)
		rc = narrow(h, h->lo_ns + (h->hi_ns - h->lo_ns) / 2);
	return rc;
}

/* True if u is enough, or not enough, as expected. */
static int shoot_surely(struct hop *h, double u, bool expected, bool *sure)
{
	double left;
	bool caught = !expected;
	int rc = -EAGAIN;

	for (unsigned i = 0; i < SHOTS && rc == -EAGAIN; i++)
		rc = shoot(h, u, &left, &caught);
	*sure = !rc && caught == expected;
	return rc == -EAGAIN ? 0 : rc;
}

/* Repeats both sides, slightly farther out.  False: one of them was wrong. */
static int confirm(struct hop *h, bool *sure)
{
	double out = 2 * sp__hop_fine(h->hp);
	int rc;

	*sure = false;
	if (h->hi_ns < h->lo_ns)
		return 0;
	rc = shoot_surely(h, h->hi_ns + out, true, sure);
	if (!rc && *sure && h->lo_ns > out)
		rc = shoot_surely(h, h->lo_ns - out, false, sure);
	return rc;
}

/* Sets the interval, one revolution wide, that any hop gives. */
static int bracket(struct hop *h)
{
	double left, period = h->hp->tm->spin.period_ns;
	bool caught;
	int rc = -EAGAIN;

	for (unsigned i = 0; i < STEPS_MAX && rc == -EAGAIN; i++)
		rc = shoot(h, period * sp__rng_real(&h->hp->tm->rng), &left, &caught);
	if (rc)
		return rc == -EAGAIN ? -ENODATA : rc;
	h->hi_ns = caught ? left : left + period;
	h->lo_ns = fmax(h->hi_ns - period, 0);
	return 0;
}

/* Returns the angle at which a block ends, by completions of reads or of writes. */
static int angle(struct hop *h, uint64_t lbn, unsigned n, double *rev)
{
	double revs[SP__ANGLE_MAX];
	struct sp__shot s;
	int rc = sp__spin_look(h->hp->tm);

	if (!h->write)
		return sp__angle_exact(h->hp->tm, lbn, n, rev);
	n = n > SP__ANGLE_MAX ? SP__ANGLE_MAX : n;
	for (unsigned i = 0; i < n && !rc; i++) {
		rc = issue(h, lbn, &s);
		revs[i] = sp__rev_at(h->hp->tm, s.done_ns);
	}
	if (!rc)
		*rev = sp__rev_middle(revs, n, SP__EARLY);
	return rc;
}

/* Measures the angle at which a track begins by one of its blocks. */
static int start_of(struct hop *h, uint64_t first, uint32_t blocks, unsigned n, double *rev)
{
	int rc = angle(h, first + blocks / 2, n, rev);

	*rev -= (blocks / 2 + 1.0) / blocks;
	return rc;
}

/* Measures the angle of the base. */
static int start_of_datum(struct hop *h, uint64_t track, uint64_t first, uint32_t blocks,
			  double *rev)
{
	struct sp__datum *d = &h->hp->datum[h->write];
	int rc = 0;

	if (!d->known || d->track != track || d->looks != h->hp->tm->spin.looks) {
		rc = start_of(h, first, blocks, 2 * h->hp->exact, &d->rev);
		d->track = track;
		d->looks = h->hp->tm->spin.looks;
		d->known = !rc;
	}
	*rev = d->rev;
	return rc;
}

/*
 * Finds the angle of the other track.  If the skews predict it, they are more exact than many
 * samples; a few must agree.
 */
static int start_of_other(struct hop *h, uint64_t datum, double datum_rev, uint64_t track,
			  uint64_t first, uint32_t blocks, double *rev)
{
	struct sp__hopper *hp = h->hp;
	uint32_t cylinder = hp->order->kind == SP__ORDER_CYLINDER ? hp->order->surfaces : 0;
	unsigned n = hp->exact / 2 < CHECK ? CHECK : hp->exact / 2;
	double skew;
	int rc;

	if (!h->write && sp__skew_between(hp->tracks, cylinder, datum, track, &skew)) {
		rc = start_of(h, first, blocks, n, rev);
		if (rc)
			return rc;
		skew += datum_rev;
		if (fabs(sp__wrap(*rev - skew)) < AGREES * sp__angle_error(hp->tm, n) + 0.0002) {
			*rev = skew;
			return 0;
		}
	}
	return start_of(h, first, blocks, 2 * hp->exact, rev);
}

/* Sets both tracks, and the blocks of the hop. */
static int aim(struct hop *h, uint64_t from, uint64_t to)
{
	struct sp__hopper *hp = h->hp;
	double floor_rev = hp->tm->scatter.floor_ns / hp->tm->spin.period_ns;
	int rc;

	if (!sp__tracks_at(hp->tracks, from, &h->first, &h->from_blocks) ||
	    !sp__tracks_at(hp->tracks, to, &h->to, &h->to_blocks))
		return -ENODATA;
	if (to == hp->base) {
		rc = start_of_datum(h, to, h->to, h->to_blocks, &h->to_rev);
		if (!rc)
			rc = start_of_other(h, to, h->to_rev, from, h->first, h->from_blocks,
					    &h->first_rev);
	} else {
		rc = start_of_datum(h, from, h->first, h->from_blocks, &h->first_rev);
		if (!rc)
			rc = start_of_other(h, from, h->first_rev, to, h->to, h->to_blocks,
					    &h->to_rev);
	}
	h->first_rev -= floor_rev;
	h->to_rev -= floor_rev;
	h->from = h->first + h->from_blocks / 4;
	h->from_rev = h->first_rev + (h->from_blocks / 4 + 1.0) / h->from_blocks;
	return rc;
}

void sp__hopper_begin(struct sp__hopper *hp, struct sp__timing *tm, const struct sp__tracks *tracks,
		      const struct sp__trackorder *order)
{
	*hp = (struct sp__hopper){
		.tm = tm, .tracks = tracks, .order = order, .exact = tm->scatter.exact
	};
}

void sp__hopper_refine(struct sp__hopper *hp)
{
	hp->exact *= 2;
	hp->datum[0].known = false;
}

double sp__hop_error(const struct sp__hopper *hp)
{
	return sp__angle_error(hp->tm, 2 * hp->exact) +
	       sp__hop_fine(hp) / hp->tm->spin.period_ns / 2;
}

int sp__hop_time(struct sp__hopper *hp, uint64_t from, uint64_t to, bool write, double *ns)
{
	struct hop h = { .hp = hp, .write = write, .behind = hp->tm->cache.on && !write };
	bool sure = false;
	int rc = h.behind && to > from ? aim(&h, to, from) : aim(&h, from, to);

	for (unsigned i = 0; i < 4 && !rc && !sure; i++) {
		rc = bracket(&h);
		if (!rc)
			rc = bisect(&h);
		if (!rc)
			rc = confirm(&h, &sure);
	}
	*ns = (h.lo_ns + h.hi_ns) / 2;
	return rc || sure ? rc : -ENODATA;
}

/*
 * Submits two requests concurrently; measures the time between the end of the first and the start
 * of the second.  The first is the block that can be reached first, since the arm is already
 * there; otherwise drives would exchange them.
 */
static int shoot_queued(struct hop *h, double reach_ns, double want_rev, double *left_ns)
{
	struct sp__hopper *hp = h->hp;
	double period = hp->tm->spin.period_ns, at, end, rev, start;
	struct sp__shot s[2];
	uint64_t pair[2];
	int rc = hp->tm->cache.on ? sp__timing_flush(hp->tm, h->to) : sp__spin_look(hp->tm);
	struct hop here = *h;

	if (!rc)
		rc = issue(h, h->from, &s[0]);
	if (rc)
		return rc;
	here.to = h->first;
	here.to_blocks = h->from_blocks;
	here.to_rev = h->first_rev;
	at = (double)(hp->tm->target->ops->now(hp->tm->target) - hp->tm->spin.epoch_ns) + reach_ns +
	     GAP_NS / 2;
	pair[0] = soonest(&here, at, &end, &rev);
	end += period / h->from_blocks;
	pair[1] = soonest(h, end + want_rev * period, &at, &start);
	rc = hp->tm->target->ops->pair(hp->tm->target, pair, s);
	hp->tm->cost.reads += 2;
	if (rc)
		return rc;
	if (s[1].done_ns <= s[0].done_ns)
		return -EAGAIN;
	rev += 1.0 / h->from_blocks;
	end = passing(hp, rev, (double)(s[0].done_ns - hp->tm->spin.epoch_ns) + period / 8);
	at = (double)(s[1].done_ns - hp->tm->spin.epoch_ns) - period / h->to_blocks;
	*left_ns = passing(hp, start, at + period / 8) - end;
	return *left_ns > 0 ? 0 : -EAGAIN;
}

int sp__hop_queued(struct sp__hopper *hp, uint64_t from, uint64_t to, double reach_ns, double *ns)
{
	struct hop h = { .hp = hp };
	double period = hp->tm->spin.period_ns, block, lo = 0, hi = INFINITY, left = 0;
	int rc = aim(&h, from, to);

	if (rc)
		return rc;
	block = period / h.to_blocks;
	for (unsigned i = 0; i < STEPS_MAX && !rc && hi - lo > 1.5 * block; i++) {
		double want = isinf(hi) ? sp__rng_real(&hp->tm->rng) : (lo + hi) / 2 / period;

		rc = shoot_queued(&h, reach_ns, want, &left);
		if (rc == -EAGAIN) {
			rc = 0;
			continue;
		}
		hi = fmin(hi, left);
		lo = fmax(lo, left - period);
	}
	*ns = (lo + hi) / 2;
	return rc || hi - lo <= 3 * block ? rc : -ENODATA;
}
