/* SPDX-License-Identifier: MIT */
/*
 * Idea: a request is a sequence of pieces of tracks.  For each the arm moves
 * (seek and head switch at the same time, then settling for writes), the
 * platter turns until the first place is under the head, and the places pass.
 *
 * Rotation is exact: the head's angle is computed from the absolute time by
 * integers of 128 bits, the angle still to turn is a difference of angles, and
 * the end of a piece is one rounding to the nearest nanosecond away from the
 * true end.  So rounding never adds up; all that it can do is put a head up to
 * a nanosecond behind a place that it reaches exactly in time (a head switch
 * as long as the skew).  Therefore a target missed by less than two
 * nanoseconds counts as reached.
 *
 * With zero latency a head that comes down inside the piece to be read begins
 * at once, reads on to the end of the piece and gets the rest when it comes
 * round.  For the choice among waiting requests that counts as waiting for all
 * of the revolution but the piece: as chosen by the first block such requests
 * would go first and cost most.
 *
 * The bus moves a block when it has been read, one after the other.  For
 * writes all blocks come before the medium can be done with the last.
 */
#include <errno.h>
#include <stdlib.h>
#include "dev/drive.h"
#include "dev/drive_impl.h"

typedef unsigned __int128 u128;

#define WHOLE ((u128)1 << 64) /* one revolution */

uint64_t sp__drive_period_ns(const struct sp__drive *d)
{
	return (d->period_den + d->period_num / 2) / d->period_num;
}

sp__angle sp__drive_angle(const struct sp__drive *d, uint64_t ns)
{
	uint64_t rest = ns % d->period_den;

	if (d->period_num != 1)
		rest = (uint64_t)((u128)rest * d->period_num % d->period_den);
	return sp__angle_of(rest, d->period_den);
}

uint64_t sp__drive_turn_ns(const struct sp__drive *d, u128 angle)
{
	u128 scaled = angle * d->period_den + ((u128)d->period_num << 63);

	return (uint64_t)(scaled >> 64) / d->period_num;
}

uint64_t sp__drive_seek_ns(const struct sp__drive *d, uint32_t cylinders)
{
	const struct sp__seekpoint *p = d->seek;
	size_t lo = 0, hi = d->nseek - 1;
	int64_t rise, run, ns;

	if (!cylinders)
		return 0;
	if (cylinders <= p[0].cylinders || !hi)
		return p[0].ns;
	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (p[mid].cylinders <= cylinders)
			lo = mid;
		else
			hi = mid;
	}
	run = (int64_t)p[hi].cylinders - p[lo].cylinders;
	rise = ((int64_t)p[hi].ns - (int64_t)p[lo].ns) * (cylinders - p[lo].cylinders);
	ns = (int64_t)p[lo].ns + (rise >= 0 ? rise + run / 2 : rise - run / 2) / run;
	return ns > 0 ? (uint64_t)ns : 0;
}

uint64_t sp__drive_positioning_ns(const struct sp__drive *d, uint32_t from_cyl, uint32_t from_head,
				  uint32_t cyl, uint32_t head, bool write)
{
	uint64_t ns = sp__drive_seek_ns(d, cyl > from_cyl ? cyl - from_cyl : from_cyl - cyl);

	if (head != from_head && ns < d->head_switch_ns)
		ns = d->head_switch_ns;
	return write && ns ? ns + d->write_settle_ns : ns;
}

/* A piece of one track, and the head above it. */
struct passage {
	sp__angle begin; /* of its first place */
	u128 width;	 /* up to 2^64, a whole track */
	sp__angle wait;	 /* from arrival to its begin */
	bool late;	 /* its begin was reached, but for rounding: wait is below 0 */
};

static void passage(const struct sp__drive *d, const struct sp__track *t, uint64_t lbn, uint32_t n,
		    uint64_t at_ns, struct passage *p)
{
	uint64_t first = sp__trackmap_place(d->map, lbn), end = first + n;

	if (d->map->nslips)
		end = sp__trackmap_place(d->map, lbn + n - 1) + 1;
	p->begin = sp__track_angle(t, first);
	p->width = ((u128)(end - first) << 64) / t->places;
	p->wait = p->begin - sp__drive_angle(d, at_ns);
	p->late = -p->wait <= d->slack && p->wait;
}

