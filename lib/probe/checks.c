/* SPDX-License-Identifier: MIT */
/*
 * Is it true?  Each thing that the result affirms is looked at again on the device,
 * by probes that had no part in finding it:
 *
 *  - tracks: in every zone boundaries of random tracks, and whether parts of a track are
 *    these parts of a turn (of two tracks taken for one they are more);
 *  - the layout: hops between random tracks take what distance and heads foretell;
 *  - D: adjacent blocks, as the finished geometry names them, are hopped to: a hop
 *    that takes about W has caught its block, one that takes a revolution more has
 *    missed it.  That is done at W, at W with the conservatism that the noise of this host
 *    advises, and with that at the farthest tracks in reach.
 *
 * What fails is no longer affirmed: a zone is dropped, layout and adjacency are unknown.
 */
#include <errno.h>
#include "dev/geometry.h"
#include "probe/state.h"

#define RECHECKS 60
#define ZONE_RECHECKS 3
#define PART_OFF 0.1
#define LAYOUT_HOPS 16
#define HOPS 100
#define FAR_HOPS 40

/* Looks once more before it says no. */
static int boundary(struct sp__probe *p, const struct sp__pzone *z, uint64_t t, bool *is)
{
	int rc = 0;

	*is = false;
	for (unsigned i = 0; i < 2 && !*is && !rc; i++)
		rc = sp__edge_at(p, sp__pzone_start(z, t), sp__pzone_length(z, t - 1), is);
	return rc;
}

/* Is a part of a track that part of a turn?  Of several tracks taken for one some part is not. */
static int whole(struct sp__probe *p, const struct sp__pzone *z, uint64_t t, bool *is)
{
	uint32_t blocks = sp__pzone_length(z, t);
	uint64_t lbn = sp__pzone_start(z, t) + blocks / 4;
	double a, b;
	int rc = 0;

	*is = true;
	for (uint32_t part = 4; part <= 16 && *is && !rc; part *= 2) {
		uint32_t some = blocks / part;

		*is = !some;
		for (unsigned i = 0; i < 2 && !*is && !rc; i++) {
			rc = sp__angle_agreed(p, lbn, &a);
			if (!rc)
				rc = sp__angle_agreed(p, lbn + some, &b);
			if (!rc)
				*is = fabs(sp__wrap(b - a - (double)some / blocks)) < PART_OFF;
		}
	}
	return rc;
}

/* *right: there is no reason to drop the zone. */
static int recheck_zone(struct sp__probe *p, const struct sp__pzone *z, unsigned n, bool *right)
{
	unsigned misses = 0, asked = 0;
	int rc = 0;

	for (unsigned i = 0; i < n && !rc; i++) {
		uint64_t t = z->tracks < 3 ? 0 : 1 + sp__rng_below(&p->rng, z->tracks - 2);
		bool is = true, one = true;

		if (t)
			rc = boundary(p, z, t, &is);
		if (!rc)
			rc = whole(p, z, t, &one);
		if (!rc) {
			asked++;
			misses += !is || !one;
		}
		rc = rc == -EIO ? 0 : rc;
	}
	p->r->rechecked += asked;
	p->r->recheck_misses += misses;
	*right = misses < 2 || 2 * misses < asked;
	return rc;
}

static int recheck(struct sp__probe *p)
{
	unsigned each = RECHECKS / (unsigned)p->nzones + 1;
	bool right;
	int rc = 0;

	for (size_t i = 0; i < p->nzones && !rc;) {
		rc = recheck_zone(p, &p->zones[i], each > ZONE_RECHECKS ? each : ZONE_RECHECKS,
				  &right);
		if (right)
			i++;
		else
			sp__zones_drop(p, i, 1);
	}
	return rc;
}

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

