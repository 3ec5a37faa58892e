/* SPDX-License-Identifier: MIT */
/*
 * Measures the seek curve: the time of a hop by distance in cylinders.
 *
 * Every distance up to DENSE is measured, because the plateau of settling ends there.  Larger
 * distances grow geometrically.  Between two that differ by more than the resolution, one more is
 * measured.  If noise leaves the end of the plateau in doubt, all distances are measured once
 * more.
 *
 * Distance 0 is the same track: its time is the overhead of a single request.
 *
 * Writes are measured at fewer distances.  They differ from reads by their settling, which hardly
 * depends on the distance; between the measured distances the difference is interpolated.  If
 * nothing may be written, it is taken as EXTRA_NS, and the result is marked as estimated.
 */
#include <string.h>
#include "base/array.h"
#include "probe/seeks/seeks.h"

#define DENSE 24
#define DENSE_QUICK 4
#define INSERT_UPTO 600
#define INSERTS 48
#define POINTS_MAX 200
#define EXTRA_NS 400000 /* extra time; drives whose parameters are published have 0.13 to 0.49 ms */
#define WRITES 10
#define QUEUED 8

/* Returns the tracks from the base to the same head d cylinders on; 0: unknown. */
static uint64_t tracks_of(const struct sp__seeks *sk, uint64_t cylinders)
{
	const struct sp__trackorder *l = sk->order;

	switch (l->kind) {
	case SP__ORDER_CYLINDER:
		return cylinders * l->surfaces +
		       (l->reverses && cylinders % 2 ? l->surfaces - 1 : 0);
	case SP__ORDER_BANDS:
		if (cylinders < l->band)
			return cylinders;
		return cylinders % l->band ? 0 : cylinders * l->surfaces;
	default:
		return cylinders;
	}
}

static struct sp_probe_seek *add(struct sp__seeks *sk, size_t at)
{
	struct sp_probe_seek *s;

	if (!SP__ARRAY_RESIZE(sk->seeks, sk->nseeks + 1))
		return NULL;
	s = sk->seeks;
	memmove(&s[at + 1], &s[at], (sk->nseeks - at) * sizeof(*s));
	sk->nseeks++;
	s[at] = (struct sp_probe_seek){ 0 };
	return &s[at];
}

/* Measures one distance and inserts it into the list; skips unreadable blocks. */
static int measure(struct sp__seeks *sk, size_t at, uint64_t tracks, uint64_t cylinders)
{
	struct sp_probe_seek *s;
	double ns = 0;
	int rc = sp__hop_time(sk->hops, sk->hops->base, sk->hops->base + tracks, false, &ns);

	if (rc == -EIO || rc == -ENODATA)
		return 0;
	if (rc)
		return rc;
	s = add(sk, at);
	if (!s)
		return -ENOMEM;
	*s = (struct sp_probe_seek){ .tracks = tracks, .cylinders = cylinders, .read_ns = ns };
	return 0;
}

static uint64_t farthest(const struct sp__seeks *sk)
{
	uint64_t tracks = 0, per = sk->order->surfaces ? sk->order->surfaces : 1;

	for (size_t i = 0; i < sk->tracks->nzones; i++) {
		if (i && !sp__pzone_follows(&sk->tracks->zones[i], &sk->tracks->zones[i - 1]))
			break;
		tracks += sk->tracks->zones[i].tracks;
	}
	if (sk->order->kind == SP__ORDER_SURFACE)
		return sk->tracks->zones[0].tracks - 1;
	return tracks > sk->hops->base + per ? (tracks - sk->hops->base) / per - 1 : 0;
}

/* On a serpentine, only whole bands lead to the same head. */
static uint64_t farther(const struct sp__seeks *sk, uint64_t from, uint64_t d)
{
	uint64_t band = sk->order->kind == SP__ORDER_BANDS ? sk->order->band : 0;

	if (!band || d < band)
		return d;
	if (from < band - 1)
		return band - 1;
	return from < 4 * band ? (from / band + 1) * band : d / band * band;
}

