/* SPDX-License-Identifier: MIT */
/*
 * Makes a geometry from the measurements of a probe.
 *
 * A track with slipped blocks is known, their position on it is not.  They are put at its end, so
 * boundaries are exact, and angles within the track are wrong by at most the number of slipped
 * blocks.  Angles count from the start of block 0.
 *
 * Without a layout there are no adjacent blocks, and distances of seeks are in tracks.
 */
#include <stdlib.h>
#include "base/minmax.h"
#include "dev/geometry.h"
#include "probe/state.h"

#define SKEW_DEN 1000000000u
#define PATTERN_MAX 65536

static sp__angle angle_of_rev(double rev)
{
	return (sp__angle)((rev - floor(rev)) * 0x1p64);
}

/* Rounds sums, so that rounding errors do not add up. */
static void put_skews(const struct sp__pzone *z, struct sp__trackkind *pattern, uint32_t n)
{
	double sum = 0;
	uint64_t last = 0, next;

	for (uint32_t i = 0; i < n; i++) {
		sum += z->nskew ? z->skew[i % z->nskew] : 0;
		next = (uint64_t)(sum * SKEW_DEN + 0.5);
		pattern[i].skew = (uint32_t)((next - last) % SKEW_DEN);
		last = next;
	}
}

/* Positions of the slipped blocks, at the ends of their tracks. */
static uint64_t *slips_of(const struct sp__pzone *z, size_t *n)
{
	uint64_t *slips;
	size_t at = 0;

	*n = 0;
	for (size_t i = 0; i < z->nodd; i++)
		*n += z->odd[i].missing;
	slips = malloc((*n + 1) * sizeof(*slips));
	for (size_t i = 0; i < z->nodd && slips; i++) {
		struct sp__pzone plain = *z;
		uint64_t end;

		plain.nodd = 0;
		end = sp__pzone_start(&plain, z->odd[i].track + 1) - z->first_lbn;
		for (uint32_t k = z->odd[i].missing; k; k--)
			slips[at++] = end - k;
	}
	return slips;
}

static int add_zone(struct sp__probe *p, struct sp_geometry *g, const struct sp__pzone *z)
{
	uint64_t nskew = z->nskew ? z->nskew : 1, n = z->nlens / sp__gcd(z->nlens, nskew) * nskew;
	struct sp__region r = { .tracks = z->tracks, .skew_den = SKEW_DEN };
	uint64_t *slips;
	size_t nslips;
	int rc = -ENOMEM;

	if (n > PATTERN_MAX)
		return sp__geometry_add_unknown(g, "zone");
	r.start = angle_of_rev(z->start - p->tracks.zones[0].start);
	r.npattern = (uint32_t)n;
	r.pattern = calloc(n, sizeof(*r.pattern));
	slips = slips_of(z, &nslips);
	if (r.pattern && slips) {
		for (uint32_t i = 0; i < n; i++)
			r.pattern[i].blocks = z->lens[i % z->nlens];
		put_skews(z, r.pattern, r.npattern);
		rc = sp__geometry_add_zone(g, (struct sp__geozone){ .first_lbn = z->first_lbn }, &r,
					   slips, nslips, p->err);
	}
	free(r.pattern);
	free(slips);
	return rc;
}

/*
 * At the start of a zone of a serpentine the arm can have to cross it, except where a surface
 * continues behind another.
 */
static bool is_apart(const struct sp__probe *p, const struct sp__pzone *z)
{
	return p->layout.order.kind == SP__ORDER_BANDS ||
	       (p->layout.order.kind == SP__ORDER_SURFACE && z[-1].lens[0] != z->lens[0]);
}

/* Without hops, angles are not needed, so zones without angles are accepted. */
static int add_zones(struct sp__probe *p, struct sp_geometry *g)
{
	int rc = 0;

	for (size_t i = 0; i < p->tracks.nzones && !rc; i++) {
		const struct sp__pzone *z = &p->tracks.zones[i];
		size_t before = g->nzones;

		if (z->nskew || !p->seeks.nseeks)
			rc = add_zone(p, g, z);
		if (rc || g->nzones == before)
			continue;
		g->zones[before].apart = i && is_apart(p, z);
		if (z->rounds && p->layout.order.kind == SP__ORDER_BANDS)
			g->zones[before].round = sp__order_round(&p->layout.order);
	}
	return rc;
}

/* If rounds of bands are known, hops inside them too. */
static int add_hops(struct sp__probe *p, struct sp_geometry *g, enum sp_geometry_op op)
{
	bool write = op == SP_GEOMETRY_WRITE, rounds = false;
	bool known = !p->checks.no_reach && !(write && p->checks.no_write_reach);
	int rc = known ? sp__seeks_reach(&p->seeks, &g->hops[op], false, write) : 0;

	for (size_t i = 0; i < g->nzones; i++)
		rounds |= g->zones[i].round > 0;
	g->hops[op].estimated = write && sp__writes_estimated(p);
	if (!rounds)
		return rc;
	g->within[op].estimated = g->hops[op].estimated;
	return rc || !known ? rc : sp__seeks_reach(&p->seeks, &g->within[op], true, write);
}

