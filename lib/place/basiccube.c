/* SPDX-License-Identifier: MIT */
/*
 * Chooses the sizes of basic cubes, and places the cubes in the zones of a drive.
 *
 * Rules (Shao 2008, 5.1 to 5.3).  Dimension 0 fits a track; dimensions 1 to n - 2 together fit the
 * reach of a hop; the whole cube fits a zone.  Sizes are balanced, k = ceil(S / ceil(S / k)),
 * because the last cube along a dimension is stored as a whole.
 *
 * Choice.  Larger cubes mean fewer jumps from cube to cube, but leave more space unused at the end
 * of a track and of a zone.  Of all balanced sizes, those with the lowest cost are chosen: the
 * jumps of one step along each dimension, plus the time that hops to other rounds of a serpentine
 * add, plus the share of unused space.  A volume without a cube counts as unused space.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/geometry.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/minmax.h"
#include "dev/geometry.h"
#include "place/multimap.h"

/* Minimum rotation while the host makes the next request. */
#define HOST_DEG 1
/* Margin of moves: conservatism / SPARE. */
#define SPARE 8
/* Cost of a jump to another cube, in hops. */
#define JUMP_HOPS 4

void sp__multimap_free(struct sp__multimap *m)
{
	for (size_t i = 0; i < m->nzones; i++)
		free(m->zones[i].pattern);
	free(m->zones);
	m->zones = NULL;
	m->nzones = 0;
}

/* Angles of hops, in degrees. */
struct aims {
	double need_deg;  /* needed, including the host's time */
	double aim_deg;	  /* given */
	double near_deg;  /* maximum need of hops of D tracks */
	double shift_deg; /* added for hops to the next round of a serpentine */
	uint64_t reach;	  /* D */
};

static uint32_t blocks_of(double deg, uint32_t track_blocks)
{
	return (uint32_t)ceil(deg / 360 * track_blocks - 1e-9);
}

/* Copies the pattern, beginning at a track of the zone. */
static int copy_pattern(struct sp__cubezone *z, const struct sp__region *r, uint64_t first)
{
	z->pattern = calloc(z->npattern, sizeof(*z->pattern));
	if (!z->pattern)
		return -ENOMEM;
	z->min_blocks = UINT32_MAX;
	for (uint32_t i = 0; i < z->npattern; i++) {
		const struct sp__trackkind *kind = &r->pattern[(first + i) % r->npattern];

		z->pattern[i] = (struct sp__cubetrack){ z->pattern_blocks, z->pattern_skew };
		z->pattern_blocks += kind->blocks;
		z->pattern_skew += kind->skew;
		z->track_blocks = (uint32_t)sp__max(z->track_blocks, kind->blocks);
		z->min_blocks = (uint32_t)sp__min(z->min_blocks, kind->blocks);
	}
	return 0;
}

/* Adds tracks [first, end) of a zone, which have no slips. */
static int add_zone(struct sp__multimap *m, const struct sp__geozone *from, uint64_t first,
		    uint64_t end, const struct aims *aims)
{
	const struct sp__region *r = &from->map->regions[0];
	struct sp__cubezone z = { .tracks = end - first,
				  .skew_den = r->skew_den,
				  .npattern = r->npattern };
	struct sp__track track;

	if (first >= end)
		return 0;
	sp__trackmap_track(from->map, first, &track);
	z.first_block = from->first_lbn + track.first_lbn;
	if (copy_pattern(&z, r, first) || !SP__ARRAY_GROW_BY_ONE(m->zones, m->nzones)) {
		free(z.pattern);
		return -ENOMEM;
	}
	z.need_blocks = blocks_of(aims->need_deg, z.track_blocks);
	z.aim_blocks = blocks_of(aims->aim_deg, z.track_blocks);
	if (aims->shift_deg > 0) {
		z.round = from->round;
		z.round_offset = first % z.round;
		z.shift_blocks = blocks_of(aims->shift_deg, z.track_blocks) % z.track_blocks;
	}
	m->zones[m->nzones++] = z;
	return 0;
}

