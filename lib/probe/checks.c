/* SPDX-License-Identifier: MIT */
/*
 * Is it true?  What the result affirms of layout and hops is looked at again on the device,
 * by probes that had no part in finding it (tracks: recheck.c):
 *
 *  - the layout: hops between random tracks take what distance and heads foretell;
 *  - D: adjacent blocks, as the finished geometry names them, are hopped to: a hop
 *    that takes about W has caught its block, one that takes a revolution more has
 *    missed it.  That is done at W, at W with the conservatism that the noise of this host
 *    advises, and with that at the farthest tracks in reach.
 *
 * What fails is no longer affirmed: layout and adjacency are unknown.
 */
#include <errno.h>
#include "dev/geometry.h"
#include "probe/state.h"

#define LAYOUT_HOPS 16
#define EIGHTHS 8
#define LAYOUT_TRIES 64	 /* for each */
#define LAYOUT_OFF 0.002 /* rev, besides errors */
#define HOPS 100
#define FAR_HOPS 40
#define SURE 3

/*
 * A hop of up to a few hundred tracks from a random one, counted from the start of a round.  Or
 * from the start of a band to the end of the next, where in another layout the arm would move.
 */
static uint64_t layout_hop(struct sp__probe *p, uint64_t tracks, bool turn, uint64_t *at)
{
	uint64_t band = p->place.band, far;

	*at = sp__rng_below(&p->rng, tracks);
	if (turn && p->place.order == SP__ORDER_BANDS && p->place.surfaces > 1) {
		*at -= *at % sp__place_round(&p->place);
		*at += sp__rng_below(&p->rng, p->place.surfaces - 1) * band;
		return 2 * band - 1;
	}
	far = *at < tracks ? tracks - *at : 1;
	return 1 + sp__rng_below(&p->rng, far < 300 ? far : 300);
}

/* Does a hop not take what is wanted? */
static int off_by(struct sp__probe *p, uint64_t from, uint64_t to, double want, bool *off)
{
	double ns = 0;
	int rc = sp__hop_time(p, from, to, false, &ns);

	*off = fabs(ns - want) > (LAYOUT_OFF + 6 * sp__hop_error(p)) * p->spin.period_ns;
	return rc;
}

/*
 * On one surface a track farther on is farther for the arm, too, all over the zone: where a surface
 * ended unseen, it is not.
 */
