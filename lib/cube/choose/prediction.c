/* SPDX-License-Identifier: MIT */
/*
 * Predicts queries by following the head over the tracks.
 *
 * Algorithm.  The walk of a mapping gives the runs of a query in the order in which they are
 * issued. A run is a *pass* of blocks under the head: it begins on a track at an angle, and after
 * its time ends on a track at an angle.  Time passes pass by pass:
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
 * Outstanding requests.  The host issues a request when another one ends.  The drive can choose it
 * after its overhead.  Of the requests in its window, the drive chooses the one that is under the
 * head next. One request at a time is a queue of one, where all of the overhead remains.
 *
 * Several volumes are drives that work concurrently: each is predicted alone, and the query takes
 * as long as the slowest.
 *
 * Memory: three queues of at most 64 passes, on the stack.
 *
 * Assumptions, if the geometry does not say otherwise: tracks follow each other with their skew,
 * and a request is read from its first block on.  Outside the known parts of a device, and for the
 * first request, positioning is a mean: a seek within the cube and half a revolution.
 *
 * Not modelled: the drive's cache, schedulers, the arms of an array.
 */
#include <math.h>
#include <string.h>
#include <spindle/geometry.h>
#include "base/minmax.h"
#include "cube/choose/prediction.h"
#include "cube/mapping/walk.h"
#include "dev/drive.h" /* names of layouts */
#include "dev/geometry.h"

#define MIB 1048576.0
#define SLACK_NS 2 /* rounding: a target that is missed by at most this is met */
#define CLIFF_BLOCKS 2

/* A location under the head. */
struct spot {
	bool known;
	uint64_t track;
	sp__angle angle;
	bool exact; /* cylinder and surface are known, too */
	uint64_t cylinder, surface;
};

/* One request. */
struct pass {
	struct spot begin, end;
	double ns;	 /* duration */
	double block_ns; /* time of a block at its begin */
	double ready_ns; /* in a queue: when it can be chosen */
};

/* A drive and its host. */
struct drive {
	double late_blocks;		  /* each aim is this much late */
	double now_ns, host_ns, start_ns; /* start: the first positioning */
	struct spot at;
	unsigned queued;
	struct pass queue[SP__PREDICT_DEPTH_MAX];
};

struct predictor {
	const struct sp__predict_opts *o;
	const struct sp_geometry *g;
	const struct sp__mapping *m;
	unsigned depth, ndrives;
	double mean_ns;		/* positioning from an unknown location */
	uint64_t first, blocks; /* the request that is being built */
	uint64_t runs, cells, requests, seeks, read, next_block;
	struct drive drives[3];
};

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
			  struct spot *s)
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

static double move_ns(const struct sp_geometry *g, const struct spot *from, const struct spot *to)
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
		     const struct sp__track *t, uint64_t sector, struct spot *s)
{
	s->known = true;
	s->track = z->first_track + t->number;
	s->angle = sp__track_angle(t, sector);
	find_cylinder(g, z, t->number, s);
}

/* Makes the pass over blocks of one zone. */
static void pass_zone(const struct sp_geometry *g, const struct sp__geozone *z, uint64_t first,
		      uint64_t blocks, struct pass *p)
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
	set_spot(g, z, &a, begin, &p->begin);
	set_spot(g, z, &b, end, &p->end);
	p->ns = revolutions * g->period_ns;
	p->block_ns = g->period_ns / a.sectors;
}

static double plain_ns(const struct sp_geometry *g, uint64_t blocks)
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

static void make_pass(const struct sp_geometry *g, uint64_t first, uint64_t blocks,
		      struct pass *all)
{
	bool begun = false;

