/* SPDX-License-Identifier: MIT */
/* Makes the result of a probe from what the inner rooms have measured. */
#include <stdlib.h>
#include <string.h>
#include <spindle/probe.h>
#include "base/enum.h"
#include "base/minmax.h"
#include "dev/geometry.h"
#include "probe/state.h"

/* The names of verdicts and steps. */

SP__ENUM_TABLE(sp_probe_verdict, { "inconclusive", SP_PROBE_INCONCLUSIVE },
	       { "rotating", SP_PROBE_ROTATING }, { "not-rotating", SP_PROBE_NOT_ROTATING },
	       { "layered", SP_PROBE_LAYERED })

SP__ENUM_TABLE(sp_probe_step, { "rotation", SP_PROBE_ROTATION }, { "period", SP_PROBE_PERIOD },
	       { "zones", SP_PROBE_ZONES }, { "skews", SP_PROBE_SKEWS },
	       { "seeks", SP_PROBE_SEEKS }, { "checks", SP_PROBE_CHECKS },
	       { "depths", SP_PROBE_DEPTHS })

static void unknown(struct sp__probe *p, const char *what)
{
	struct sp_probe_result *r = p->r;
	size_t capacity = sizeof(r->unknown) / sizeof(r->unknown[0]);

	for (size_t i = 0; i < r->nunknown; i++)
		if (strcmp(r->unknown[i], what) == 0)
			return;
	if (r->nunknown < capacity)
		r->unknown[r->nunknown++] = what;
}

void sp__made_unknown(struct sp__probe *p)
{
	uint64_t end = 0;
	bool covers = true;

	p->r->nunknown = 0;
	if (p->rotation.verdict != SP_PROBE_ROTATING)
		return;
	for (size_t i = 0; i < p->tracks.nzones; i++) {
		covers &= p->tracks.zones[i].first_lbn == end;
		end = sp__pzone_end(&p->tracks.zones[i]);
		if (!p->tracks.zones[i].nskew)
			unknown(p, "angles");
	}
	if (!covers || end != p->tm.target->blocks)
		unknown(p, "part of the tracks");
	if (5 * p->tm.cache.look_misses > p->tm.cache.looks)
		unknown(p, "cache");
	if (!sp__order_values(&p->layout.order))
		unknown(p, "layout");
	if (p->layout.order.kind == SP__ORDER_CYLINDER && p->layout.order.surfaces > 1 &&
	    !p->layout.order.reverses_known)
		unknown(p, "direction of heads");
	if (!sp__reach_known(p))
		unknown(p, "adjacency");
	else if (p->checks.no_write_reach)
		unknown(p, "adjacency of writes");
	if (p->seeks.late)
		unknown(p, "seek curve");
	else if (sp__writes_estimated(p))
		unknown(p, "writes (estimated from reads)");
}

static double sum_skew(const struct sp__pzone *z)
{
	double sum = 0;

	for (uint32_t i = 0; i < z->nskew; i++)
		sum += z->skew[i];
	return z->nskew ? sum / z->nskew : 0;
}

static void tell_zone(struct sp__probe *p, const struct sp__pzone *z, struct sp_probe_zone *out)
{
	double mean = (double)z->blocks / (double)z->tracks, turns = 1 + sum_skew(z);

	*out = (struct sp_probe_zone){ .first = z->first_lbn,
				       .blocks = z->blocks,
				       .tracks = z->tracks,
				       .pattern = z->nlens,
				       .track_blocks = mean,
				       .odd = z->nodd,
				       .reads = z->reads,
				       .start_deg = NAN,
				       .skew_deg = NAN };
	if (!z->nskew)
		return;
	out->mb_s = mean * p->tm.target->block_bytes / (turns * p->tm.spin.period_ns) * 1e3;
	out->start_deg = (z->start - p->tracks.zones[0].start) * 360;
	out->start_deg -= floor(out->start_deg / 360) * 360;
	out->skew_deg = sp__pzone_usual_skew(z) * 360;
}

static void tell_tracks(struct sp_probe_result *r, struct sp__tracks *tr)
{
	r->nbad = tr->nbad;
	r->bad = tr->bad;
	tr->bad = NULL;
	r->rechecked = tr->rechecked;
	r->recheck_misses = tr->recheck_misses;
	r->layout_reads = tr->skew_reads;
}