static int check_surface(struct sp__probe *p, uint64_t first, uint64_t tracks)
{
	double ns, most = 0, little = 6 * sp__hop_error(p) * p->spin.period_ns;
	unsigned misses = 0;
	int rc = 0;

	for (unsigned i = 1; i <= EIGHTHS && !rc; i++) {
		rc = sp__hop_time(p, first, first + tracks / EIGHTHS * i - 1, false, &ns);
		if (!rc) {
			p->r->layout_hops++;
			misses += ns < most - little;
			most = fmax(most, ns);
		}
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	p->r->layout_hop_misses += misses;
	return rc;
}

/* Hops in the base's zone take what the layout foretells. */
static int check_layout(struct sp__probe *p)
{
	const struct sp__pzone *z = p->zones;
	uint64_t first = 0, round = sp__place_round(&p->place), start, span, at, k;
	struct sp_probe_result *r = p->r;
	unsigned n = 0;
	bool line = p->place.order == SP__ORDER_SURFACE || p->place.surfaces == 1;
	int rc = 0;

	while (z < p->zones + p->nzones && p->base >= first + z->tracks)
		first += z++->tracks;
	if (!sp__place_words(&p->place) || z == p->zones + p->nzones)
		return 0;
	/* At the base a round begins. */
	start = (p->base - first) % round;
	span = p->place.whole ? z->tracks : z->tracks > 2 * round ? z->tracks - round : 0;
	if (line)
		rc = check_surface(p, first, z->tracks);
	first += start;
	for (unsigned i = 0; i < LAYOUT_TRIES * LAYOUT_HOPS && n < LAYOUT_HOPS && span && !rc;
	     i++) {
		double want;
		bool off;

		k = layout_hop(p, span, i % 2, &at);
		want = sp__hop_foretold(p, at, at + k);
		if (want <= 0 || at + k >= span)
			continue;
		/* At which end bands begin shows only from round to round. */
		if (p->place.order == SP__ORDER_BANDS && at / round != (at + k) / round)
			continue;
		/* What misses once is made again. */
		rc = off_by(p, first + at, first + at + k, want, &off);
		if (!rc && off)
			rc = off_by(p, first + at, first + at + k, want, &off);
		n += !rc;
		r->layout_hop_misses += !rc && off;
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	r->layout_hops += n;
	if (r->layout_hop_misses)
		p->place = (struct sp__trackorder){ .order = SP__ORDER_UNKNOWN };
	return rc;
}

/*
 * From a random block to an adjacent one, as far as the block's place allows, or if far of the
 * farthest sixteenth of that; false: there is none.
 */
static bool choose_hop(struct sp__probe *p, const struct sp_geometry *g, bool far, double extra,
		       uint64_t hop[2], double *aim)
{
	const struct sp__pzone *z = &p->zones[sp__rng_below(&p->rng, p->nzones)];
	const struct sp__hops *h;
	struct sp_track from, to;
	uint64_t reach, least;

	hop[0] = z->first_lbn + sp__rng_below(&p->rng, z->blocks);
	if (sp_geometry_track(g, hop[0], &from) ||
	    sp__geometry_hops(g, SP_GEOMETRY_READ, from.number, from.number, &h))
		return false;
	reach = sp__hops_reach(h, h->aim_deg);
	least = far && reach ? reach - 1 - reach / 16 : 0;
	if (!reach ||
	    sp_geometry_adjacent(g, hop[0], least + 1 + sp__rng_below(&p->rng, reach - least),
				 SP_GEOMETRY_READ, extra, &hop[1]) ||
	    sp_geometry_track(g, hop[1], &to) ||
	    sp__geometry_hops(g, SP_GEOMETRY_READ, from.number, to.number, &h))
		return false;
	*aim = h->aim_deg + extra;
	return true;
}

static int shoot(struct sp__probe *p, const uint64_t hop[2], double aim, bool *missed)
{
	double period = p->spin.period_ns;
	struct sp__shot a, b;
	int rc = p->r->cache ? sp__probe_flush(p, hop[0]) : 0;

	if (!rc)
		rc = sp__probe_read(p, hop[0], &a);
	if (!rc) {
		p->r->reads++;
		rc = p->t->ops->transfer(p->t, hop[1], false, &b);
	}
	if (!rc)
		*missed = (double)(b.done_ns - a.done_ns) > aim / 360 * period + period / 2;
	return rc;
}

/* far: what misses three times is missed not by noise. */
static int hops(struct sp__probe *p, const struct sp_geometry *g, double extra, unsigned most,
		bool far, unsigned *n, unsigned *misses)
{
	uint64_t hop[2];
	double aim;
	int rc = 0;

	for (unsigned i = 0; i < 4 * most && *n < most && !rc; i++) {
		bool missed = true;

		if (!choose_hop(p, g, far, extra, hop, &aim))
			continue;
		for (unsigned k = 0; k < (far ? SURE : 1) && missed && !rc; k++)
			rc = shoot(p, hop, aim, &missed);
		if (!rc) {
			++*n;
			*misses += missed;
		}
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

static int check_reach(struct sp__probe *p, const struct sp_geometry *g)
{
	struct sp_probe_result *r = p->r;
	int rc = hops(p, g, 0, HOPS, false, &r->hops, &r->hop_misses);

	sp__probe_progress(p, SP_PROBE_CHECKS, 0.6);
	/* 2.5 deviations of the noise, and a degree for what was not measured exactly. */
	r->conservatism_deg = ceil(2.5 * p->scatter.sd_ns * 360 / p->spin.period_ns + 1);
	if (!rc)
		rc = hops(p, g, r->conservatism_deg, HOPS, false, &r->guarded_hops,
			  &r->guarded_hop_misses);
	if (!rc)
		rc = hops(p, g, r->conservatism_deg, FAR_HOPS, true, &r->far_hops,
			  &r->far_hop_misses);
	p->no_reach = 5 * r->far_hop_misses > r->far_hops;
	return rc;
}

int sp__checks(struct sp__probe *p, const struct sp_geometry *g)
{
	int rc;

	if (!p->nzones)
		return 0;
	sp__probe_progress(p, SP_PROBE_CHECKS, 0);
	rc = check_layout(p);
	if (!rc)
		rc = check_reach(p, g);
	return rc;
}
