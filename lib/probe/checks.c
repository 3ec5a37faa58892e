/* SPDX-License-Identifier: MIT */
/*
 * Is it true?  Boundaries are looked at again at random tracks, and adjacent
 * blocks, as the finished geometry names them, are hopped to on the device: a
 * hop that takes about W has caught its block, one that takes a revolution more
 * has missed it.  That is done at W and at W with the conservatism that the
 * noise of this host advises.
 */
#include <errno.h>
#include "dev/geometry.h"
#include "probe/state.h"

#define RECHECKS 60
#define HOPS 100

static int recheck(struct sp__probe *p)
{
	bool is;
	int rc = 0;

	for (unsigned i = 0; i < RECHECKS && !rc; i++) {
		const struct sp__pzone *z = &p->zones[sp__rng_below(&p->rng, p->nzones)];
		uint64_t t;

		if (z->tracks < 3)
			continue;
		t = 1 + sp__rng_below(&p->rng, z->tracks - 1);
		rc = sp__edge_at(p, sp__pzone_start(z, t), sp__pzone_length(z, t - 1), &is);
		if (!rc) {
			p->r->rechecked++;
			p->r->recheck_misses += !is;
		}
		rc = rc == -EIO ? 0 : rc;
	}
	return rc;
}

/* One hop from a random block to an adjacent one. */
static int hop(struct sp__probe *p, const struct sp_geometry *g, uint64_t reach, double extra,
	       bool *made, bool *missed)
{
	const struct sp__pzone *z = &p->zones[sp__rng_below(&p->rng, p->nzones)];
	uint64_t lbn = z->first_lbn + sp__rng_below(&p->rng, z->blocks), to;
	double aim, took, period = p->spin.period_ns;
	struct sp__shot a, b;
	int rc;

	*made = false;
	rc = sp_geometry_adjacent(g, lbn, 1 + sp__rng_below(&p->rng, reach), SP_GEOMETRY_READ,
				  extra, &to);
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

static int hops(struct sp__probe *p, const struct sp_geometry *g, double extra, unsigned *n,
		unsigned *misses)
{
	uint64_t reach;
	double aim;
	bool made, missed;
	int rc = 0;

	if (sp_geometry_aim(g, SP_GEOMETRY_READ, &aim) ||
	    sp_geometry_reach(g, SP_GEOMETRY_READ, aim, &reach) || !reach)
		return 0;
	for (unsigned i = 0; i < 4 * HOPS && *n < HOPS && !rc; i++) {
		rc = hop(p, g, reach, extra, &made, &missed);
		if (rc || !made)
			continue;
		++*n;
		*misses += missed;
	}
	return rc;
}

int sp__checks(struct sp__probe *p, const struct sp_geometry *g)
{
	double deg = 360 / p->spin.period_ns;
	int rc;

	if (!p->nzones)
		return 0;
	sp__probe_progress(p, SP_PROBE_CHECKS, 0);
	rc = recheck(p);
	if (!rc)
		rc = hops(p, g, 0, &p->r->hops, &p->r->hop_misses);
	sp__probe_progress(p, SP_PROBE_CHECKS, 0.6);
	/* 2.5 deviations of the noise, and a degree for what was not measured exactly. */
	p->r->conservatism_deg = ceil(2.5 * p->scatter.sd_ns * deg + 1);
	if (!rc)
		rc = hops(p, g, p->r->conservatism_deg, &p->r->guarded_hops,
			  &p->r->guarded_hop_misses);
	return rc;
}
