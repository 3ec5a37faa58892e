/* SPDX-License-Identifier: MIT */
/*
 * Maps blocks to tracks and angles.
 *
 * Algorithm.  Three sorted lists are bisected: the regions, the sums of one pattern, and the slips;
 * repetitions are divided away.  So a lookup costs O(log regions + log pattern + log slips), and
 * memory does not grow with the tracks.
 *
 * Slip j (from 0) at sector s precedes the LBN s - j and all later ones.  The values s - j never
 * descend, so "slips before an LBN" is a bisection too.
 *
 * Angles: track i of a region begins at start + (sum of the skews before it, modulo one revolution)
 * / skew_den.  The sum is an integer, so the error of each angle is less than 2^-64 revolution, on
 * every track.
 *
 * Rejected: a table of all tracks (700,000 for a large disk, several MB, slower than the
 * arithmetic), floating point (drifts).
 */
#include <stdlib.h>
#include <string.h>
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "dev/trackmap.h"

#define SECTORS_MAX (UINT64_C(1) << 60)

static int bad(struct sp_errinfo *err, size_t region, const char *reason)
{
	return sp__errf(err, SP_EFORMAT, "read", NULL, -1, "track region %zu: %s", region, reason);
}

/* Returns how many of n ascending values are <= v. */
static size_t count_upto(const uint64_t *a, size_t n, uint64_t v)
{
	return SP__BISECT(n, i, a[i] <= v);
}

static int copy_pattern(struct sp__region *r, const struct sp__region *from, size_t number,
			struct sp_errinfo *err)
{
	uint32_t n = from->npattern;

	*r = (struct sp__region){ .tracks = from->tracks,
				  .start = from->start,
				  .skew_den = from->skew_den,
				  .npattern = n };
	if (!from->tracks || !n)
		return bad(err, number, "has no tracks");
	if (!from->skew_den)
		return bad(err, number, "the denominator of the skew is 0");
	r->pattern = malloc(n * sizeof(*r->pattern));
	r->blocks_before = malloc(n * sizeof(*r->blocks_before));
	r->skew_before = malloc(n * sizeof(*r->skew_before));
	if (!r->pattern || !r->blocks_before || !r->skew_before)
		return -ENOMEM;
	memcpy(r->pattern, from->pattern, n * sizeof(*r->pattern));
	for (uint32_t i = 0; i < n; i++) {
		if (!r->pattern[i].blocks)
			return bad(err, number, "a track has no blocks");
		if (r->pattern[i].skew >= r->skew_den)
			return bad(err, number, "a skew is a revolution or more");
		r->blocks_before[i] = r->pattern_blocks;
		r->skew_before[i] = r->pattern_skew;
		r->pattern_blocks += r->pattern[i].blocks;
		r->pattern_skew += r->pattern[i].skew;
	}
	return 0;
}

/* Returns the sectors of the first n tracks. */
static unsigned __int128 sectors_of(const struct sp__region *r, uint64_t n)
{
	return (unsigned __int128)(n / r->npattern) * r->pattern_blocks +
	       r->blocks_before[n % r->npattern];
}

static int add_region(struct sp__trackmap *map, const struct sp__region *from,
		      struct sp_errinfo *err)
{
	struct sp__region *r = &map->regions[map->nregions];
	unsigned __int128 sectors;
	int rc;

	rc = copy_pattern(r, from, map->nregions++, err);
	if (rc)
		return rc;
	sectors = sectors_of(r, r->tracks);
	if (r->tracks > SECTORS_MAX || sectors > SECTORS_MAX - map->sectors)
		return bad(err, map->nregions - 1, "too many blocks");
	r->first_track = map->tracks;
	r->first_sector = map->sectors;
	map->tracks += r->tracks;
	map->sectors += (uint64_t)sectors;
	return 0;
}

static int copy_slips(struct sp__trackmap *map, const uint64_t *slips, size_t n,
		      struct sp_errinfo *err)
{
	static const char op[] = "read";

	for (size_t i = 0; i < n; i++) {
		if (slips[i] >= map->sectors || (i && slips[i] <= slips[i - 1]))
			return sp__errf(err, SP_EFORMAT, op, NULL, -1,
					"slip %zu: does not ascend or lies outside the tracks", i);
	}
	if (n == map->sectors)
		return sp__errf(err, SP_EFORMAT, op, NULL, -1, "every block is slipped");
	map->nslips = n;
	map->blocks = map->sectors - n;
	if (!n)
		return 0;
	map->slips = malloc(n * sizeof(*slips));
	if (!map->slips)
		return -ENOMEM;
	memcpy(map->slips, slips, n * sizeof(*slips));
	return 0;
}