static void tell_seeks(struct sp_probe_result *r, struct sp__seeks *sk)
{
	r->nseeks = sk->nseeks;
	r->seeks = sk->seeks;
	sk->seeks = NULL;
	r->write_measured = sk->write_measured;
	r->seek_reads = sk->reads;
}

static int tell_zones(struct sp__probe *p)
{
	struct sp_probe_result *r = p->r;
	uint64_t end = 0;

	r->zones = calloc(p->tracks.nzones, sizeof(*r->zones));
	if (!r->zones)
		return -ENOMEM;
	r->nzones = p->tracks.nzones;
	r->covers = r->descending = true;
	for (size_t i = 0; i < p->tracks.nzones; i++) {
		const struct sp__pzone *z = &p->tracks.zones[i];

		tell_zone(p, z, &r->zones[i]);
		r->covers &= z->first_lbn == end;
		end = sp__pzone_end(z);
		/* If heads have their own lengths, a pattern of them is compared. */
		if (i && z->nlens == p->tracks.zones[i - 1].nlens &&
		    z->lens[0] > p->tracks.zones[i - 1].lens[0])
			r->descending = false;
	}
	r->covers &= end == p->tm.target->blocks;
	return 0;
}

static int tell_skews(struct sp__probe *p)
{
	const struct sp__pzone *z = &p->tracks.zones[0];
	size_t n = z->nskew ? sp__min(sp__min(z->tracks, 600), 2 * (size_t)z->nskew + 24) : 0;

	p->r->skews_deg = n ? malloc(n * sizeof(double)) : NULL;
	if (n && !p->r->skews_deg)
		return -ENOMEM;
	p->r->nskews = n;
	for (size_t i = 0; i < n; i++)
		p->r->skews_deg[i] = z->skew[i % z->nskew] * 360;
	return 0;
}

/* The plateau ends at the aim of the geometry. */
static void tell_settle(struct sp__probe *p, const struct sp_geometry *g)
{
	double aim;
	uint64_t reach, per = p->layout.order.surfaces;

	if (!g || !per || sp_geometry_aim(g, SP_GEOMETRY_READ, &aim) ||
	    sp_geometry_reach(g, SP_GEOMETRY_READ, aim, &reach))
		return;
	if (p->layout.order.kind == SP__ORDER_BANDS)
		per = 1;
	p->r->settle_cylinders = reach / per;
	p->r->settle_ns = aim / 360 * p->tm.spin.period_ns - p->tm.turnaround_ns;
}

static void tell_timing(struct sp_probe_result *r, const struct sp__rotation *ro)
{
	const struct sp__timing *tm = ro->tm;

	r->verdict = ro->verdict;
	r->evidence = ro->evidence;
	r->period_ns = tm->spin.found ? tm->spin.period_ns : 0;
	r->period_ppm = tm->spin.period_ppm;
	r->noise_ns = tm->scatter.sd_ns;
	r->noise_tail = tm->scatter.tail;
	r->turnaround_ns = tm->turnaround_ns;
	r->cache = tm->cache.on;
	r->cache_hit_ns = tm->cache.on ? ro->evidence.same_ns : 0;
	r->cache_flush = tm->cache.flush;
	r->cache_looks = tm->cache.looks;
	r->cache_look_misses = tm->cache.look_misses;
	r->bus_ns = tm->cache.bus_ns;
	r->cost = tm->cost;
}

int sp__made_result(struct sp__probe *p, const struct sp_geometry *g)
{
	int rc;

	tell_timing(p->r, &p->rotation);
	tell_tracks(p->r, &p->tracks);
	tell_seeks(p->r, &p->seeks);
	p->r->write_estimated = sp__writes_estimated(p);
	if (p->rotation.verdict != SP_PROBE_ROTATING || !p->tracks.nzones)
		return 0;
	rc = tell_zones(p);
	if (!rc)
		rc = tell_skews(p);
	p->r->layout = sp__order_values(&p->layout.order);
	p->r->surfaces = p->layout.order.surfaces;
	p->r->band = p->layout.order.band;
	tell_settle(p, g);
	return rc;
}
