/* SPDX-License-Identifier: MIT */
/*
 * Makes the geometry of an array of drives.
 *
 * If its stripes are the tracks of the drives, the array has tracks: n of them, one of each drive,
 * follow one another at the same angle, like tracks of one drive with n times the surfaces, and n -
 * 1 of n boundaries take no time.  A hop of k tracks advances k / n tracks, rounded up, of a drive,
 * so an aim reaches n times as many tracks.  Tracks n apart are neighbours on one drive.  For
 * these, the aim holds in any case, otherwise only because all platters rotate in step.
 *
 * With stripes of one size there are no tracks: a stripe begins anywhere on a track.
 *
 * Source: Shao 2008, sections 2.4 and 4.5.
 */
#include <stdlib.h>
#include <string.h>
#include "dev/geometry.h"

/* Returns the slips of a zone, on the tracks of all drives; the caller frees them. */
static uint64_t *all_slips(const struct sp__trackmap *map, unsigned n)
{
	uint64_t *slips = calloc(map->nslips * n + 1, sizeof(*slips)), *to = slips;
	struct sp__track t;

	for (size_t i = 0; slips && i < map->nslips; i++) {
		sp__trackmap_at(map, map->slips[i], &t);
		for (unsigned d = 0; d < n; d++)
			*to++ = t.first_sector * n + (uint64_t)d * t.sectors +
				(map->slips[i] - t.first_sector);
	}
	if (slips)
		qsort(slips, map->nslips * n, sizeof(*slips), sp__by_sector);
	return slips;
}

static int put_zone(struct sp_geometry *g, const struct sp__geozone *of, unsigned n,
		    struct sp_errinfo *err)
{
	const struct sp__region *r = &of->map->regions[0];
	struct sp__region all = { .tracks = r->tracks * n,
				  .start = r->start,
				  .skew_den = r->skew_den,
				  .npattern = r->npattern * n };
	struct sp__geozone zone = { .first_lbn = of->first_lbn * n,
				    .apart = of->apart,
				    .round = of->round * n };
	uint64_t *slips = all_slips(of->map, n);
	int rc = -ENOMEM;

	all.pattern = calloc(all.npattern, sizeof(*all.pattern));
	for (uint32_t i = 0; all.pattern && i < all.npattern; i++) {
		all.pattern[i] = r->pattern[i / n];
		if ((i + 1) % n)
			all.pattern[i].skew = 0;
	}
	if (slips && all.pattern)
		rc = sp__geometry_add_zone(g, zone, &all, slips, of->map->nslips * n, err);
	free(all.pattern);
	free(slips);
	return rc;
}

static int put_hops(struct sp__hops *h, const struct sp__hops *of, unsigned n)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < of->nsteps; i++)
		rc = sp__hops_add(h, of->steps[i].tracks * n, of->steps[i].w_deg);
	return rc;
}

static int put_tracks(struct sp_geometry *g, const struct sp_geometry *one, unsigned n,
		      struct sp_errinfo *err)
{
	int rc = sp__geometry_text(&g->layout, one->layout);

	g->surfaces = one->surfaces * n;
	g->period_num = one->period_num;
	g->period_den = one->period_den;
	memcpy(g->overhead_ns, one->overhead_ns, sizeof(g->overhead_ns));
	for (size_t i = 0; !rc && i < SP__CURVES; i++)
		rc = put_hops(&g->curves[i], &one->curves[i], n);
	for (size_t i = 0; !rc && i < one->nseeks; i++)
		rc = sp__geometry_add_seek(g, one->seeks[i].distance, one->seeks[i].ns);
	for (size_t i = 0; !rc && i < one->nzones; i++)
		rc = put_zone(g, &one->zones[i], n, err);
	return rc;
}

int sp__geometry_array(struct sp_geometry *g, const struct sp__model *drive, unsigned stripe_drives,
		       bool tracks, struct sp_errinfo *err)
{
	struct sp_geometry *one;
	int rc = sp__geometry_of(&one, drive, err);

	if (rc)
		return rc;
	g->transfer_s_per_mib = one->transfer_s_per_mib / stripe_drives;
	g->seek_s = one->seek_s;
	g->stripe_drives = stripe_drives;
	g->drive = one;
	return tracks ? put_tracks(g, one, stripe_drives, err) : 0;
}
