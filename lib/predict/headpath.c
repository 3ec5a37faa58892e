/* SPDX-License-Identifier: MIT */
/*
 * Follows the head of a disk over the tracks of its geometry.
 *
 * Algorithm.  A pass begins on a track at an angle, and after its time ends on a track at an angle.
 * Time passes pass by pass:
 *
 *	positioning = minimum time >= need that rotates the platter from the end of the last
 *		      pass to the start of the next one
 *	need	    = rest of the overhead + move(tracks in between)
 *	move	    = maximum of seek curve(cylinders) and the switch of surfaces; if the layout is
 *		      unknown: hop curve(tracks) - overhead, inside a round of a serpentine its
 *		      own hop curve, and beyond the end of the hop curve the seek curve
 *
 * Angles are exact, so whole revolutions are lost exactly where the drive loses them.  The hop
 * curve is the longest move of n tracks.  The layout is used first because on many drives most hops
 * are shorter, so the hop curve would predict lost revolutions that do not occur.
 *
 * The time of a pass over many tracks of one zone is a sum in closed form: a revolution per track,
 * and its skew.  Between zones the platter rotates to the start of the next one.
 *
 * Outstanding requests.  The drive can choose a request when its overhead after it was issued has
 * passed.  Of the requests in its window, the drive chooses the one that is under the head next.
 *
 * Writes settle longer than reads: by the difference of the two hop curves at one track.
 *
 * Assumptions, if the geometry does not say otherwise: tracks follow each other with their skew,
 * and a request is read from its first block on.  Outside the known parts of a device, and for the
 * first request, positioning is a mean.
 *
 * Not modelled: the drive's cache, schedulers, the arms of an array.
 */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "dev/drive.h" /* names of layouts */
#include "predict/headpath.h"

#define MIB 1048576.0
#define CROSSINGS 64 /* crossings of tracks that are examined for a pass */
#define SLACK_NS 2   /* rounding: a target that is missed by at most this is met */

/*
 * True if bands of even surfaces run outwards.  With an odd number of surfaces this decides how far
 * the next round is: two bands if true, else one cylinder.
 */
static bool descends(const struct sp_geometry *g)
{
	const struct sp__hops *all = &g->hops[SP_GEOMETRY_READ];
	const struct sp__hops *within = &g->within[SP_GEOMETRY_READ];

	return g->surfaces % 2 && all->nsteps && within->nsteps &&
	       all->steps[0].w_deg > within->steps[0].w_deg;
}

/*
 * Sets cylinder and surface of a track, if the layout is known and the seek curve has the time
 * between two surfaces.  A zone begins with a cylinder.  For serpentines with an even number of
 * surfaces the direction of the first one is unknown; this matters little, since rounds are equally
 * far apart.
 */
static void find_cylinder(const struct sp_geometry *g, const struct sp__geozone *z, uint64_t i,
			  struct sp__headspot *s)
{
	uint64_t n = g->surfaces, round, band, at;

	if (!g->layout || !n || g->seek_in_tracks || !g->nseeks || g->seeks[0].distance)
		return;
	s->cylinder = z->first_track / n;
	if (!strcmp(g->layout, sp__layout_names[SP__LAYOUT_HYBRID_SERPENTINE])) {
		round = z->map->regions[0].npattern;
		band = round / n;
		if (!band || round % n)
			return;
		s->surface = i % round / band;
		at = i % band;
		s->cylinder += i / round * band;
		s->cylinder += s->surface % 2 != descends(g) ? band - 1 - at : at;
	} else if (!strcmp(g->layout, sp__layout_names[SP__LAYOUT_SURFACE_SERPENTINE])) {
		return;
	} else {
		s->cylinder += i / n;
		s->surface = i % n;
		if (!strcmp(g->layout, sp__layout_names[SP__LAYOUT_CYLINDER_SERPENTINE]) &&
		    i / n % 2)
			s->surface = n - 1 - s->surface;
	}
	s->exact = true;
}

/* Uses the hop curve, or, if both tracks are in one round, the curve inside rounds. */
static double hop_ns(const struct sp_geometry *g, uint64_t from, uint64_t to)
{
	uint64_t tracks = sp__absdiff(from, to);
	const struct sp__hops *h;
	double deg;

	if (!tracks || sp__geometry_hops(g, SP_GEOMETRY_READ, from, to, &h) ||
	    sp__hops_need(h, tracks, &deg))
		return sp__geometry_hop_ns(g, tracks);
	return fmax(deg / 360 * g->period_ns - g->overhead_ns[SP_GEOMETRY_READ], 0);
}

static double move_ns(const struct sp_geometry *g, const struct sp__headspot *from,
		      const struct sp__headspot *to)
{
	double ns = 0;

	if (!from->exact || !to->exact)
		return hop_ns(g, from->track, to->track);
	if (from->cylinder != to->cylinder)
		ns = sp__geometry_seek_ns(g, (double)sp__absdiff(from->cylinder, to->cylinder));
	return from->surface != to->surface ? fmax(ns, g->seeks[0].ns) : ns;
}