static int measure_all(struct sp__seeks *sk)
{
	uint64_t most = farthest(sk), dense = sk->tm->opts->quick ? DENSE_QUICK : DENSE, d, t;
	int rc = measure(sk, 0, 0, 0);

	if (!rc && sk->order->kind != SP__ORDER_UNKNOWN && sk->order->kind != SP__ORDER_LINE &&
	    sk->order->kind != SP__ORDER_SURFACE && sk->order->surfaces > 1) {
		/* To the other side of the platter, without moving the arm. */
		t = sk->order->kind == SP__ORDER_CYLINDER ? sk->order->surfaces - 1
							  : 2 * (uint64_t)sk->order->band - 1;
		rc = measure(sk, sk->nseeks, t, 0);
	}
	for (d = 1; d <= most && !rc && sk->nseeks < POINTS_MAX;) {
		t = tracks_of(sk, d);
		if (t)
			rc = measure(sk, sk->nseeks, t, d);
		sp__timing_progress(sk->tm, SP_PROBE_SEEKS,
				    log((double)d) / log((double)most + 1) * 0.7);
		if (d < dense)
			d++;
		else if (d < most && d + d / 2 + 1 > most && farther(sk, d, most) == most)
			d = most;
		else
			d = farther(sk, d, d + d / (d < 256 ? 3 : 2) + 1);
	}
	return rc;
}

/* Adds distances between neighbours that differ by more than the resolution. */
static int insert(struct sp__seeks *sk)
{
	double much = sk->tm->spin.period_ns / 300;
	unsigned n = 0;
	int rc = 0;

	for (size_t i = 1; i < sk->nseeks && n < INSERTS && !rc;) {
		struct sp_probe_seek *a = &sk->seeks[i - 1], *b = &sk->seeks[i];
		uint64_t mid = (a->cylinders + b->cylinders) / 2, t = tracks_of(sk, mid);
		size_t before = sk->nseeks;

		if (!a->cylinders || b->cylinders - a->cylinders < 2 || mid > INSERT_UPTO || !t ||
		    fabs(b->read_ns - a->read_ns) < much) {
			i++;
			continue;
		}
		n++;
		rc = measure(sk, i, t, mid);
		if (sk->nseeks == before)
			i++;
	}
	return rc;
}

static bool may_write(const struct sp__seeks *sk, uint64_t track)
{
	uint64_t lbn, end = sk->tm->target->write_first + sk->tm->target->write_blocks;
	uint32_t blocks;

	return sp__tracks_at(sk->tracks, track, &lbn, &blocks) &&
	       lbn >= sk->tm->target->write_first && lbn + blocks <= end;
}

/* A drive that answers writes from its memory does not show its arm. */
static int writes_reach_platter(struct sp__seeks *sk, uint64_t track, bool *yes)
{
	double took[9];
	struct sp__shot s;
	uint64_t lbn;
	uint32_t blocks;
	int rc = 0;

	*yes = sp__tracks_at(sk->tracks, track, &lbn, &blocks);
	for (unsigned i = 0; i < 9 && !rc && *yes; i++) {
		rc = sk->tm->target->ops->transfer(sk->tm->target, lbn, true, &s);
		sk->tm->cost.writes++;
		took[i] = (double)(s.done_ns - s.issue_ns);
	}
	if (!rc && *yes)
		*yes = sp__quantile(took, 9, 0.5) > sk->tm->spin.period_ns / 2;
	return rc == -EIO ? 0 : rc;
}

/* Returns the first track that may be written, with this many after it. */
static bool write_base(const struct sp__seeks *sk, uint64_t *track)
{
	uint64_t per = sk->order->surfaces ? sk->order->surfaces : 1, n = 0, step;

	if (sk->tm->target->write_blocks == 0)
		return false;
	step = sk->order->kind == SP__ORDER_BANDS ? per * sk->order->band : per;
	for (size_t i = 0; i < sk->tracks->nzones; i++)
		n += sk->tracks->zones[i].tracks;
	for (uint64_t t = sk->hops->base; t + step < n; t += step)
		if (may_write(sk, t)) {
			*track = t;
			return may_write(sk, t + step);
		}
	return false;
}

/* Measures writes at some distances; interpolates the difference to reads. */
static int measure_writes(struct sp__seeks *sk)
{
	uint64_t base, t;
	size_t n = sk->nseeks, every = n / WRITES + 1;
	bool ok = write_base(sk, &base);
	double ns;
	int rc = 0;

	if (ok)
		rc = writes_reach_platter(sk, base, &ok);
	for (size_t i = 0; i < n && ok && !rc; i++) {
		if (i > 2 && i % every && sk->seeks[i].cylinders != 1)
			continue;
		t = base + sk->seeks[i].tracks;
		if (!may_write(sk, t))
			break;
		rc = sp__hop_time(sk->hops, base, t, true, &ns);
		if (!rc)
			sk->seeks[i].write_ns = ns;
		if (rc == -EIO || rc == -ENODATA)
			rc = 0;
		sp__timing_progress(sk->tm, SP_PROBE_SEEKS, 0.8 + 0.1 * (double)i / (double)n);
	}
	return rc;
}

