/* SPDX-License-Identifier: MIT */
/*
 * Finds adjacent blocks, and the reach of an aim.
 *
 * Algorithm.  The curve of an operation is a list of steps: (tracks, W) means that every hop of at
 * most that many tracks succeeds with an aim of W.  It is the running maximum of the needs of the
 * single distances, so both ascend, and D(W) is a bisection.  On layouts where a more distant track
 * can be nearer to the arm (serpentines), D promises no hop that fails.  There, the hop from one
 * round of the heads to the next is the longest, and rare: hops inside a round have a separate
 * curve.
 *
 * An adjacent block's angle is compared exactly, in units of 2^-64 revolution.  Only the aim is a
 * floating-point number, so the comparison of an aim with a need tolerates a millionth of a degree.
 *
 * Source: Shao 2008, section 2.2: GETADJACENT, D, conservatism (table 2.1).
 */
#include <math.h>
#include "base/bisect.h"
#include "base/minmax.h"
#include "dev/geometry.h"

#define ALLOW_DEG 1e-6

/*
 * The minimum rise of W at the end of a plateau (less on slow disks), and the minimum factor of the
 * slope.
 */
#define KNEE_DEG 1.0
#define KNEE_STEEPER 2.0

double sp__hops_knee(const struct sp__hops *h, double period_ns)
{
	double best = 0, before = 0, w = h->steps[0].w_deg;
	double least = KNEE_DEG * sp__geometry_slow(period_ns);

	for (size_t i = 0; i + 1 < h->nsteps; i++) {
		const struct sp__hopstep *s = &h->steps[i];
		double rise = s[1].w_deg - s->w_deg;
		double slope = rise / (double)(s[1].tracks - s->tracks);

		if (i && rise >= least && slope >= KNEE_STEEPER * before && slope - before > best) {
			best = slope - before;
			w = s->w_deg;
		}
		before = slope;
	}
	return w;
}

static int curve(const struct sp_geometry *g, enum sp_geometry_op op, const struct sp__hops **h)
{
	if (!g->nzones)
		return SP_EUNSUP;
	if (op != SP_GEOMETRY_READ && op != SP_GEOMETRY_WRITE)
		return -EINVAL;
	*h = &g->hops[op];
	return (*h)->nsteps ? 0 : -ENODATA;
}

int sp_geometry_aim(const struct sp_geometry *g, enum sp_geometry_op op, double *aim_deg)
{
	const struct sp__hops *h;
	int rc = curve(g, op, &h);

	if (!rc)
		*aim_deg = h->aim_deg;
	return rc;
}

int sp__geometry_hops(const struct sp_geometry *g, enum sp_geometry_op op, uint64_t from,
		      uint64_t to, const struct sp__hops **h)
{
	const struct sp__geozone *z = sp__geometry_zone_of_track(g, from);
	int rc = curve(g, op, h);

	if (!rc && z && z->round && g->within[op].nsteps && to >= z->first_track &&
	    to - z->first_track < z->map->tracks &&
	    (from - z->first_track) / z->round == (to - z->first_track) / z->round)
		*h = &g->within[op];
	return rc;
}

uint64_t sp__hops_reach(const struct sp__hops *h, double w_deg)
{
	size_t n = SP__BISECT(h->nsteps, i, h->steps[i].w_deg <= w_deg + ALLOW_DEG);

	return n ? h->steps[n - 1].tracks : 0;
}

int sp_geometry_reach(const struct sp_geometry *g, enum sp_geometry_op op, double w_deg,
		      uint64_t *tracks)
{
	const struct sp__hops *h;
	int rc = curve(g, op, &h);

	if (!rc)
		*tracks = sp__hops_reach(h, w_deg);
	return rc;
}

int sp__hops_need(const struct sp__hops *h, uint64_t tracks, double *w_deg)
{
	size_t step = SP__BISECT(h->nsteps, i, h->steps[i].tracks < tracks);

	if (step == h->nsteps)
		return -ERANGE;
	*w_deg = h->steps[step].w_deg;
	return 0;
}

