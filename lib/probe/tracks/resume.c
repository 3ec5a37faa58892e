/* SPDX-License-Identifier: MIT */
/*
 * Restores the zones of a partial geometry, as they were when its probe was stopped.
 */
#include <stdlib.h>
#include "base/err.h"
#include "dev/geometry.h"
#include "probe/tracks/tracks.h"

static int resume_zone(struct sp__tracks *tr, const struct sp__geozone *from, bool angles)
{
	const struct sp__region *r = from->map->regions;
	struct sp__pzone z = { .first_lbn = from->first_lbn, .tracks = from->map->tracks };
	struct sp__track t;

	z.blocks = from->map->blocks;
	z.nlens = r->npattern;
	z.lens = malloc(r->npattern * sizeof(*z.lens));
	z.skew = malloc(r->npattern * sizeof(*z.skew));
	z.odd = malloc((from->map->nslips + 1) * sizeof(*z.odd));
	if (!z.lens || !z.skew || !z.odd) {
		sp__pzone_clear(&z);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->npattern; i++) {
		z.lens[i] = r->pattern[i].blocks;
		z.skew[i] = (double)r->pattern[i].skew / r->skew_den;
	}
	z.nskew = angles ? r->npattern : 0;
	/* Slips follow one another along the tracks. */
	for (size_t i = 0; i < from->map->nslips; i++) {
		sp__trackmap_at(from->map, from->map->slips[i], &t);
		if (z.nodd && z.odd[z.nodd - 1].track == t.number)
			z.odd[z.nodd - 1].missing++;
		else
			z.odd[z.nodd++] = (struct sp__oddtrack){ t.number, 1 };
	}
	sp__trackmap_track(from->map, 0, &t);
	/* Angles of a geometry count from block 0's start, ours from its end. */
	z.start = (double)t.start * 0x1p-64;
	return sp__zones_add(tr, &z);
}

int sp__tracks_resume(struct sp__tracks *tr, const struct sp_geometry *g, struct sp_errinfo *err)
{
	uint64_t end = 0;
	bool angles = g->hops[SP_GEOMETRY_READ].nsteps > 0;
	int rc = 0;

	if (g->blocks != tr->blocks || g->block_bytes != tr->tm->target->block_bytes)
		return sp__errf(err, SP_EFORMAT, "probe", tr->tm->opts->device, -1,
				"the geometry to resume from is not one of this device");
	for (size_t i = 0; i < g->nzones && !rc && g->zones[i].first_lbn == end; i++) {
		end += g->zones[i].map->blocks;
		rc = resume_zone(tr, &g->zones[i], angles && tr->tm->spin.ref_lbn == 0);
	}
	if (rc || !tr->nzones)
		return rc;
	for (size_t i = 0; i < tr->nzones; i++)
		tr->zones[i].start -= 1.0 / tr->zones[0].lens[0];
	/* The last one may not have been at its end. */
	if (end < tr->blocks) {
		struct sp__pzone *last = &tr->zones[tr->nzones - 1];

		rc = sp__pzone_extend(tr, last, 0);
		if (sp__pzone_end(last) != end)
			last->nskew = 0;
	}
	return rc;
}