int sp__trackmap_new(struct sp__trackmap **map, const struct sp__region *regions, size_t nregions,
		     const uint64_t *slips, size_t nslips, struct sp_errinfo *err)
{
	struct sp__trackmap *m;
	int rc = 0;

	*map = NULL;
	if (!nregions)
		return sp__errf(err, SP_EFORMAT, "read", NULL, -1, "there are no track regions");
	m = calloc(1, sizeof(*m));
	if (m)
		m->regions = calloc(nregions, sizeof(*m->regions));
	if (!m || !m->regions)
		rc = -ENOMEM;
	for (size_t i = 0; i < nregions && !rc; i++)
		rc = add_region(m, &regions[i], err);
	if (!rc)
		rc = copy_slips(m, slips, nslips, err);
	if (rc) {
		sp__trackmap_free(m);
		return rc == -ENOMEM ? sp__err(err, rc, "malloc", NULL, -1) : rc;
	}
	*map = m;
	return 0;
}

void sp__trackmap_free(struct sp__trackmap *map)
{
	if (!map)
		return;
	for (size_t i = 0; i < map->nregions; i++) {
		free(map->regions[i].pattern);
		free(map->regions[i].blocks_before);
		free(map->regions[i].skew_before);
	}
	free(map->regions);
	free(map->slips);
	free(map);
}

uint64_t sp__trackmap_sector(const struct sp__trackmap *map, uint64_t lbn)
{
	return lbn + SP__BISECT(map->nslips, i, map->slips[i] - i <= lbn);
}

uint64_t sp__trackmap_lbn(const struct sp__trackmap *map, uint64_t sector)
{
	return sector ? sector - count_upto(map->slips, map->nslips, sector - 1) : 0;
}

static void fill(const struct sp__trackmap *map, size_t region, uint64_t index, struct sp__track *t)
{
	const struct sp__region *r = &map->regions[region];
	uint64_t turns = index / r->npattern, skew, end;
	uint32_t entry = (uint32_t)(index % r->npattern);

	/* Both factors are below 2^32, so the product does not overflow. */
	skew = turns % r->skew_den * (r->pattern_skew % r->skew_den);
	skew = (skew + r->skew_before[entry] % r->skew_den) % r->skew_den;
	t->number = r->first_track + index;
	t->region = region;
	t->first_sector = r->first_sector + turns * r->pattern_blocks + r->blocks_before[entry];
	t->sectors = r->pattern[entry].blocks;
	t->start = r->start + sp__angle_of(skew, r->skew_den);
	t->first_lbn = t->first_sector;
	t->blocks = t->sectors;
	if (map->nslips) {
		t->first_lbn = sp__trackmap_lbn(map, t->first_sector);
		end = sp__trackmap_lbn(map, t->first_sector + t->sectors);
		t->blocks = (uint32_t)(end - t->first_lbn);
	}
}

void sp__trackmap_track(const struct sp__trackmap *map, uint64_t number, struct sp__track *t)
{
	size_t region = SP__BISECT(map->nregions, i, map->regions[i].first_track <= number) - 1;

	fill(map, region, number - map->regions[region].first_track, t);
}

void sp__trackmap_at(const struct sp__trackmap *map, uint64_t sector, struct sp__track *t)
{
	size_t region = SP__BISECT(map->nregions, i, map->regions[i].first_sector <= sector) - 1;
	const struct sp__region *r = &map->regions[region];
	uint64_t turns = (sector - r->first_sector) / r->pattern_blocks;
	uint64_t rest = (sector - r->first_sector) % r->pattern_blocks;

	fill(map, region, turns * r->npattern + count_upto(r->blocks_before, r->npattern, rest) - 1,
	     t);
}

void sp__trackmap_find(const struct sp__trackmap *map, uint64_t lbn, struct sp__track *t)
{
	sp__trackmap_at(map, sp__trackmap_sector(map, lbn), t);
}

sp__angle sp__track_angle(const struct sp__track *t, uint64_t sector)
{
	return t->start + sp__angle_of(sector - t->first_sector, t->sectors);
}

int sp__by_sector(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return SP__ORDER(*x, *y);
}