static double rotation_ns(const struct sp_geometry *g, sp__angle angle)
{
	return (double)angle * 0x1p-64 * g->period_ns;
}

static sp__angle angle_in(const struct sp_geometry *g, double ns)
{
	double revolutions = ns / g->period_ns;

	return (sp__angle)((revolutions - floor(revolutions)) * 0x1p64);
}

/* Returns the time until angle `to` is under the head, at least need_ns. */
static double wait_ns(const struct sp_geometry *g, double need_ns, sp__angle from, sp__angle to)
{
	sp__angle late = from + angle_in(g, need_ns) - to;

	return need_ns + (rotation_ns(g, late) <= SLACK_NS ? 0 : rotation_ns(g, -late));
}

/* Returns the sum of skews between two tracks, in revolutions. */
static double skew_diff(const struct sp__region *r, uint64_t from, uint64_t to)
{
	uint64_t before = from / r->npattern * r->pattern_skew + r->skew_before[from % r->npattern];
	uint64_t after = to / r->npattern * r->pattern_skew + r->skew_before[to % r->npattern];

	return (double)(after - before) / r->skew_den;
}

static void set_spot(const struct sp_geometry *g, const struct sp__geozone *z,
		     const struct sp__track *t, uint64_t sector, struct sp__headspot *s)
{
	s->known = true;
	s->track = z->first_track + t->number;
	s->angle = sp__track_angle(t, sector);
	find_cylinder(g, z, t->number, s);
}

/* Returns the time by which a write settles longer than a read. */
static double write_settle_ns(const struct sp_geometry *g)
{
	const struct sp__hops *r = &g->hops[SP_GEOMETRY_READ], *w = &g->hops[SP_GEOMETRY_WRITE];
	double ns;

	if (!r->nsteps || !w->nsteps)
		return 0;
	ns = (w->steps[0].w_deg - r->steps[0].w_deg) / 360 * g->period_ns;
	return fmax(ns - g->overhead_ns[SP_GEOMETRY_WRITE] + g->overhead_ns[SP_GEOMETRY_READ], 0);
}

/*
 * Returns the revolutions that a write loses between consecutive tracks, where moving and settling
 * take longer than the skew.
 */
static double lost_revolutions(const struct sp_geometry *g, const struct sp__geozone *z,
			       uint64_t from, uint64_t to)
{
	double settle_ns = write_settle_ns(g), lost = 0;
	uint64_t n = sp__min(to - from, CROSSINGS);

	if (!n || !(settle_ns > 0))
		return 0;
	for (uint64_t i = from; i < from + n; i++) {
		struct sp__headspot a = { .track = z->first_track + i }, b = a;
		double skew_ns = skew_diff(z->map->regions, i, i + 1) * g->period_ns;

		b.track++;
		find_cylinder(g, z, i, &a);
		find_cylinder(g, z, i + 1, &b);
		lost += move_ns(g, &a, &b) + settle_ns > skew_ns + SLACK_NS;
	}
	return lost * (double)(to - from) / (double)n;
}

/* Makes the pass over blocks of one zone. */
static void pass_zone(const struct sp_geometry *g, const struct sp__geozone *z, bool write,
		      uint64_t first, uint64_t blocks, struct sp__headpass *p)
{
	struct sp__track a, b;
	uint64_t lbn = first - z->first_lbn, last = lbn + blocks - 1;
	uint64_t begin = sp__trackmap_sector(z->map, lbn), end;
	double revolutions;

	sp__trackmap_find(z->map, lbn, &a);
	b = a;
	if (last - a.first_lbn >= a.blocks)
		sp__trackmap_find(z->map, last, &b);
	end = sp__trackmap_sector(z->map, last) + 1;
	revolutions = (double)(b.number - a.number) +
		      skew_diff(z->map->regions, a.number, b.number) +
		      (double)(end - b.first_sector) / b.sectors -
		      (double)(begin - a.first_sector) / a.sectors;
	if (write)
		revolutions += lost_revolutions(g, z, a.number, b.number);
	set_spot(g, z, &a, begin, &p->begin);
	set_spot(g, z, &b, end, &p->end);
	p->ns = revolutions * g->period_ns;
	p->block_ns = g->period_ns / a.sectors;
}

double sp__headpath_transfer_ns(const struct sp_geometry *g, uint64_t blocks)
{
	return (double)blocks * g->block_bytes / MIB * g->transfer_s_per_mib * 1e9;
}

/* Returns the number of blocks from first on in one zone, or before the next one (*z NULL). */
static uint64_t part_of(const struct sp_geometry *g, uint64_t first, uint64_t blocks,
			const struct sp__geozone **z)
{
	*z = sp__geometry_zone_of(g, first);
	if (*z)
		return sp__min(blocks, (*z)->map->blocks - (first - (*z)->first_lbn));
	for (size_t i = 0; i < g->nzones; i++)
		if (g->zones[i].first_lbn > first)
			return sp__min(blocks, g->zones[i].first_lbn - first);
	return blocks;
}

