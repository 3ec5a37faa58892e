/* SPDX-License-Identifier: MIT */
/*
 * Completes a geometry (checks its members against each other, and fills in the derived ones), and
 * answers queries of it.
 *
 * Zones are sorted by their first block and number their tracks consecutively.  So the zone of a
 * block or a track is found by bisection, and the track by the zone's repeating pattern of lengths.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/loaded.h"
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

const char *const sp__curve_names[SP__CURVES] = { "hops.read", "hops.write", "hops.read_within",
						  "hops.write_within" };

struct sp_geometry *sp__geometry_alloc(void)
{
	struct sp_geometry *g;

	if (sp__library_load(SP__LIB_JANSSON, NULL))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->stripe_drives = 1;
	g->miss_rate = -1;
	g->evidence = json_object();
	if (!g->evidence) {
		free(g);
		return NULL;
	}
	return g;
}

void sp_geometry_free(struct sp_geometry *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->nzones; i++)
		sp__trackmap_free(g->zones[i].map);
	for (size_t i = 0; i < g->nunknown; i++)
		free(g->unknown[i]);
	for (size_t i = 0; i < SP__CURVES; i++)
		free(g->curves[i].steps);
	free(g->zones);
	free(g->seeks);
	free(g->unknown);
	free(g->device);
	free(g->source);
	free(g->verdict);
	free(g->layout);
	json_decref(g->evidence);
	sp_geometry_free(g->drive);
	free(g);
}

int sp__geometry_text(char **member, const char *text)
{
	char *copy = text ? strdup(text) : NULL;

	if (text && !copy)
		return -ENOMEM;
	free(*member);
	*member = copy;
	return 0;
}

int sp__geometry_add_zone(struct sp_geometry *g, struct sp__geozone zone,
			  const struct sp__region *region, const uint64_t *slips, size_t nslips,
			  struct sp_errinfo *err)
{
	struct sp_errinfo cause = SP_ERRINFO_INIT;
	int rc;

	rc = sp__trackmap_new(&zone.map, region, 1, slips, nslips, &cause);
	if (rc == -ENOMEM)
		return sp__err(err, rc, "malloc", NULL, -1);
	if (rc)
		return sp__errf(err, rc, "read", NULL, -1, "zones[%zu]: %s", g->nzones, cause.text);
	if (!SP__ARRAY_GROW_BY_ONE(g->zones, g->nzones)) {
		sp__trackmap_free(zone.map);
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	}
	g->zones[g->nzones++] = zone;
	return 0;
}

int sp__geometry_add_seek(struct sp_geometry *g, uint64_t distance, double ns)
{
	if (!SP__ARRAY_GROW_BY_ONE(g->seeks, g->nseeks))
		return -ENOMEM;
	g->seeks[g->nseeks++] = (struct sp__geoseek){ distance, ns };
	return 0;
}

int sp__geometry_add_unknown(struct sp_geometry *g, const char *name)
{
	char *copy = strdup(name);

	if (!copy || !SP__ARRAY_GROW_BY_ONE(g->unknown, g->nunknown)) {
		free(copy);
		return -ENOMEM;
	}
	g->unknown[g->nunknown++] = copy;
	return 0;
}

int sp__geometry_fact(struct sp_geometry *g, const char *name, double value)
{
	json_t *v = !isfinite(value)				 ? json_null()
		    : value == rint(value) && fabs(value) < 1e15 ? json_integer((json_int_t)value)
								 : json_real(value);

	return json_object_set_new(g->evidence, name, v) ? -ENOMEM : 0;
}

int sp__hops_add(struct sp__hops *h, uint64_t tracks, double w_deg)
{
	if (h->nsteps && w_deg <= h->steps[h->nsteps - 1].w_deg) {
		h->steps[h->nsteps - 1].tracks = tracks;
		return 0;
	}
	if (!SP__ARRAY_GROW_BY_ONE(h->steps, h->nsteps))
		return -ENOMEM;
	h->steps[h->nsteps++] = (struct sp__hopstep){ tracks, w_deg };
	return 0;
}

const struct sp__geozone *sp__geometry_zone_of(const struct sp_geometry *g, uint64_t lbn)
{
	size_t n = SP__BISECT(g->nzones, i, g->zones[i].first_lbn <= lbn);
	const struct sp__geozone *z = n ? &g->zones[n - 1] : NULL;

	return z && lbn - z->first_lbn < z->map->blocks ? z : NULL;
}

const struct sp__geozone *sp__geometry_zone_of_track(const struct sp_geometry *g, uint64_t number)
{
	size_t n = SP__BISECT(g->nzones, i, g->zones[i].first_track <= number);
	const struct sp__geozone *z = n ? &g->zones[n - 1] : NULL;

	return z && number - z->first_track < z->map->tracks ? z : NULL;
}

/* Returns the known blocks from a zone's first one on; the last track can be truncated. */
static uint64_t zone_blocks(const struct sp_geometry *g, const struct sp__geozone *z)
{
	uint64_t left = g->blocks - z->first_lbn;

	return z->map->blocks < left ? z->map->blocks : left;
}

