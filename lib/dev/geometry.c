/* SPDX-License-Identifier: MIT */
/*
 * Answers queries of a geometry.
 *
 * Zones are sorted by their first block and number their tracks consecutively.  So the zone of a
 * block or a track is found by bisection, and the track by the zone's repeating pattern of lengths.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/loaded.h"
#include "dev/geometry.h"

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
