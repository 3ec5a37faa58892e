/* SPDX-License-Identifier: MIT */
/*
 * Computes the times of a rotating drive.
 *
 * Algorithm.  A request is a sequence of track segments.  For each one the arm moves (seek and head
 * switch concurrently, then settling for writes), the platter rotates until the first sector is
 * under the head, and the sectors pass.
 *
 * Rotation is exact.  The head's angle is computed from the absolute time by integers of 128 bits,
 * the remaining angle is a difference of angles, and the end of a segment is rounded once, to the
 * nearest nanosecond.  So rounding errors never add up; an error can only put a head up to a
 * nanosecond past a sector that it reaches exactly in time (a head switch as long as the skew).
 * Therefore a target missed by less than two nanoseconds counts as reached.
 *
 * Zero latency.  A head that arrives inside the segment begins immediately, continues to the end of
 * the segment, and transfers the rest after the revolution.  In the choice among waiting requests
 * this counts as waiting for the whole revolution less the segment: by their first block such
 * requests would be chosen first, and they cost most.
 *
 * Speed.  Values that the choice among many requests needs often are stored: the start of a
 * subrequest (sp__trackpos), seek times by distance, and the reciprocal of the period, which
 * replaces a division by a multiplication and one correction, exactly.
 *
 * Bus.  The bus transfers blocks one after the other, each after it was read.  For writes, all
 * blocks arrive before the medium can finish the last of them on a track.  If the bus is slower
 * than the medium, the medium waits, for a revolution if needed, and does not begin inside the
 * segment if its last block would pass before it has arrived.  A bus with bus_apart transfers
 * blocks after all have been read, or before any is written.
 */
#include <stdlib.h>
#include "base/bisect.h"
#include "base/minmax.h"
#include "dev/drive.h"
#include "dev/drive_impl.h"

typedef unsigned __int128 u128;

#define WHOLE ((u128)1 << 64) /* one revolution */

/* Cylinders of the table: 256 KiB.  Longer seeks are computed each time. */
#define TABLE_MAX 65536

sp__angle sp__drive_angle(const struct sp__drive *d, uint64_t ns)
{
	uint64_t den = d->period_den, rest = ns % den, scaled, angle;

	if (d->period_num != 1) {
		if (__builtin_mul_overflow(rest, d->period_num, &scaled))
			rest = (uint64_t)((u128)rest * d->period_num % den);
		else
			rest = scaled % den;
	}
	/* rest * 2^64 / den, or one less: the error of per_unit is less than one unit. */
	angle = (uint64_t)((u128)rest * (uint64_t)d->per_unit >> 64) +
		rest * (uint64_t)(d->per_unit >> 64);
	return 0 - angle * den < den ? angle : angle + 1;
}

/* Returns the time of a rotation by an angle in units of 2^-64 revolution; less than 2^67. */
static uint64_t rotation_ns(const struct sp__drive *d, u128 angle)
{
	u128 scaled = angle * d->period_den + ((u128)d->period_num << 63);
	uint64_t ns = (uint64_t)(scaled >> 64);

	return d->period_num == 1 ? ns : ns / d->period_num;
}

/* Interpolates between two points, or extrapolates from the last two. */
static uint64_t interpolate(const struct sp__seekcurve *c, uint32_t cylinders)
{
	const struct sp__seekpoint *p = c->points;
	int64_t rise, run, ns;

	if (!cylinders)
		return 0;
	if (cylinders <= p->cylinders || c->n == 1)
		return p->ns;
	p += SP__BISECT(c->n - 1, i, c->points[i].cylinders <= cylinders) - 1;
	run = (int64_t)p[1].cylinders - p->cylinders;
	rise = ((int64_t)p[1].ns - (int64_t)p->ns) * (cylinders - p->cylinders);
	ns = (int64_t)p->ns + (rise >= 0 ? rise + run / 2 : rise - run / 2) / run;
	return ns > 0 ? (uint64_t)ns : 0;
}

inline uint64_t sp__drive_seek_ns(const struct sp__drive *d, uint32_t cylinders, bool write)
{
	const struct sp__seekcurve *c = &d->seek[write && d->seek[1].n];

	if (cylinders < c->ntable && c->table[cylinders] != UINT32_MAX)
		return c->table[cylinders];
	return interpolate(c, cylinders);
}

static bool is_monotone(const struct sp__seekcurve *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->points[i].ns < c->points[i - 1].ns)
			return false;
	return true;
}