void sp_geometry_info(const struct sp_geometry *g, struct sp_geometry_info *info)
{
	*info = (struct sp_geometry_info){
		.device = g->device,
		.source = g->source,
		.verdict = g->verdict,
		.layout = g->layout,
		.partial = g->partial,
		.blocks = g->blocks,
		.block_bytes = g->block_bytes,
		.tracks = g->nzones > 0,
		.zones = (unsigned)g->nzones,
		.surfaces = g->surfaces,
		.period_ns = g->period_ns,
		.read_overhead_ns = g->overhead_ns[SP_GEOMETRY_READ],
		.write_overhead_ns = g->overhead_ns[SP_GEOMETRY_WRITE],
		.transfer_s_per_mib = g->transfer_s_per_mib,
		.seek_s = g->seek_s,
		.write_estimated = g->hops[SP_GEOMETRY_WRITE].estimated,
		.miss_rate = g->miss_rate,
	};
	for (size_t i = 0; i < g->nzones; i++) {
		info->ntracks += g->zones[i].map->tracks;
		info->known_blocks += zone_blocks(g, &g->zones[i]);
	}
}

int sp_geometry_zone(const struct sp_geometry *g, unsigned i, struct sp_zone *zone)
{
	const struct sp__geozone *z;

	if (i >= g->nzones)
		return -ERANGE;
	z = &g->zones[i];
	*zone = (struct sp_zone){ .first = z->first_lbn,
				  .blocks = zone_blocks(g, z),
				  .first_track = z->first_track,
				  .tracks = z->map->tracks,
				  .track_blocks =
					  (double)z->map->sectors / (double)z->map->tracks };
	return 0;
}

int sp_geometry_seek(const struct sp_geometry *g, unsigned i, uint64_t *distance, double *ns,
		     bool *in_tracks)
{
	if (i >= g->nseeks)
		return -ERANGE;
	*distance = g->seeks[i].distance;
	*ns = g->seeks[i].ns;
	*in_tracks = g->seek_in_tracks;
	return 0;
}

static void tell(const struct sp_geometry *g, const struct sp__geozone *z,
		 const struct sp__track *t, struct sp_track *track)
{
	const struct sp__geozone *first = sp__geometry_zone_of(g, 0);
	uint64_t left = g->blocks - (z->first_lbn + t->first_lbn);
	sp__angle angle = sp__track_angle(t, sp__trackmap_sector(z->map, t->first_lbn));
	struct sp__track origin;

	if (first) {
		sp__trackmap_find(first->map, 0, &origin);
		angle -= sp__track_angle(&origin, sp__trackmap_sector(first->map, 0));
	}
	track->number = z->first_track + t->number;
	track->first = z->first_lbn + t->first_lbn;
	track->blocks = t->blocks < left ? t->blocks : (uint32_t)left;
	track->angle_deg = (double)angle * 0x1p-64 * 360;
}

int sp_geometry_track(const struct sp_geometry *g, uint64_t lbn, struct sp_track *track)
{
	const struct sp__geozone *z;
	struct sp__track t;

	if (!g->nzones)
		return SP_EUNSUP;
	if (lbn >= g->blocks)
		return -ERANGE;
	z = sp__geometry_zone_of(g, lbn);
	if (!z)
		return -ENODATA;
	sp__trackmap_find(z->map, lbn - z->first_lbn, &t);
	tell(g, z, &t, track);
	return 0;
}

int sp_geometry_track_number(const struct sp_geometry *g, uint64_t number, struct sp_track *track)
{
	const struct sp__geozone *z = sp__geometry_zone_of_track(g, number);
	struct sp__track t;

	if (!g->nzones)
		return SP_EUNSUP;
	if (!z)
		return -ERANGE;
	sp__trackmap_track(z->map, number - z->first_track, &t);
	tell(g, z, &t, track);
	return 0;
}