/* Adds the tracks of a zone that begin at first_block or later, without tracks with slips. */
static int add_tracks(struct sp__multimap *m, const struct sp_geometry *g,
		      const struct sp__geozone *from, uint64_t first_block, const struct aims *aims)
{
	const struct sp__trackmap *map = from->map;
	uint64_t first = 0, end = map->tracks;
	struct sp__track track;
	int rc = 0;

	if (from->first_lbn + map->blocks > g->blocks && end) /* the last track is cut off */
		end--;
	if (from->first_lbn + map->blocks <= first_block)
		return 0;
	if (first_block > from->first_lbn) {
		sp__trackmap_find(map, first_block - from->first_lbn, &track);
		first = track.number + (track.first_lbn < first_block - from->first_lbn);
	}
	for (size_t i = 0; !rc && i < map->nslips; i++) {
		sp__trackmap_at(map, map->slips[i], &track);
		if (track.number < first)
			continue;
		rc = add_zone(m, from, first, sp__min(track.number, end), aims);
		first = track.number + 1;
	}
	return rc ? rc : add_zone(m, from, first, end, aims);
}

static uint64_t farthest(const struct sp__hops *h)
{
	return h->nsteps ? h->steps[h->nsteps - 1].tracks : 0;
}

/* Inputs of the angles. */
struct aiming {
	enum sp__hopaim aim;
	double host_deg;  /* rotation while the host makes the next request */
	double extra_deg; /* conservatism */
};

static struct aims aims_of(const struct sp__hops *h, const struct aiming *by)
{
	bool track = by->aim == SP__AIM_TRACK && h->nsteps;
	double aim_deg = track ? h->steps[0].w_deg : h->aim_deg;
	/* Far hops must leave the host its part of the conservatism, too. */
	double near_deg = aim_deg + fmax(by->extra_deg - by->host_deg, 0);
	double extra_deg = track ? fmax(by->extra_deg, by->host_deg) : by->extra_deg;

	return (struct aims){ .need_deg = aim_deg + by->host_deg,
			      .aim_deg = aim_deg + extra_deg,
			      .near_deg = near_deg,
			      .reach = sp__hops_reach(h, near_deg) };
}

/*
 * True if hops sized for the inside of rounds cost less.  They need less, but D can be smaller, and
 * hops to other rounds get shift_deg more.  In cubes with s tracks from row to row along the last
 * dimension, s <= D, a step along each of two dimensions costs, in addition to its hops, jump / s
 * for jumps and each * s for changes of the round.
 */
static bool rounds_pay(const struct aims *in, const struct aims *all, uint64_t round)
{
	double jump = JUMP_HOPS * all->aim_deg, each = in->shift_deg / (double)round;
	double s = fmin(sqrt(jump / each), (double)in->reach);

	return jump / s + each * s < 2 * (all->aim_deg - in->aim_deg) + jump / (double)all->reach;
}

/*
 * Returns the angles for zones with rounds of a serpentine.  If all hops inside a round are in
 * reach, D is the reach of hops to other rounds.
 */
static struct aims aims_within(const struct sp_geometry *g, const struct aims *all,
			       const struct aiming *by)
{
	const struct sp__hops *h = &g->hops[SP_GEOMETRY_READ], *in = &g->within[SP_GEOMETRY_READ];
	struct aims a = aims_of(in, by);
	uint64_t round = 0;
	double far_deg;

	for (size_t i = 0; i < g->nzones; i++)
		round = sp__max(round, g->zones[i].round);
	if (!round || !a.reach || a.aim_deg >= all->aim_deg)
		return *all;
	if (a.reach + 1 >= round)
		a.reach = sp__max(a.reach, all->reach);
	a.reach = sp__min(a.reach, farthest(h));
	a.shift_deg = all->aim_deg - a.aim_deg;
	if (!sp__hops_need(h, a.reach, &far_deg))
		a.shift_deg = fmax(a.shift_deg, far_deg - a.near_deg);
	return rounds_pay(&a, all, round) ? a : *all;
}

/* Sets the times of moves, with a margin, because some rows are chosen that are just reachable. */
static void set_hops(struct sp__multimap *m, const struct sp_geometry *g, const struct aiming *by)
{
	const struct sp__hops *h = &g->hops[SP_GEOMETRY_READ], *in = &g->within[SP_GEOMETRY_READ];
	double more_deg = by->host_deg + by->extra_deg / SPARE, need_deg;
	double more_ns = more_deg / 360 * g->period_ns + g->overhead_ns[SP_GEOMETRY_READ];

	for (unsigned i = 0; i < SP__CUBE_HOPS; i++) {
		uint64_t tracks = sp__cubehop_tracks(i);
		double revolutions = (more_ns + sp__geometry_hop_ns(g, tracks)) / g->period_ns;

		if (g->nseeks || tracks <= farthest(h))
			m->hops[i] = (uint32_t)ceil(revolutions * SP__CUBE_REVOLUTION);
		m->within[i] = m->hops[i];
		if (!sp__hops_need(in, tracks, &need_deg))
			m->within[i] =
				(uint32_t)ceil((more_deg + need_deg) / 360 * SP__CUBE_REVOLUTION);
	}
}