static int prepare_seek(struct sp__seekcurve *c, uint32_t cylinders)
{
	c->monotone = is_monotone(c);
	c->ntable = cylinders < TABLE_MAX ? cylinders : TABLE_MAX;
	c->table = malloc(c->ntable * sizeof(*c->table));
	if (!c->table)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->ntable; i++) {
		uint64_t ns = interpolate(c, i);

		c->table[i] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
	}
	return 0;
}

/* True if the bus is slower than the medium at its fastest. */
static bool bus_behind(const struct sp__drive *d)
{
	uint32_t most = 0;

	for (size_t i = 0; i < d->nzones; i++)
		for (uint32_t h = 0; h < d->surfaces; h++)
			most = sp__max(most, d->zones[i].spt[h]);
	return (u128)d->bus_ps * most * d->period_num > (u128)d->period_den * 1000;
}

int sp__drive_prepare(struct sp__drive *d)
{
	int rc = prepare_seek(&d->seek[0], d->cylinders);

	d->bus_behind = !d->bus_apart[1] && bus_behind(d);
	d->per_unit = ~(u128)0 / d->period_den;
	if (!rc && d->seek[1].n)
		rc = prepare_seek(&d->seek[1], d->cylinders);
	return rc;
}

inline uint64_t sp__drive_move_ns(const struct sp__drive *d, uint32_t cylinders, bool other_head,
				  bool write)
{
	uint64_t ns = sp__drive_seek_ns(d, cylinders, write);

	if (other_head && ns < d->head_switch_ns)
		ns = d->head_switch_ns;
	if (!write || !ns)
		return ns;
	/* Past the last point, a falling curve can give a seek shorter than the reduction. */
	return d->write_settle_ns >= 0 || ns > (uint64_t)-d->write_settle_ns
		       ? ns + (uint64_t)d->write_settle_ns
		       : 0;
}

/* Returns the time of seek, head switch and settling from the present position of the arm. */
static inline uint64_t move_ns(const struct sp__drive *d, const struct sp__arm *arm, uint32_t cyl,
			       uint32_t head, bool write)
{
	return sp__drive_move_ns(d, (uint32_t)sp__absdiff(cyl, arm->cyl), head != arm->head, write);
}

/* The head above a track when it arrives there. */
struct passage {
	u128 width;	/* width of the segment: up to 2^64, a whole track */
	sp__angle wait; /* from arrival to the start of the segment */
	bool late;	/* reached, except for rounding: wait is below 0 */
};

static void passage(const struct sp__drive *d, const struct sp__trackpos *at, uint64_t at_ns,
		    struct passage *p)
{
	p->width = WHOLE - at->rest;
	p->wait = at->begin - sp__drive_angle(d, at_ns);
	p->late = -p->wait <= d->slack && p->wait;
}

/*
 * True if the head arrives inside the segment, and the bus has transferred the last block when it
 * has passed.  With zero latency, the segment then begins immediately.
 */
static inline bool at_once(const struct sp__drive *d, const struct passage *p, uint64_t at_ns,
			   uint64_t come_ns)
{
	return !p->late && p->wait + p->width > WHOLE &&
	       (!come_ns || at_ns + rotation_ns(d, p->wait + p->width - WHOLE) >= come_ns);
}

/* Returns the rotation from arrival until the segment has passed. */
static u128 rotation(const struct sp__trackpos *at, const struct passage *p, bool inside)
{
	sp__angle head, into;

	if (p->late)
		return p->width + p->wait - WHOLE;
	if (!inside)
		return p->wait + p->width;
	/* Continue to the edge of the next sector, then one revolution. */
	head = at->begin - p->wait - at->start;
	into = head * at->sectors; /* a sector: whole revolutions overflow */
	return WHOLE + ((u128)-into * sp__angle_of(1, at->sectors) >> 64);
}

/* Locates the part of a subrequest that begins at a sector of track t and is on that track. */
static void locate_on(const struct sp__drive *d, const struct sp__track *t, uint64_t first,
		      uint32_t blocks, uint64_t n, struct sp__trackpos *pos)
{
	sp__drive_where(d, t, &pos->cyl, &pos->head);
	pos->blocks = blocks;
	pos->sectors = t->sectors;
	pos->track = t->number;
	pos->start = t->start;
	pos->begin = sp__track_angle(t, first);
	pos->rest = n < t->sectors ? -sp__angle_of(n, t->sectors) : 0;
}