/* Seeks alone: a hop within a track takes overhead and bus time. */
static int add_seeks(struct sp__probe *p, struct sp_geometry *g)
{
	const struct sp_probe_seek *s = p->seeks.seeks;
	double overhead = p->seeks.nseeks && !s[0].tracks ? s[0].read_ns : 0;
	int rc = 0;

	p->r->overhead_ns = fmax(overhead - p->tm.cache.bus_ns, 0);
	g->overhead_ns[SP_GEOMETRY_READ] = p->r->overhead_ns;
	g->overhead_ns[SP_GEOMETRY_WRITE] = p->r->overhead_ns;
	g->seek_in_tracks =
		p->layout.order.kind == SP__ORDER_UNKNOWN || p->layout.order.kind == SP__ORDER_LINE;
	for (size_t i = 0; i < p->seeks.nseeks && !rc; i++)
		if (s[i].cylinders || (s[i].tracks && !g->seek_in_tracks))
			rc = sp__geometry_add_seek(g, s[i].cylinders,
						   fmax(s[i].read_ns - overhead, 0));
	return rc;
}

static int add_facts(struct sp__probe *p, struct sp_geometry *g)
{
	const struct sp_probe_evidence *e = &p->rotation.evidence;
	const struct {
		const char *name;
		double value;
	} facts[] = {
		{ "samples", e->samples },
		{ "trials", e->trials },
		{ "concentration", e->concentration },
		{ "chance", e->chance },
		{ "fast_share", e->fast_share },
		{ "same_ns", e->same_ns },
		{ "other_ns", e->other_ns },
		{ "near_ns", e->near_ns },
		{ "far_ns", e->far_ns },
		{ "noise_ns", p->tm.scatter.sd_ns },
		{ "noise_tail", p->tm.scatter.tail },
		{ "turnaround_ns", p->tm.turnaround_ns },
		{ "period_ppm", p->tm.spin.period_ppm },
		{ "bus_ns", p->tm.cache.bus_ns },
		{ "conservatism_deg", p->r->checks.conservatism_deg },
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]) && !rc; i++)
		rc = sp__geometry_fact(g, facts[i].name,
				       isfinite(facts[i].value) ? facts[i].value : 0);
	for (size_t i = 0; i < p->r->nunknown && !rc; i++)
		rc = sp__geometry_add_unknown(g, p->r->unknown[i]);
	return rc;
}

static int add_tracks(struct sp__probe *p, struct sp_geometry *g)
{
	const char *layout = sp__order_values(&p->layout.order);
	int rc = layout ? sp__geometry_text(&g->layout, layout) : 0;

	g->period_ns = p->tm.spin.period_ns;
	g->surfaces = p->layout.order.surfaces;
	if (!rc)
		rc = add_zones(p, g);
	if (!rc && p->seeks.nseeks)
		rc = add_seeks(p, g);
	if (!rc && p->seeks.nseeks)
		rc = add_hops(p, g, SP_GEOMETRY_READ);
	if (!rc && p->seeks.nseeks)
		rc = add_hops(p, g, SP_GEOMETRY_WRITE);
	if (p->r->checks.hops)
		g->miss_rate = (double)p->r->checks.hop_misses / p->r->checks.hops;
	return rc;
}

/* Adds the rates of a device without tracks: of one read of 4 KiB, of many, and of long ones. */
static void add_rates(const struct sp__probe *p, struct sp_geometry *g)
{
	const struct sp_probe_load *l = &p->r->load;
	double mb_s = 0;

	if (!l->nrates || !(l->rates[0].p50_ns > 0))
		return;
	g->latency_s = l->rates[0].p50_ns * 1e-9;
	for (size_t i = 0; i < l->nrates; i++) {
		const struct sp_probe_rate *r = &l->rates[i];

		if (r->bytes == l->rates[0].bytes && (!l->knee_depth || r->depth <= l->knee_depth))
			g->requests_s = fmax(g->requests_s, r->requests_s);
		mb_s = fmax(mb_s, r->mb_s);
	}
	g->transfer_s_per_mib = 1.048576 / mb_s;
	g->seek_s = 1 / g->requests_s;
}

int sp__made_geometry(struct sp__probe *p, struct sp_geometry **out)
{
	struct sp_geometry *g = sp__geometry_alloc();
	int rc = -ENOMEM;

	*out = NULL;
	if (!g)
		return rc;
	g->blocks = p->tm.target->blocks;
	g->block_bytes = p->tm.target->block_bytes;
	g->partial = p->r->stopped;
	rc = sp__geometry_text(&g->device, p->r->device);
	if (!rc)
		rc = sp__geometry_text(&g->source, "probe");
	if (!rc)
		rc = sp__geometry_text(&g->verdict, sp_probe_verdict_name(p->rotation.verdict));
	if (!rc && p->rotation.verdict == SP_PROBE_ROTATING)
		rc = add_tracks(p, g);
	if (!rc && p->rotation.verdict == SP_PROBE_NOT_ROTATING)
		add_rates(p, g);
	if (!rc)
		rc = add_facts(p, g);
	if (!rc)
		rc = sp__geometry_seal(g, p->err);
	if (rc)
		sp_geometry_free(g);
	else
		*out = g;
	return rc;
}