int sp__multimap_zones(struct sp__multimap *m, const struct sp_geometry *g, uint64_t first_block,
		       enum sp__hopaim aim, double extra_deg)
{
	double host_deg = g->period_ns > 0 ? 360 * m->host_ns / g->period_ns : 0, aim_deg;
	struct aiming by = { aim, fmax(host_deg, HOST_DEG), extra_deg };
	int rc = sp_geometry_aim(g, SP_GEOMETRY_READ, &aim_deg);
	struct aims all, within;

	if (rc)
		return rc == -ENODATA ? SP_EUNSUP : rc;
	all = aims_of(&g->hops[SP_GEOMETRY_READ], &by);
	within = aims_within(g, &all, &by);
	m->reach = UINT64_MAX;
	set_hops(m, g, &by);
	for (size_t i = 0; !rc && i < g->nzones; i++) {
		const struct aims *aims = g->zones[i].round ? &within : &all;

		rc = add_tracks(m, g, &g->zones[i], first_block, aims);
		m->reach = sp__min(m->reach, aims->reach);
	}
	return rc ? rc : m->nzones ? 0 : SP_EUNSUP;
}

double sp__multimap_closer_deg(const struct sp_geometry *g)
{
	double min = g->nzones ? INFINITY : 0;

	for (size_t i = 0; i < g->nzones; i++) {
		const struct sp__hops *h = &g->within[SP_GEOMETRY_READ];

		if (!g->zones[i].round || !h->nsteps)
			h = &g->hops[SP_GEOMETRY_READ];
		min = h->nsteps ? fmin(min, h->aim_deg - h->steps[0].w_deg) : 0;
	}
	return fmax(min, 0);
}

bool sp__multimap_rounds(const struct sp__multimap *m)
{
	for (size_t i = 0; i < m->nzones; i++)
		if (m->zones[i].round)
			return true;
	return false;
}

uint64_t sp__cubezone_tracks(const struct sp__cubezone *z, uint64_t block)
{
	uint64_t repeat, rest;

	if (block < z->first_block)
		return 0;
	repeat = (block - z->first_block) / z->pattern_blocks;
	rest = (block - z->first_block) % z->pattern_blocks;
	return repeat * z->npattern + SP__BISECT(z->npattern, i, z->pattern[i].blocks <= rest);
}

int sp__multimap_zones_from(struct sp__multimap *m, const struct sp__multimap *of,
			    uint64_t first_block)
{
	m->nzones = 0;
	m->zones = calloc(of->nzones, sizeof(*m->zones));
	if (!m->zones)
		return -ENOMEM;
	for (size_t i = 0; i < of->nzones; i++) {
		struct sp__cubezone z = of->zones[i];

		if (first_block)
			z.skip = sp__max(z.skip, sp__cubezone_tracks(&z, first_block - 1));
		if (z.skip < z.tracks)
			m->zones[m->nzones++] = z;
	}
	return m->nzones ? 0 : -ENOSPC;
}

/* Sets the slots of a track, and the hop: see multimap.c. */
static void set_slots(struct sp__multimap *m, struct sp__cubezone *z)
{
	uint64_t c = m->cell_blocks, margin, lost = m->aligned ? c - 1 : 0;

	z->slots = (uint32_t)((z->min_blocks - sp__min(z->min_blocks, lost)) / c);
	margin = c + (c - 1) + z->track_blocks - z->slots * c;
	if (z->min_blocks < z->track_blocks)
		margin = (margin + 2) * z->track_blocks / z->min_blocks + 1;
	z->hop_blocks = z->aim_blocks + (uint32_t)margin;
}

void sp__multimap_set_slots(struct sp__multimap *m)
{
	for (size_t i = 0; i < m->nzones; i++)
		set_slots(m, &m->zones[i]);
}