/* Hops in the base's zone take what the layout foretells. */
static int check_layout(struct sp__probe *p)
{
	const struct sp__pzone *z = p->zones;
	uint64_t first = 0, round = sp__place_round(&p->place), at, k;
	unsigned misses = 0, n = 0;
	int rc = 0;

	while (z < p->zones + p->nzones && p->base >= first + z->tracks)
		first += z++->tracks;
	if (!sp__place_words(&p->place) || z == p->zones + p->nzones || z->tracks <= round)
		return 0;
	/* At the base a round begins. */
	first += (p->base - first) % round;
	for (unsigned i = 0; i < 16 * LAYOUT_HOPS && n < LAYOUT_HOPS && !rc; i++) {
		double ns, want;

		k = layout_hop(p, z->tracks - round, i % 2, &at);
		want = sp__hop_foretold(p, at, at + k);
		if (want <= 0 || at + k + round > z->tracks)
			continue;
		/* At which end bands begin shows only from round to round. */
		if (p->place.order == SP__ORDER_BANDS && at / round != (at + k) / round)
			continue;
		rc = sp__hop_time(p, first + at, first + at + k, false, &ns);
		if (!rc) {
			n++;
			misses +=
				fabs(ns - want) >
				p->spin.period_ns / 100 + 6 * sp__hop_error(p) * p->spin.period_ns;
		}
		rc = rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	p->r->layout_hops = n;
	p->r->layout_hop_misses = misses;
	if (misses > 1)
		p->place = (struct sp__trackorder){ .order = SP__ORDER_UNKNOWN };
	return rc;
}

/* One hop from a random block to an adjacent one, of more than `least` tracks. */
static int hop(struct sp__probe *p, const struct sp_geometry *g, uint64_t least, uint64_t reach,
	       double extra, bool *made, bool *missed)
{
	const struct sp__pzone *z = &p->zones[sp__rng_below(&p->rng, p->nzones)];
	uint64_t lbn = z->first_lbn + sp__rng_below(&p->rng, z->blocks), to;
	double aim, took, period = p->spin.period_ns;
	struct sp__shot a, b;
	int rc;

	*made = false;
	rc = sp_geometry_adjacent(g, lbn, least + 1 + sp__rng_below(&p->rng, reach - least),
				  SP_GEOMETRY_READ, extra, &to);
	if (rc || sp_geometry_aim(g, SP_GEOMETRY_READ, &aim))
		return 0;
	rc = p->r->cache ? sp__probe_flush(p, lbn) : 0;
	if (!rc)
		rc = sp__probe_read(p, lbn, &a);
	if (!rc) {
		p->r->reads++;
		rc = p->t->ops->transfer(p->t, to, false, &b);
	}
	if (rc)
		return rc == -EIO ? 0 : rc;
	took = (double)(b.done_ns - a.done_ns);
	*made = true;
	*missed = took > (aim + extra) / 360 * period + period / 2;
	return 0;
}

/* far: only the farthest sixteenth of what is in reach. */
static int hops(struct sp__probe *p, const struct sp_geometry *g, double extra, unsigned most,
		bool far, unsigned *n, unsigned *misses)
{
	uint64_t reach;
	double aim;
	bool made, missed;
	int rc = 0;

	if (sp_geometry_aim(g, SP_GEOMETRY_READ, &aim) ||
	    sp_geometry_reach(g, SP_GEOMETRY_READ, aim, &reach) || !reach)
		return 0;
	for (unsigned i = 0; i < 4 * most && *n < most && !rc; i++) {
		rc = hop(p, g, far ? reach - 1 - reach / 16 : 0, reach, extra, &made, &missed);
		if (rc || !made)
			continue;
		++*n;
		*misses += missed;
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
		rc = hops(p, g, r->conservatism_deg,
			  sp__place_words(&p->place) ? FAR_HOPS : 3 * FAR_HOPS, true, &r->far_hops,
			  &r->far_hop_misses);
	/* Without a layout a rare hop may be far. */
	p->no_reach = (sp__place_words(&p->place) ? 5 : 20) * r->far_hop_misses > r->far_hops;
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
	sp__probe_progress(p, SP_PROBE_CHECKS, 0.8);
	return rc ? rc : recheck(p);
}
