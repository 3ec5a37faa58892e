/* SPDX-License-Identifier: MIT */
/*
 * Completes a geometry: checks its members against each other, and fills in the derived ones.
 */
#include <stdio.h>
#include <string.h>
#include "base/err.h"
#include "dev/geometry.h"

#define BLOCKS_MAX (UINT64_C(1) << 52)
#define PERIOD_MAX_NS 1e10
#define MB 1048576.0
#define LOOKED_AT 4096 /* tracks of a zone */

static int bad(struct sp_errinfo *err, const char *field, const char *reason)
{
	return sp__errf(err, SP_EFORMAT, "read", NULL, -1, "%s: %s", field, reason);
}

static int check_words(const struct sp_geometry *g, struct sp_errinfo *err)
{
	static const char *const verdicts[] = { "rotating", "not-rotating", "layered",
						"inconclusive" };

	if (!g->device || !*g->device)
		return bad(err, "device", "is missing");
	if (!g->source || (strcmp(g->source, "model") && strcmp(g->source, "probe")))
		return bad(err, "source", "is neither \"model\" nor \"probe\"");
	if (g->layout && !*g->layout)
		return bad(err, "layout", "is empty");
	for (size_t i = 0; g->verdict && i < sizeof(verdicts) / sizeof(verdicts[0]); i++)
		if (strcmp(g->verdict, verdicts[i]) == 0)
			return 0;
	return bad(err, "verdict", "is not one of rotating, not-rotating, layered, inconclusive");
}

static bool within(double v, double max)
{
	return v >= 0 && v <= max;
}

static int check_numbers(struct sp_geometry *g, struct sp_errinfo *err)
{
	if (!g->blocks || g->blocks > BLOCKS_MAX)
		return bad(err, "blocks", "is 0 or too large");
	if (!g->block_bytes)
		return bad(err, "block_bytes", "is 0");
	if (g->period_den)
		g->period_ns = (double)g->period_num / (double)g->period_den;
	if (!within(g->period_ns, PERIOD_MAX_NS))
		return bad(err, "period", "is not between 0 and 10 s");
	if (g->nzones && !(g->period_ns > 0))
		return bad(err, "period", "is missing, but there are zones");
	if (!within(g->overhead_ns[0], PERIOD_MAX_NS) || !within(g->overhead_ns[1], PERIOD_MAX_NS))
		return bad(err, "overhead_ns", "is not between 0 and 10 s");
	if (!within(g->transfer_s_per_mib, 1e6))
		return bad(err, "transfer_s_per_mb", "is not between 0 and 1000000");
	if (!within(g->seek_s, 1e6))
		return bad(err, "seek_s", "is not between 0 and 1000000");
	if (!within(g->latency_s, 1e6))
		return bad(err, "latency_s", "is not between 0 and 1000000");
	if (!within(g->requests_s, 1e12))
		return bad(err, "requests_s", "is not between 0 and 10^12");
	if (!(g->miss_rate <= 1))
		return bad(err, "miss_rate", "is not between 0 and 1");
	return 0;
}

static int bad_zone(struct sp_errinfo *err, size_t i, const char *reason)
{
	char field[40];

	snprintf(field, sizeof(field), "zones[%zu].first_lbn", i);
	return bad(err, field, reason);
}

static int check_zones(struct sp_geometry *g, struct sp_errinfo *err)
{
	const struct sp__geozone *before = NULL;

	for (size_t i = 0; i < g->nzones; i++) {
		struct sp__geozone *z = &g->zones[i];
		uint64_t end = before ? before->first_lbn + before->map->blocks : 0;
		struct sp__track last;

		if (z->first_lbn >= g->blocks)
			return bad_zone(err, i, "lies past the end of the device");
		if (z->first_lbn < end)
			return bad_zone(err, i, "lies inside the zone before");
		sp__trackmap_track(z->map, z->map->tracks - 1, &last);
		if (z->first_lbn + last.first_lbn + !!last.blocks > g->blocks)
			return bad_zone(err, i, "its last track lies past the end of the device");
		if (before) {
			z->first_track = before->first_track + before->map->tracks;
			z->island = before->island + (z->apart || z->first_lbn > end);
		}
		before = z;
	}
	return 0;
}

static int check_hops(struct sp__hops *h, const char *field, double period_ns,
		      struct sp_errinfo *err)
{
	for (size_t i = 0; i < h->nsteps; i++) {
		const struct sp__hopstep *s = &h->steps[i];

		if (!s->tracks || !(s->w_deg >= 0 && s->w_deg <= 36000))
			return bad(err, field, "a step has no tracks or an angle out of range");
		if (i && (s->tracks <= s[-1].tracks || s->w_deg <= s[-1].w_deg))
			return bad(err, field, "the steps do not ascend");
	}
	if (!within(h->aim_deg, 36000))
		return bad(err, field, "aim_deg is out of range");
	if (h->nsteps && !(h->aim_deg > 0))
		h->aim_deg = sp__hops_knee(h, period_ns);
	return 0;
}

static int check_seeks(const struct sp_geometry *g, struct sp_errinfo *err)
{
	for (size_t i = 0; i < g->nseeks; i++) {
		if (!within(g->seeks[i].ns, PERIOD_MAX_NS))
			return bad(err, "seek", "a time is not between 0 and 10 s");
		if (i && g->seeks[i].distance <= g->seeks[i - 1].distance)
			return bad(err, "seek", "the points do not ascend");
	}
	return 0;
}

/* Returns the share of tracks that have blocks: others are spare, or bad. */
static double used(const struct sp__trackmap *m)
{
	uint64_t looked = m->tracks < LOOKED_AT ? m->tracks : LOOKED_AT, n = 0;
	struct sp__track t;

	for (uint64_t i = 0; i < looked; i++) {
		sp__trackmap_track(m, i, &t);
		n += t.blocks > 0;
	}
	return (double)n / (double)looked;
}

/* Returns the seconds per MiB when tracks are read one after the other, skews included. */
static double transfer(const struct sp_geometry *g)
{
	double revs = 0, bytes = 0;

	for (size_t i = 0; i < g->nzones; i++) {
		const struct sp__trackmap *m = g->zones[i].map;
		const struct sp__region *r = m->regions;

		revs += (double)m->tracks * used(m) *
			(1 + (double)r->pattern_skew / r->skew_den / r->npattern);
		bytes += (double)m->blocks * g->block_bytes;
	}
	return bytes > 0 ? revs * g->period_ns * 1e-9 / bytes * MB : 0;
}

/* Returns the time of a seek over a third of the longest distance, plus half a revolution. */
static double positioning(const struct sp_geometry *g)
{
	double third;

	if (!g->nseeks)
		return 0;
	third = (double)g->seeks[g->nseeks - 1].distance / 3;
	return (sp__geometry_seek_ns(g, third) + g->period_ns / 2) * 1e-9;
}

int sp__geometry_seal(struct sp_geometry *g, struct sp_errinfo *err)
{
	int rc = check_words(g, err);

	if (!rc)
		rc = check_numbers(g, err);
	if (!rc)
		rc = check_zones(g, err);
	for (size_t i = 0; i < SP__CURVES && !rc; i++)
		rc = check_hops(&g->curves[i], sp__curve_names[i], g->period_ns, err);
	if (!rc)
		rc = check_seeks(g, err);
	if (rc)
		return rc;
	if (!(g->transfer_s_per_mib > 0))
		g->transfer_s_per_mib = transfer(g);
	if (!(g->seek_s > 0))
		g->seek_s = positioning(g);
	return 0;
}