/* Locates block lbn of a track, if it is not remapped. */
static void block_on(const struct sp__drive *d, const struct sp__track *t, uint64_t lbn,
		     uint32_t blocks, struct sp__trackpos *pos)
{
	uint64_t left = t->first_lbn + t->blocks - lbn, first, n;

	if (blocks > left)
		blocks = (uint32_t)left;
	first = sp__trackmap_sector(d->map, lbn);
	n = d->map->nslips ? sp__trackmap_sector(d->map, lbn + blocks - 1) + 1 - first : blocks;
	locate_on(d, t, first, blocks, n, pos);
}

/* Returns the first remapped blocks that end after lbn; NULL: none. */
static const struct sp__remap *next_remap(const struct sp__drive *d, uint64_t lbn)
{
	size_t i = SP__BISECT(d->nremaps, k, d->remaps[k].lbn + d->remaps[k].blocks <= lbn);

	return i < d->nremaps ? &d->remaps[i] : NULL;
}

void sp__drive_locate(const struct sp__drive *d, uint64_t lbn, uint32_t blocks,
		      struct sp__trackpos *pos)
{
	const struct sp__remap *r = next_remap(d, lbn);
	struct sp__track t;
	uint64_t first;

	if (!r || r->lbn > lbn) {
		if (r && r->lbn - lbn < blocks)
			blocks = (uint32_t)(r->lbn - lbn);
		sp__trackmap_find(d->map, lbn, &t);
		block_on(d, &t, lbn, blocks, pos);
		return;
	}
	first = r->sector + (lbn - r->lbn);
	sp__trackmap_at(d->map, first, &t);
	blocks = (uint32_t)sp__min(
		blocks, sp__min(r->lbn + r->blocks - lbn, t.first_sector + t.sectors - first));
	locate_on(d, &t, first, blocks, blocks, pos);
}

/* Locates the track segment that follows this one. */
static void locate_next(const struct sp__drive *d, uint64_t lbn, uint32_t blocks,
			struct sp__trackpos *pos)
{
	struct sp__track t;

	if (d->nremaps) {
		sp__drive_locate(d, lbn, blocks, pos);
		return;
	}
	do
		sp__trackmap_track(d->map, ++pos->track, &t);
	while (!t.blocks);
	block_on(d, &t, lbn, blocks, pos);
}

/* Returns the location of a subrequest; *scratch stores it if it must be computed. */
static const struct sp__trackpos *pos_of(const struct sp__drive *d, const struct sp__subreq *subreq,
					 struct sp__trackpos *scratch)
{
	if (subreq->pos.blocks)
		return &subreq->pos;
	sp__drive_locate(d, subreq->lbn, subreq->blocks, scratch);
	return scratch;
}

/* Returns the minimum wait at a segment: it does not end before its blocks have arrived. */
static uint64_t idle_ns(const struct sp__drive *d, const struct sp__trackpos *at, uint64_t at_ns,
			uint64_t come_ns)
{
	uint64_t done_ns = at_ns + rotation_ns(d, WHOLE - at->rest);

	return come_ns > done_ns ? come_ns - done_ns : 0;
}

/*
 * Transfers the blocks of one segment, which arrived at come_ns, from *now on, and sets *now to
 * their end.
 */
static void pass(const struct sp__drive *d, struct sp__arm *arm, const struct sp__trackpos *at,
		 bool write, bool zero_latency, uint64_t come_ns, uint64_t *now,
		 struct sp__service *s)
{
	uint64_t seek, all, width, idle, at_ns;
	struct passage p;

	seek = move_ns(d, arm, at->cyl, at->head, write);
	idle = come_ns ? idle_ns(d, at, *now + seek, come_ns) : 0;
	at_ns = *now + seek + idle;
	passage(d, at, at_ns, &p);
	all = idle +
	      rotation_ns(d, rotation(at, &p, zero_latency && at_once(d, &p, at_ns, come_ns)));
	width = rotation_ns(d, p.width);
	width = sp__min(width, all);
	arm->cyl = at->cyl;
	arm->head = at->head;
	s->seek_ns += seek;
	s->rotate_ns += all - width;
	s->transfer_ns += width;
	*now += seek + all;
	s->done_ns = *now;
}

void sp__drive_media(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		     const struct sp__subreq *subreq, bool zero_latency, bool coming,
		     struct sp__service *s)
{
	uint64_t lbn = subreq->lbn, now = start_ns;
	uint64_t before = s->transfer_ns, waited = s->rotate_ns;
	uint32_t left = subreq->blocks;
	struct sp__trackpos scratch;
	const struct sp__trackpos *at = pos_of(d, subreq, &scratch);