int sp__multimap_place(struct sp__multimap *m)
{
	unsigned n = m->grid->n;
	uint64_t placed = 0, within = 1;

	if (sp__basicgrid_init(m->basic, m->grid))
		return SP_EUNSUP;
	m->cube_tracks = 1;
	for (unsigned i = 0; i < n; i++) {
		m->step[i] = i ? m->cube_tracks : 0;
		if (i && i < n - 1)
			within *= m->basic->k[i];
		if (i && __builtin_mul_overflow(m->cube_tracks, m->basic->k[i], &m->cube_tracks))
			return -ENOSPC;
	}
	if (within > m->reach)
		return SP_EUNSUP;
	sp__multimap_set_slots(m);
	for (size_t i = 0; i < m->nzones; i++) {
		struct sp__cubezone *z = &m->zones[i];

		z->first_cube = placed;
		z->pack = (uint32_t)(z->slots / m->basic->k[0]);
		if (z->pack)
			z->groups = sp__min((z->tracks - z->skip) / m->cube_tracks,
					    sp__div_up(m->basic->local - placed, z->pack));
		else
			z->groups = 0;
		placed = sp__min(placed + z->groups * z->pack, m->basic->local);
	}
	return placed == m->basic->local ? 0 : -ENOSPC;
}

void sp__multimap_shrink(struct sp__multimap *m)
{
	while (m->nzones > 1 && !m->zones[m->nzones - 1].groups)
		m->nzones--;
	(void)SP__ARRAY_RESIZE(m->zones, m->nzones);
}

/* Returns the mean cost of a step along each dimension without its hops, plus unused space. */
static double cost_of(const struct sp__multimap *m)
{
	const struct sp__cubezone *z = &m->zones[0];
	double shift = z->round ? (double)z->shift_blocks / z->hop_blocks / (double)z->round : 0;
	double jumps = 0, shifts = 0,
	       blocks = (double)(sp__multimap_end(m) - sp__multimap_begin(m)) * m->basic->volumes;

	for (unsigned i = 0; i < m->grid->n; i++) {
		if (m->grid->size[i] > 1)
			jumps += (double)(m->basic->cubes[i] - 1) / (double)(m->grid->size[i] - 1);
		if (m->basic->k[i] > 1)
			shifts += shift * (double)m->step[i];
	}
	return JUMP_HOPS * jumps + shifts + 1 - (double)m->grid->cells * m->cell_blocks / blocks;
}

struct sizes {
	struct sp__multimap *m;
	int (*fn)(void *arg, struct sp__multimap *m);
	void *arg;
};

/* Tries all balanced sizes of dimension i with which the tracks of a cube stay within limits. */
static int try_sizes(const struct sizes *s, unsigned i, uint64_t tracks)
{
	struct sp__multimap *m = s->m;
	uint64_t size, k, max, longest = 0;
	int rc = 0;

	if (i == m->grid->n)
		return sp__multimap_place(m) ? 0 : s->fn(s->arg, m);
	for (size_t z = 0; z < m->nzones; z++)
		longest = sp__max(longest, m->zones[z].tracks - m->zones[z].skip);
	size = m->grid->size[i];
	max = (i < m->grid->n - 1 ? m->reach : longest) / tracks;
	for (uint64_t parts = 1; !rc && parts <= size; parts = sp__div_up(size, k - 1)) {
		k = sp__div_up(size, parts);
		m->basic->k[i] = k;
		if (k <= max)
			rc = try_sizes(s, i + 1, tracks * k);
		if (k == 1)
			break;
	}
	return rc;
}

int sp__multimap_each(struct sp__multimap *m, int (*fn)(void *arg, struct sp__multimap *m),
		      void *arg)
{
	struct sizes s = { m, fn, arg };
	uint64_t shortest = UINT64_MAX, before = 0;
	int rc = 0;

	/* Dimension 0 is as long as the tracks of the zones in use allow. */
	for (size_t z = 0; !rc && z < m->nzones; z++) {
		set_slots(m, &m->zones[z]);
		shortest = sp__min(shortest, m->zones[z].slots);
		if (!shortest)
			break;
		m->basic->k[0] = sp__balanced(m->grid->size[0], shortest);
		if (m->basic->k[0] != before)
			rc = try_sizes(&s, 1, 1);
		before = m->basic->k[0];
	}
	return rc;
}

struct choice {
	uint64_t best[SP_CUBE_DIMS_MAX];
	double cost;
};

static int consider(void *arg, struct sp__multimap *m)
{
	struct choice *c = arg;
	double cost = cost_of(m);

	if (cost < c->cost) {
		c->cost = cost;
		memcpy(c->best, m->basic->k, sizeof(c->best));
	}
	return 0;
}

int sp__multimap_choose(struct sp__multimap *m)
{
	struct choice c = { .cost = INFINITY };

	(void)sp__multimap_each(m, consider, &c);
	if (c.cost == INFINITY)
		return -ENOSPC;
	memcpy(m->basic->k, c.best, sizeof(m->basic->k));
	return sp__multimap_place(m);
}