/* The head comes down inside the piece. */
static bool inside(const struct passage *p)
{
	return !p->late && p->wait + p->width > WHOLE;
}

/* The angle turned from arrival until the piece has passed. */
static u128 turned(const struct sp__track *t, const struct passage *p, bool zero_latency)
{
	sp__angle head, into;

	if (p->late)
		return p->width + p->wait - WHOLE;
	if (!zero_latency || !inside(p))
		return p->wait + p->width;
	/* On to the edge of the next place, and once round. */
	head = p->begin - p->wait - t->start;
	into = head * t->places; /* a place: the whole turns fall off */
	return WHOLE + ((u128)-into * sp__angle_of(1, t->places) >> 64);
}

/* The piece that begins at lbn, and the track it is on; moves the arm. */
static uint32_t next_track(const struct sp__drive *d, struct sp__arm *arm, struct sp__track *t,
			   uint64_t lbn, uint32_t blocks, bool first)
{
	uint64_t left;

	if (first)
		sp__trackmap_find(d->map, lbn, t);
	else
		do
			sp__trackmap_track(d->map, t->number + 1, t);
		while (!t->blocks);
	sp__drive_where(d, t, &arm->cyl, &arm->head);
	left = t->first_lbn + t->blocks - lbn;
	return blocks < left ? blocks : (uint32_t)left;
}

void sp__drive_media(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		     const struct sp__piece *piece, bool zero_latency, struct sp__service *s)
{
	uint64_t lbn = piece->lbn, now = start_ns;
	uint32_t left = piece->blocks;
	struct sp__track t;

	while (left) {
		bool first = left == piece->blocks;
		struct sp__arm from = *arm;
		uint32_t n = next_track(d, arm, &t, lbn, left, first);
		struct passage p;
		uint64_t seek, all, pass;

		seek = sp__drive_positioning_ns(d, from.cyl, from.head, arm->cyl, arm->head,
						piece->write);
		now += seek;
		passage(d, &t, lbn, n, now, &p);
		all = sp__drive_turn_ns(d, turned(&t, &p, zero_latency));
		pass = sp__drive_turn_ns(d, p.width);
		if (pass > all)
			pass = all;
		if (first)
			arm->begin_ns = now + all - pass;
		s->seek_ns += seek;
		s->rotate_ns += all - pass;
		s->transfer_ns += pass;
		now += all;
		lbn += n;
		left -= n;
	}
	s->done_ns = now;
}

uint64_t sp__drive_bus_ns(const struct sp__drive *d, uint32_t blocks)
{
	return (uint64_t)(((u128)d->bus_ps * blocks + 500) / 1000);
}

void sp__drive_direct(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		      const struct sp__piece *piece, struct sp__service *s)
{
	uint64_t last;

	sp__drive_media(d, arm, start_ns, piece, d->zero_latency && !piece->write, s);
	arm->free_ns = s->done_ns;
	if (!d->bus_ps)
		return;
	last = piece->write ? start_ns : arm->begin_ns;
	last += sp__drive_bus_ns(d, piece->blocks);
	if (!piece->write)
		s->done_ns += sp__drive_bus_ns(d, 1);
	if (s->done_ns < last)
		s->done_ns = last;
}

uint64_t sp__drive_reach_ns(const struct sp__drive *d, const struct sp__arm *arm, uint64_t now_ns,
			    const struct sp__piece *piece)
{
	struct sp__arm to = *arm;
	struct sp__track t;
	struct passage p;
	uint64_t ns;
	uint32_t n;

	n = next_track(d, &to, &t, piece->lbn, piece->blocks, true);
	ns = sp__drive_positioning_ns(d, arm->cyl, arm->head, to.cyl, to.head, piece->write);
	passage(d, &t, piece->lbn, n, now_ns + ns, &p);
	if (p.late)
		return ns;
	if (d->zero_latency && !piece->write && inside(&p))
		return ns + sp__drive_turn_ns(d, turned(&t, &p, true) - p.width);
	return ns + sp__drive_turn_ns(d, p.wait);
}