/*
 * Returns the time that settling before a write adds, if that does not depend on the distance: the
 * median of the measured times.  Negative: it depends.
 */
static double settling(const struct sp__seeks *sk)
{
	const struct sp_probe_seek *s = sk->seeks;
	double extra[POINTS_MAX + INSERTS], middle;
	size_t n = 0;

	for (size_t i = 0; i < sk->nseeks && n < POINTS_MAX; i++)
		if (s[i].write_ns > 0 && s[i].tracks)
			extra[n++] = s[i].write_ns - s[i].read_ns;
	if (n < 3)
		return -1;
	middle = sp__quantile(extra, n, 0.5);
	return extra[n - 1] - extra[0] < sk->tm->spin.period_ns / 100 ? middle : -1;
}

static void fill_writes(struct sp__seeks *sk)
{
	struct sp_probe_seek *s = sk->seeks;
	double extra = settling(sk), last = extra > 0 ? extra : 0;

	for (size_t i = 0; i < sk->nseeks; i++)
		sk->write_measured |= s[i].write_ns > 0;
	sk->write_estimated = !sk->write_measured;
	if (sk->write_estimated)
		extra = last = EXTRA_NS;
	for (size_t i = 0; i < sk->nseeks; i++) {
		if (s[i].write_ns > 0 && (extra < 0 || !s[i].tracks))
			last = s[i].write_ns - s[i].read_ns;
		else if (extra >= 0 && s[i].tracks)
			last = extra;
		else if (!s[i].tracks)
			last = 0;
		s[i].write_ns = s[i].read_ns + last;
	}
}

static int measure_queued(struct sp__seeks *sk)
{
	int rc = 0;

	for (size_t i = 1, n = 0; i < sk->nseeks && n < QUEUED && !rc; i = 2 * i, n++) {
		struct sp_probe_seek *s = &sk->seeks[i];
		double ns;

		rc = sp__hop_queued(sk->hops, sk->hops->base, sk->hops->base + s->tracks,
				    sk->seeks[0].read_ns, &ns);
		if (!rc)
			s->queued_ns = ns;
		if (rc == -EIO || rc == -ENODATA)
			rc = 0;
	}
	return rc;
}

/*
 * A drive that finishes reading ahead before the arm moves does not show its arm: a hop within a
 * track then takes much longer than an answer from memory.
 */
static void forget_late(struct sp__seeks *sk)
{
	const struct sp_probe_seek *s = sk->seeks;

	sk->late = sk->tm->cache.on && sk->nseeks && !s->tracks &&
		   s->read_ns > (double)sk->tm->cache.hit_ns + sk->tm->spin.period_ns / 4;
	if (!sk->late)
		return;
	sk->nseeks = 0;
}

static int measure_reads(struct sp__seeks *sk)
{
	int rc = measure_all(sk);

	return rc || sk->tm->opts->quick ? rc : insert(sk);
}

/* Repeats all distances with twice as many samples. */
static int measure_again(struct sp__seeks *sk)
{
	sp__hopper_refine(sk->hops);
	sk->nseeks = 0;
	return measure_reads(sk);
}

int sp__seeks_find(struct sp__seeks *sk)
{
	uint64_t before = sk->tm->cost.reads, first;
	bool doubtful = false;
	uint32_t blocks;
	int rc;

	if (!sp__tracks_at(sk->tracks, sk->hops->base, &first, &blocks))
		return 0;
	rc = measure_reads(sk);
	if (!rc)
		rc = sp__plateau_look(sk, &doubtful);
	if (!rc && doubtful && 4 * sk->hops->exact <= SP__ANGLE_MAX)
		rc = measure_again(sk);
	if (!rc)
		rc = measure_writes(sk);
	fill_writes(sk);
	if (!rc)
		rc = measure_queued(sk);
	sk->reads = sk->tm->cost.reads - before;
	forget_late(sk);
	return rc;
}