int sp_geometry_hop(const struct sp_geometry *g, enum sp_geometry_op op, uint64_t tracks,
		    double *w_deg)
{
	const struct sp__hops *h;
	int rc = curve(g, op, &h);

	return rc ? rc : sp__hops_need(h, tracks, w_deg);
}

double sp__geometry_seek_ns(const struct sp_geometry *g, double distance)
{
	const struct sp__geoseek *s = g->seeks;
	size_t upto = SP__BISECT(g->nseeks, i, (double)s[i].distance <= distance);

	if (!upto || upto == g->nseeks)
		return s[upto ? upto - 1 : 0].ns;
	s += upto;
	return s[-1].ns + (s->ns - s[-1].ns) * (distance - (double)s[-1].distance) /
				  (double)(s->distance - s[-1].distance);
}

double sp__geometry_hop_ns(const struct sp_geometry *g, uint64_t tracks)
{
	const struct sp__hops *h = &g->hops[SP_GEOMETRY_READ];
	size_t step = SP__BISECT(h->nsteps, i, h->steps[i].tracks < tracks);
	double most = 0;

	if (!tracks)
		return 0;
	if (h->nsteps)
		most = h->steps[sp__min(step, h->nsteps - 1)].w_deg / 360 * g->period_ns -
		       g->overhead_ns[SP_GEOMETRY_READ];
	if (step == h->nsteps && g->nseeks)
		most = fmax(most, sp__geometry_seek_ns(g, g->seek_in_tracks || !g->surfaces
								  ? (double)tracks
								  : (double)tracks / g->surfaces));
	return fmax(most, 0);
}

static sp__angle angle_of_deg(double deg)
{
	double rev = fmod(deg, 360) / 360;

	return (sp__angle)(rev * 0x1p64);
}

/*
 * Finds the first block of a track that begins at or after an angle.  Returns 0, or -ERANGE if none
 * does.
 */
static int first_behind(const struct sp_geometry *g, const struct sp__geozone *z, uint64_t number,
			sp__angle target, uint64_t *lbn)
{
	unsigned __int128 scaled;
	struct sp__track t;
	uint64_t sector, found;

	sp__trackmap_track(z->map, number - z->first_track, &t);
	scaled = (unsigned __int128)(target - t.start) * t.sectors + UINT64_MAX;
	sector = (uint64_t)(scaled >> 64) % t.sectors;
	found = sp__trackmap_lbn(z->map, t.first_sector + sector);
	if (found >= t.first_lbn + t.blocks || z->first_lbn + found >= g->blocks)
		found = t.first_lbn; /* no more blocks before the track's end */
	*lbn = z->first_lbn + found;
	return t.blocks && *lbn < g->blocks ? 0 : -ERANGE;
}

int sp_geometry_adjacent(const struct sp_geometry *g, uint64_t lbn, uint64_t step,
			 enum sp_geometry_op op, double extra_deg, uint64_t *adjacent)
{
	const struct sp__geozone *z, *to;
	const struct sp__hops *h;
	struct sp__track t;
	uint64_t track;
	sp__angle end;
	double aim;
	int rc = curve(g, op, &h);

	if (rc)
		return rc;
	if (!step || !isfinite(extra_deg) || h->aim_deg + extra_deg < 0)
		return -EINVAL;
	z = lbn < g->blocks ? sp__geometry_zone_of(g, lbn) : NULL;
	if (!z)
		return lbn < g->blocks ? -ENODATA : -ERANGE;
	sp__trackmap_find(z->map, lbn - z->first_lbn, &t);
	track = z->first_track + t.number;
	to = step < UINT64_MAX - track ? sp__geometry_zone_of_track(g, track + step) : NULL;
	rc = to ? sp__geometry_hops(g, op, track, track + step, &h) : -ERANGE;
	if (rc)
		return rc;
	aim = fmax(h->aim_deg + extra_deg, 0);
	if (to->island != z->island || step > sp__hops_reach(h, aim))
		return -ERANGE;
	end = sp__track_angle(&t, sp__trackmap_sector(z->map, lbn - z->first_lbn) + 1);
	return first_behind(g, to, track + step, end + angle_of_deg(aim), adjacent);
}