void sp__headpass_make(const struct sp_geometry *g, bool write, uint64_t first, uint64_t blocks,
		       struct sp__headpass *all)
{
	const uint64_t count = blocks;
	bool begun = false;

	*all = (struct sp__headpass){ 0 };
	while (blocks) {
		const struct sp__geozone *z;
		uint64_t part = part_of(g, first, blocks, &z);
		struct sp__headpass here = { .ns = sp__headpath_transfer_ns(g, part) };

		if (z)
			pass_zone(g, z, write, first, part, &here);
		if (!begun)
			*all = here;
		else if (all->end.known && here.begin.known)
			all->ns += here.ns + wait_ns(g, move_ns(g, &all->end, &here.begin),
						     all->end.angle, here.begin.angle);
		else
			all->ns += here.ns;
		all->end = here.end;
		begun = true;
		first += part;
		blocks -= part;
	}
	all->write = write;
	all->blocks = count;
}

/* Returns the time from now_ns to the start of a pass that can be chosen after idle_ns. */
static double position_ns(const struct sp__headpath *p, double idle_ns,
			  const struct sp__headpass *to)
{
	double busy_ns = p->now_ns - p->passed_ns;
	double need = busy_ns + idle_ns + p->late_blocks * to->block_ns;

	if (to->write && p->bus_apart[SP_GEOMETRY_WRITE])
		need += p->bus_ns * (double)to->blocks;
	if (!p->at.known || !to->begin.known)
		return idle_ns + p->mean_ns;
	need += move_ns(p->g, &p->at, &to->begin);
	if (to->write && p->at.track != to->begin.track)
		need += write_settle_ns(p->g);
	return wait_ns(p->g, fmax(need, 0), p->at.angle, to->begin.angle) - busy_ns;
}

/* Returns the time from the end of a pass until the drive can begin another. */
static double tail_ns(const struct sp__headpath *p, const struct sp__headpass *pass)
{
	if (pass->write)
		return 0;
	return p->bus_ns * (p->bus_apart[SP_GEOMETRY_READ] ? (double)pass->blocks : 1);
}

/* Returns the index of the request that is served next. */
static unsigned choose(const struct sp__headpath *p, double *position)
{
	unsigned best = 0, n = p->queued;
	double idle_ns;

	if (p->window)
		n = sp__min(n, p->window);
	for (unsigned i = 1; i < n; i++)
		if (p->queue[i].ready_ns < p->queue[best].ready_ns)
			best = i;
	idle_ns = fmax(p->queue[best].ready_ns - p->now_ns, 0);
	*position = position_ns(p, idle_ns, &p->queue[best]);
	if (p->fifo)
		return best;
	for (unsigned i = 0; i < n; i++) {
		double ns;

		if (i == best || p->queue[i].ready_ns > p->now_ns + idle_ns)
			continue;
		ns = position_ns(p, idle_ns, &p->queue[i]);
		if (ns < *position) {
			*position = ns;
			best = i;
		}
	}
	return best;
}

unsigned sp__headpath_serve(struct sp__headpath *p)
{
	double position;
	unsigned i = choose(p, &position);
	const struct sp__headpass *done = &p->queue[i];
	unsigned tag = done->tag;

	if (!p->start_ns)
		p->start_ns = position;
	p->passed_ns = p->now_ns + position + done->ns;
	p->now_ns = p->passed_ns + tail_ns(p, done);
	p->at = done->end;
	p->queued--;
	memmove(&p->queue[i], &p->queue[i + 1], (p->queued - i) * sizeof(*p->queue));
	return tag;
}

void sp__headpath_put(struct sp__headpath *p, const struct sp__headpass *pass, double issued_ns)
{
	enum sp_geometry_op op = pass->write ? SP_GEOMETRY_WRITE : SP_GEOMETRY_READ;

	p->queue[p->queued] = *pass;
	p->queue[p->queued++].ready_ns = issued_ns + p->g->overhead_ns[op];
}

double sp__headpath_mean_ns(const struct sp_geometry *g, uint64_t first, uint64_t blocks)
{
	enum { STEPS = 32 };
	struct sp__headpass all;
	double ns = 0, span;

	sp__headpass_make(g, false, first, blocks, &all);
	if (!all.begin.known || !all.end.known)
		return g->seek_s * 1e9;
	span = (double)(all.end.track - all.begin.track);
	for (unsigned i = 0; i < STEPS; i++) {
		double part = (i + 0.5) / STEPS;

		ns += 2 * (1 - part) / STEPS *
		      sp__geometry_hop_ns(g, (uint64_t)(part * span + 0.5));
	}
	return ns + g->period_ns / 2;
}