	pass(d, arm, at, subreq->write, zero_latency,
	     coming ? start_ns + sp__drive_bus_ns(d, at->blocks) : 0, &now, s);
	arm->begin_ns = now - (s->transfer_ns - before);
	arm->wait_ns = s->rotate_ns - waited;
	while (left > at->blocks) {
		uint64_t come_ns = 0;

		lbn += at->blocks;
		left -= at->blocks;
		scratch = *at;
		locate_next(d, lbn, left, &scratch);
		at = &scratch;
		if (coming)
			come_ns =
				start_ns + sp__drive_bus_ns(d, subreq->blocks - left + at->blocks);
		pass(d, arm, at, subreq->write, zero_latency, come_ns, &now, s);
	}
}

uint64_t sp__drive_passing(const struct sp__drive *d, uint64_t lbn, uint64_t wait_ns)
{
	const struct sp__remap *r = next_remap(d, lbn);
	uint64_t first, n, at;
	struct sp__track t;

	if (r && r->lbn <= lbn)
		return lbn;
	sp__trackmap_find(d->map, lbn, &t);
	at = sp__trackmap_sector(d->map, lbn);
	n = (uint64_t)((u128)wait_ns * t.sectors * d->period_num / d->period_den);
	first = n < lbn - t.first_lbn ? lbn - n : t.first_lbn;
	while (at - sp__trackmap_sector(d->map, first) > n)
		first++;
	for (r = next_remap(d, first); r && r->lbn < lbn; r = next_remap(d, first))
		first = r->lbn + r->blocks;
	return first;
}

uint64_t sp__drive_bus_ns(const struct sp__drive *d, uint32_t blocks)
{
	return (uint64_t)(((u128)d->bus_ps * blocks + 500) / 1000);
}

uint64_t sp__drive_tail_ns(const struct sp__drive *d, uint32_t blocks)
{
	return sp__drive_bus_ns(d, d->bus_apart[0] ? blocks : 1);
}

uint64_t sp__drive_head_ns(const struct sp__drive *d, uint32_t blocks)
{
	return d->bus_apart[1] ? sp__drive_bus_ns(d, blocks) : 0;
}

void sp__drive_direct(const struct sp__drive *d, struct sp__arm *arm, uint64_t start_ns,
		      const struct sp__subreq *subreq, struct sp__service *s)
{
	uint64_t begin = start_ns, last;

	if (subreq->write)
		begin += sp__drive_head_ns(d, subreq->blocks);
	sp__drive_media(d, arm, begin, subreq, d->zero_latency[subreq->write],
			subreq->write && d->bus_behind, s);
	arm->free_ns = s->done_ns;
	if (!d->bus_ps)
		return;
	last = subreq->write ? start_ns : arm->begin_ns;
	last += sp__drive_bus_ns(d, subreq->blocks);
	if (!subreq->write)
		s->done_ns += sp__drive_tail_ns(d, subreq->blocks);
	s->done_ns = sp__max(s->done_ns, last);
}

inline uint64_t sp__drive_reach_ns(const struct sp__drive *d, const struct sp__arm *arm,
				   uint64_t now_ns, const struct sp__subreq *subreq, bool coming,
				   uint64_t limit_ns)
{
	struct sp__trackpos scratch;
	const struct sp__trackpos *at = pos_of(d, subreq, &scratch);
	uint64_t ns, come_ns = coming ? now_ns + sp__drive_bus_ns(d, at->blocks) : 0;
	struct passage p;

	ns = move_ns(d, arm, at->cyl, at->head, subreq->write);
	if (coming)
		ns += idle_ns(d, at, now_ns + ns, come_ns);
	if (ns > limit_ns)
		return ns;
	passage(d, at, now_ns + ns, &p);
	if (p.late)
		return ns;
	if (d->zero_latency[subreq->write] && at_once(d, &p, now_ns + ns, come_ns))
		return ns + rotation_ns(d, rotation(at, &p, true) - p.width);
	return ns + rotation_ns(d, p.wait);
}

uint64_t sp__drive_near_ns(const struct sp__drive *d, const struct sp__arm *arm, uint64_t now_ns,
			   const struct sp__subreq *subreq, uint64_t limit_ns)
{
	uint64_t head = subreq->write ? sp__drive_head_ns(d, subreq->blocks) : 0;

	if (head > limit_ns)
		return head;
	return head + sp__drive_reach_ns(d, arm, now_ns + head, subreq,
					 subreq->write && d->bus_behind, limit_ns - head);
}