	*all = (struct pass){ 0 };
	while (blocks) {
		const struct sp__geozone *z;
		uint64_t part = part_of(g, first, blocks, &z);
		struct pass here = { .ns = plain_ns(g, part) };

		if (z)
			pass_zone(g, z, first, part, &here);
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
}

/* Returns the time from now_ns to the start of a pass that can be chosen after idle_ns. */
static double position_ns(const struct predictor *p, const struct drive *d, double idle_ns,
			  const struct pass *to)
{
	double need;

	if (!d->at.known || !to->begin.known)
		return idle_ns + p->mean_ns;
	need = idle_ns + move_ns(p->g, &d->at, &to->begin) + d->late_blocks * to->block_ns;
	return wait_ns(p->g, fmax(need, 0), d->at.angle, to->begin.angle);
}

/* Returns the index of the request that is served next. */
static unsigned choose(const struct predictor *p, const struct drive *d, double *position)
{
	unsigned best = 0, n = d->queued;

	if (p->o->window)
		n = sp__min(n, p->o->window);
	for (unsigned i = 1; i < n; i++)
		if (d->queue[i].ready_ns < d->queue[best].ready_ns)
			best = i;
	*position =
		position_ns(p, d, fmax(d->queue[best].ready_ns - d->now_ns, 0), &d->queue[best]);
	if (p->o->fifo)
		return best;
	for (unsigned i = 0; i < n; i++) {
		double ns;

		if (i == best || d->queue[i].ready_ns > d->now_ns)
			continue;
		ns = position_ns(p, d, 0, &d->queue[i]);
		if (ns < *position) {
			*position = ns;
			best = i;
		}
	}
	return best;
}

static void serve(struct predictor *p, struct drive *d)
{
	double position;
	unsigned i = choose(p, d, &position);
	const struct pass *done = &d->queue[i];

	if (!d->start_ns)
		d->start_ns = position;
	d->now_ns += position + done->ns;
	d->at = done->end;
	d->queued--;
	memmove(&d->queue[i], &d->queue[i + 1], (d->queued - i) * sizeof(*d->queue));
}

static void issue(struct predictor *p, uint64_t first, uint64_t blocks)
{
	struct pass pass;

	make_pass(p->g, first, blocks, &pass);
	p->requests++;
	p->seeks += !p->read || first != p->next_block;
	p->read += blocks;
	p->next_block = first + blocks;
	for (unsigned i = 0; i < p->ndrives; i++) {
		struct drive *d = &p->drives[i];

		if (d->queued == p->depth)
			serve(p, d);
		d->host_ns = fmax(d->host_ns, d->now_ns) + p->o->host_ns;
		pass.ready_ns = d->host_ns + p->g->overhead_ns[SP_GEOMETRY_READ];
		d->queue[d->queued++] = pass;
	}
}

static void issue_all(struct predictor *p)
{
	uint64_t max = p->o->request_blocks ? p->o->request_blocks : UINT64_MAX;

	while (p->blocks) {
		uint64_t n = sp__min(p->blocks, max);

		issue(p, p->first, n);
		p->first += n;
		p->blocks -= n;
	}
}

static int see_run(void *arg, uint64_t first, uint64_t cells)
{
	struct predictor *p = arg;
	uint64_t blocks = cells * p->m->cell_blocks, end = p->first + p->blocks;

	(void)sp__basicgrid_volume(&p->m->basic, &first);
	if (p->blocks && first >= end && first - end <= p->o->gap_blocks) {
		p->blocks = first + blocks - p->first;
	} else {
		issue_all(p);
		p->first = first;
		p->blocks = blocks;
	}
	p->cells += cells;
	return p->o->runs_max && ++p->runs == p->o->runs_max;
}

/* Returns the mean seek between two random locations of the cube, plus half a revolution. */
static double mean_position(const struct sp_geometry *g, const struct sp__mapping *m)
{
	enum { STEPS = 32 };
	uint64_t first =
		m->kind == SP_CUBE_MULTIMAP ? m->multimap.zones[0].first_block : m->first_block;
	struct pass all;
	double ns = 0, span;

	make_pass(g, first, sp__mapping_end(m) - first, &all);
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

static void begin(struct predictor *p, const struct sp__predict_opts *o,
		  const struct sp__mapping *m)
{
	static const double late[] = { 0, CLIFF_BLOCKS, -CLIFF_BLOCKS };
	bool tracks = o->geometry->nzones > 0;

	p->o = o;
	p->g = o->geometry;
	p->m = m;
	p->depth = (unsigned)sp__min(sp__max(o->depth, 1), SP__PREDICT_DEPTH_MAX);
	p->ndrives = !tracks ? 0 : o->cliffs ? 3 : 1;
	p->mean_ns = tracks ? mean_position(p->g, m) : 0;
	for (unsigned i = 0; i < p->ndrives; i++)
		p->drives[i].late_blocks = late[i];
}

/*
 * Makes a box with fewer rows and the same mean time per row.  Rows of MultiMap take different
 * times in different cubes, so the box keeps all cubes and has fewer coordinates along the outer
 * dimensions.  Dimension 1 stays, because its rows follow each other by hops.
 */
static void thin(const struct sp__mapping *m, struct sp_cube_box *box, uint64_t rows_max)
{
	uint64_t rows = sp__box_cells(box, m->grid.n) / sp__box_count(box, m->order[0]);

	if (!rows_max || m->kind != SP_CUBE_MULTIMAP)
		return;
	for (unsigned i = m->grid.n; i-- > 2 && rows > rows_max;) {
		unsigned d = m->order[i];
		uint64_t count = sp__box_count(box, d);

		box->stride[d] *= sp__min(count, sp__div_up(rows, rows_max));
		rows = rows / count * sp__box_count(box, d);
	}
}

/* Without tracks: overhead per request, a mean seek per seek, transfer per block. */
static double ns_without_tracks(const struct predictor *p)
{
	double each = p->g->overhead_ns[SP_GEOMETRY_READ] + p->o->host_ns;

	return (double)p->requests * each + (double)p->seeks * p->g->seek_s * 1e9 +
	       plain_ns(p->g, p->read);
}

static double finish(struct predictor *p, unsigned drive, double scale)
{
	struct drive *d = &p->drives[drive];

	while (d->queued)
		serve(p, d);
	return d->start_ns + (d->now_ns - d->start_ns) * scale;
}

/* Predicts the part of the query on one volume. */
static void predict_volume(const struct sp__predict_opts *o, const struct sp__mapping *m,
			   const struct sp_cube_box *box, unsigned volume,
			   struct sp__cube_prediction *out)
{
	struct sp_cube_box part = *box;
	struct predictor p = { 0 };
	struct sp__cubewalk walk;
	double scale, ns[3];

	begin(&p, o, m);
	thin(m, &part, o->runs_max);
	sp__cubewalk_begin(&walk, m, &part, volume);
	(void)sp__cubewalk_runs(&walk, see_run, &p);
	issue_all(&p);
	if (!p.cells)
		return;
	scale = (double)sp__cubewalk_cells(m, box, volume) / (double)p.cells;
	ns[0] = p.ndrives ? finish(&p, 0, scale) : ns_without_tracks(&p) * scale;
	ns[1] = p.ndrives > 1 ? finish(&p, 1, scale) : ns[0];
	ns[2] = p.ndrives > 2 ? finish(&p, 2, scale) : ns[0];
	out->ns = fmax(out->ns, ns[0]);
	out->late_ns = fmax(out->late_ns, ns[1]);
	out->early_ns = fmax(out->early_ns, ns[2]);
	out->requests += (double)p.requests * scale;
	out->seeks += (double)p.seeks * scale;
	out->blocks += (double)p.read * scale;
}

int sp__predict_box(const struct sp__predict_opts *o, const struct sp__mapping *m,
		    const struct sp_cube_box *box, struct sp__cube_prediction *out)
{
	if (!o->geometry || (!o->geometry->nzones && !(o->geometry->transfer_s_per_mib > 0)))
		return -ENODATA;
	*out = (struct sp__cube_prediction){ 0 };
	for (unsigned v = 0; v < m->basic.volumes; v++)
		predict_volume(o, m, box, v, out);
	return 0;
}
