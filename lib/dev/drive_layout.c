/* SPDX-License-Identifier: MIT */
/*
 * Builds the spans of a layout and the track map, with its slipped, spare and remapped sectors.
 *
 * Algorithm.  In a span, tracks are numbered along the LBNs; a division computes cylinder and head
 * from the number.  Cylinder layouts have one span per zone.  A hybrid serpentine has one span for
 * the whole bands of a zone and one for the rest.  A surface serpentine has one span per surface of
 * a zone, so that no pattern of the track map is as long as a surface.
 *
 * Each zone starts at its own angle.  The spans of a zone follow each other by the skew between
 * their tracks.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "dev/drive_impl.h"

/*
 * Sectors without a block number, and remapped blocks.  Slips and spares become one list of sectors
 * for the track map.  A spare area exists for the slips before it: each takes one of its sectors,
 * from the first on, so that the block numbers behind the area are the same as without slips.  A
 * remapped block keeps its number; the head moves to one of the spare sectors for it.
 */
#define SECTORS_MAX 10000000 /* 80 MB */

struct sectors {
	size_t n;
	uint64_t *sector;
};

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "malloc", NULL, -1);
}

static int too_many(struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "read", NULL, -1, "slips and spares: more than %d sectors",
			SECTORS_MAX);
}

static int add_sectors(struct sectors *p, uint64_t first, uint64_t n, struct sp_errinfo *err)
{
	if (n > SECTORS_MAX - p->n)
		return too_many(err);
	for (uint64_t i = 0; i < n; i++) {
		if (!SP__ARRAY_GROW_BY_ONE(p->sector, p->n))
			return no_memory(err);
		p->sector[p->n++] = first + i;
	}
	return 0;
}

static uint64_t first_sector(const struct sp__drive *d, size_t zone)
{
	return zone < d->nzones ? d->map->regions[d->zones[zone].first_span].first_sector
				: d->map->sectors;
}

/* True if n sectors from first on are in the zone. */
static int inside(const struct sp__drive *d, size_t zone, const char *what, uint64_t first,
		  uint64_t n, struct sp_errinfo *err)
{
	uint64_t all = first_sector(d, zone + 1) - first_sector(d, zone);

	if (!n)
		return sp__errf(err, SP_EFORMAT, "read", NULL, -1, "zones[%zu].%s: no sectors",
				zone, what);
	if (first < all && n <= all - first)
		return 0;
	return sp__errf(err, SP_EFORMAT, "read", NULL, -1,
			"zones[%zu].%s: sectors %llu to %llu of a zone of %llu", zone, what,
			(unsigned long long)first, (unsigned long long)(first + n - 1),
			(unsigned long long)all);
}

static int add_slip(const struct sp__drive *d, const struct sp__slip *s, size_t i,
		    struct sectors *to, struct sp_errinfo *err)
{
	struct sp__track t;

	if (s->cyl >= d->cylinders || s->head >= d->surfaces)
		return sp__errf(err, SP_EFORMAT, "read", NULL, -1,
				"slips[%zu]: cylinder %u, head %u is not on the drive", i, s->cyl,
				s->head);
	sp__trackmap_track(d->map, sp__drive_track(d, s->cyl, s->head), &t);
	if (s->sector >= t.sectors)
		return sp__errf(err, SP_EFORMAT, "read", NULL, -1,
				"slips[%zu]: sector %u of a track of %u", i, s->sector, t.sectors);
	return add_sectors(to, t.first_sector + s->sector, 1, err);
}

static void sort(struct sectors *p)
{
	if (p->n)
		qsort(p->sector, p->n, sizeof(*p->sector), sp__by_sector);
}

static int once(struct sectors *p, struct sp_errinfo *err)
{
	sort(p);
	for (size_t i = 1; i < p->n; i++) {
		if (p->sector[i] == p->sector[i - 1])
			return sp__errf(err, SP_EFORMAT, "read", NULL, -1,
					"slips: one sector is given twice");
	}
	return 0;
}

static int all_slips(const struct sp__drive *d, const struct sp__slip *slips, size_t n,
		     struct sectors *to, struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++)
		rc = add_slip(d, &slips[i], i, to, err);
	for (size_t z = 0; z < d->nzones; z++) {
		for (size_t i = 0; i < d->zones[z].nslips && !rc; i++) {
			const uint64_t *row = d->zones[z].slips + 2 * i;
			uint64_t count = row[1] ? row[1] : 1;

			rc = inside(d, z, "slips", row[0], count, err);
			if (!rc)
				rc = add_sectors(to, first_sector(d, z) + row[0], count, err);
		}
	}
	return rc ? rc : once(to, err);
}

struct area {
	uint64_t first, count;
};

static int by_first(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return SP__ORDER(x->first, y->first);
}

/* Lists the spare areas of a zone, repeated to its end, in order. */
static int areas_of(const struct sp__drive *d, size_t zone, struct area **areas, size_t *n,
		    struct sp_errinfo *err)
{
	const struct sp__zone *z = &d->zones[zone];
	uint64_t base = first_sector(d, zone), all = first_sector(d, zone + 1) - base;

	for (size_t i = 0; i < z->nspares; i++) {
		uint64_t at = z->spares[3 * i], count = z->spares[3 * i + 1];
		uint64_t every = z->spares[3 * i + 2];
		int rc = inside(d, zone, "spares", at, count, err);

		if (rc)
			return rc;
		for (; at < all && count <= all - at; at += every) {
			if (*n >= SECTORS_MAX)
				return too_many(err);
			if (!SP__ARRAY_GROW_BY_ONE(*areas, *n))
				return no_memory(err);
			(*areas)[(*n)++] = (struct area){ base + at, count };
			if (!every)
				break;
		}
	}
	if (*n)
		qsort(*areas, *n, sizeof(**areas), by_first);
	return 0;
}

/*
 * Adds the part of an area that slips leave, behind the sector `after`.  Slips inside an area are
 * not spares, so that no sector is both.
 */
static int add_area(const struct sectors *slips, const struct area *a, uint64_t after, size_t zone,
		    struct sectors *to, struct sp_errinfo *err)
{
	size_t first = SP__BISECT(slips->n, i, slips->sector[i] < after);
	size_t next = SP__BISECT(slips->n, i, slips->sector[i] < a->first);
	size_t taken = next - first;
	int rc = 0;

	if (a->first < after)
		return sp__errf(err, SP_EFORMAT, "read", NULL, -1,
				"zones[%zu].spares: areas overlap", zone);
	for (uint64_t at = a->first; at < a->first + a->count && !rc; at++) {
		if (next < slips->n && slips->sector[next] == at)
			next++;
		else if (taken)
			taken--;
		else
			rc = add_sectors(to, at, 1, err);
	}
	return rc;
}

static int zone_spares(const struct sp__drive *d, size_t zone, const struct sectors *slips,
		       struct sectors *to, struct sp_errinfo *err)
{
	struct area *areas = NULL;
	uint64_t after = first_sector(d, zone);
	size_t n = 0;
	int rc = areas_of(d, zone, &areas, &n, err);

	for (size_t i = 0; i < n && !rc; i++) {
		rc = add_area(slips, &areas[i], after, zone, to, err);
		after = areas[i].first + areas[i].count;
	}
	free(areas);
	return rc;
}

/*
 * Finds the sectors without a block number, ascending, from slips and zones; needs the map without
 * them.
 */
static int drive_unused(const struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
			uint64_t **sectors, size_t *n, struct sp_errinfo *err)
{
	struct sectors slipped = { 0 }, spare = { 0 };
	int rc = all_slips(d, slips, nslips, &slipped, err);

	for (size_t z = 0; z < d->nzones && !rc; z++)
		rc = zone_spares(d, z, &slipped, &spare, err);
	for (size_t i = 0; i < slipped.n && !rc; i++)
		rc = add_sectors(&spare, slipped.sector[i], 1, err);
	sort(&spare);
	free(slipped.sector);
	*sectors = spare.sector;
	*n = spare.n;
	return rc;
}

static bool is_among(const uint64_t *sectors, size_t n, uint64_t sector)
{
	size_t i = SP__BISECT(n, k, sectors[k] < sector);

	return i < n && sectors[i] == sector;
}

static int add_remap(struct sp__drive *d, size_t zone, const uint64_t *row,
		     const struct sectors *slipped, struct sp_errinfo *err)
{
	const struct sp__trackmap *map = d->map;
	uint64_t from = first_sector(d, zone) + row[0], to = first_sector(d, zone) + row[1];
	uint64_t count = row[2] ? row[2] : 1;
	int rc = inside(d, zone, "remaps", row[0], count, err);

	if (!rc)
		rc = inside(d, zone, "remaps", row[1], count, err);
	for (uint64_t i = 0; i < count && !rc; i++) {
		if (is_among(map->slips, map->nslips, from + i))
			rc = sp__errf(err, SP_EFORMAT, "read", NULL, -1,
				      "zones[%zu].remaps: sector %llu has no block", zone,
				      (unsigned long long)(row[0] + i));
		else if (!is_among(map->slips, map->nslips, to + i) ||
			 is_among(slipped->sector, slipped->n, to + i))
			rc = sp__errf(err, SP_EFORMAT, "read", NULL, -1,
				      "zones[%zu].remaps: sector %llu is not a spare sector", zone,
				      (unsigned long long)(row[1] + i));
	}
	if (!rc && !SP__ARRAY_GROW_BY_ONE(d->remaps, d->nremaps))
		rc = no_memory(err);
	if (!rc)
		d->remaps[d->nremaps++] = (struct sp__remap){ .lbn = sp__trackmap_lbn(map, from),
							      .sector = to,
							      .blocks = (uint32_t)count };
	return rc;
}

static int by_target(const void *a, const void *b)
{
	const struct sp__remap *x = a, *y = b;

	return SP__ORDER(x->sector, y->sector);
}

static int by_lbn(const void *a, const void *b)
{
	const struct sp__remap *x = a, *y = b;

	return SP__ORDER(x->lbn, y->lbn);
}

static int all_remaps(struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
		      struct sp_errinfo *err)
{
	struct sectors slipped = { 0 };
	int rc = all_slips(d, slips, nslips, &slipped, err);

	for (size_t z = 0; z < d->nzones; z++)
		for (size_t i = 0; i < d->zones[z].nremaps && !rc; i++)
			rc = add_remap(d, z, d->zones[z].remaps + 3 * i, &slipped, err);
	free(slipped.sector);
	return rc;
}

/* Finds the remapped blocks; needs the map with them. */
static int drive_remap(struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
		       struct sp_errinfo *err)
{
	int rc = all_remaps(d, slips, nslips, err);
	bool twice = false;

	if (rc || !d->nremaps)
		return rc;
	qsort(d->remaps, d->nremaps, sizeof(*d->remaps), by_target);
	for (size_t i = 1; i < d->nremaps; i++)
		twice |= d->remaps[i].sector - d->remaps[i - 1].sector < d->remaps[i - 1].blocks;
	qsort(d->remaps, d->nremaps, sizeof(*d->remaps), by_lbn);
	for (size_t i = 1; i < d->nremaps; i++)
		twice |= d->remaps[i].lbn - d->remaps[i - 1].lbn < d->remaps[i - 1].blocks;
	return twice ? sp__errf(err, SP_EFORMAT, "read", NULL, -1,
				"remaps: one sector is given twice")
		     : 0;
}

static bool serpentine(const struct sp__drive *d)
{
	return d->layout == SP__LAYOUT_SURFACE_SERPENTINE ||
	       d->layout == SP__LAYOUT_HYBRID_SERPENTINE;
}

/* True if LBN order ascends in cylinders on this head. */
static bool ascends(const struct sp__drive *d, uint32_t head)
{
	return (head % 2 == 0) != d->descends;
}

void sp__drive_where(const struct sp__drive *d, const struct sp__track *t, uint32_t *cyl,
		     uint32_t *head)
{
	const struct sp__span *s = &d->spans[t->region];
	uint32_t i = (uint32_t)(t->number - d->map->regions[t->region].first_track), turn, at;

	if (!serpentine(d)) {
		turn = i / s->heads;
		at = i % s->heads;
		*cyl = s->first_cyl + turn;
		*head = d->layout == SP__LAYOUT_CYLINDER || turn % 2 == 0 ? at : s->heads - 1 - at;
		return;
	}
	turn = i / (s->band * s->heads);
	i -= turn * s->band * s->heads;
	*head = s->head + i / s->band;
	at = i % s->band;
	*cyl = s->first_cyl + turn * s->band + (ascends(d, *head) ? at : s->band - 1 - at);
}

static const struct sp__zone *zone_of(const struct sp__drive *d, uint32_t cyl)
{
	return &d->zones[SP__BISECT(d->nzones, i, d->zones[i].first_cyl <= cyl) - 1];
}

uint64_t sp__drive_track(const struct sp__drive *d, uint32_t cyl, uint32_t head)
{
	size_t n = zone_of(d, cyl)->first_span;
	const struct sp__span *s = &d->spans[n];
	uint32_t turn, at;

	while (cyl - s->first_cyl >= s->cyls || head - s->head >= s->heads)
		s = &d->spans[++n];
	cyl -= s->first_cyl;
	if (!serpentine(d)) {
		if (d->layout == SP__LAYOUT_CYLINDER_SERPENTINE && cyl % 2)
			head = s->heads - 1 - head;
		return d->map->regions[n].first_track + (uint64_t)cyl * s->heads + head;
	}
	turn = cyl / s->band;
	at = cyl % s->band;
	if (!ascends(d, head))
		at = s->band - 1 - at;
	return d->map->regions[n].first_track +
	       ((uint64_t)turn * s->heads + (head - s->head)) * s->band + at;
}

/* The state of sp__drive_build(). */
struct build {
	struct sp__drive *d;
	struct sp__region *regions;
	size_t n;
	const struct sp__zone *zone;
	sp__angle start; /* start of the next span's first track */
};

static struct sp__trackkind *add(struct build *b, struct sp__span span, uint32_t npattern)
{
	struct sp__region *r = &b->regions[b->n];

	b->d->spans[b->n++] = span;
	r->tracks = (uint64_t)span.cyls * span.heads;
	r->start = b->start;
	r->skew_den = b->zone->skew_den;
	r->npattern = npattern;
	r->pattern = calloc(npattern, sizeof(*r->pattern));
	return r->pattern;
}

/* Rotates the start of the next span by n patterns and the given skews. */
static void turn_on(struct build *b, uint64_t patterns, uint64_t more)
{
	const struct sp__region *r = &b->regions[b->n - 1];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < r->npattern; i++)
		sum += r->pattern[i].skew;
	sum = (uint64_t)(((unsigned __int128)patterns * sum + more) % r->skew_den);
	b->start += sp__angle_of(sum, r->skew_den);
}

static int add_cylinders(struct build *b)
{
	const struct sp__zone *z = b->zone;
	uint32_t s = b->d->surfaces;
	bool snake = b->d->layout == SP__LAYOUT_CYLINDER_SERPENTINE;
	uint32_t n = snake ? 2 * s : s;
	struct sp__trackkind *p;

	p = add(b,
		(struct sp__span){ .first_cyl = z->first_cyl,
				   .cyls = z->last_cyl - z->first_cyl + 1,
				   .heads = s },
		n);
	if (!p)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		p[i].blocks = z->spt[i < s ? i : 2 * s - 1 - i];
		p[i].skew = (i + 1) % s ? z->track_skew : z->cyl_skew;
	}
	return 0;
}

/* Adds whole bands of this many cylinders, all heads. */
static int add_bands(struct build *b, uint32_t first_cyl, uint32_t cyls, uint32_t band)
{
	const struct sp__zone *z = b->zone;
	uint32_t s = b->d->surfaces;
	struct sp__trackkind *p;

	p = add(b,
		(struct sp__span){ .first_cyl = first_cyl, .cyls = cyls, .band = band, .heads = s },
		band * s);
	if (!p)
		return -ENOMEM;
	for (uint32_t i = 0; i < band * s; i++) {
		p[i].blocks = z->spt[i / band];
		p[i].skew = (i + 1) % band ? z->cyl_skew : z->track_skew;
	}
	p[band * s - 1].skew = z->band_skew;
	turn_on(b, cyls / band, 0);
	return 0;
}

static int add_surfaces(struct build *b)
{
	const struct sp__zone *z = b->zone;
	uint32_t cyls = z->last_cyl - z->first_cyl + 1;

	for (uint32_t h = 0; h < b->d->surfaces; h++) {
		struct sp__trackkind *p = add(b,
					      (struct sp__span){ .first_cyl = z->first_cyl,
								 .cyls = cyls,
								 .band = cyls,
								 .head = h,
								 .heads = 1 },
					      1);

		if (!p)
			return -ENOMEM;
		p->blocks = z->spt[h];
		p->skew = z->cyl_skew;
		turn_on(b, cyls - 1, z->track_skew);
	}
	return 0;
}

static int add_zone(struct build *b, struct sp__zone *z)
{
	uint32_t cyls = z->last_cyl - z->first_cyl + 1, band = b->d->band_tracks, rest;
	int rc = 0;

	b->zone = z;
	b->start = sp__angle_of(z->start_skew, z->skew_den);
	z->first_span = b->n;
	if (b->d->layout == SP__LAYOUT_SURFACE_SERPENTINE)
		return add_surfaces(b);
	if (b->d->layout != SP__LAYOUT_HYBRID_SERPENTINE)
		return add_cylinders(b);
	rest = cyls % band;
	if (cyls > rest)
		rc = add_bands(b, z->first_cyl, cyls - rest, band);
	if (rest && !rc)
		rc = add_bands(b, z->last_cyl + 1 - rest, rest, rest);
	return rc;
}

static int unused(struct build *b, const struct sp__slip *slips, size_t nslips,
		  struct sp_errinfo *err)
{
	uint64_t *sectors;
	size_t n;
	int rc = drive_unused(b->d, slips, nslips, &sectors, &n, err);

	if (!rc && n) {
		sp__trackmap_free(b->d->map);
		rc = sp__trackmap_new(&b->d->map, b->regions, b->n, sectors, n, err);
	}
	free(sectors);
	return rc;
}

int sp__drive_build(struct sp__drive *d, const struct sp__slip *slips, size_t nslips,
		    struct sp_errinfo *err)
{
	size_t most = d->nzones * (d->layout == SP__LAYOUT_SURFACE_SERPENTINE ? d->surfaces : 2);
	struct build b = { .d = d };
	int rc = 0;

	b.regions = calloc(most, sizeof(*b.regions));
	d->spans = calloc(most, sizeof(*d->spans));
	if (!b.regions || !d->spans)
		rc = -ENOMEM;
	for (size_t i = 0; i < d->nzones && !rc; i++)
		rc = add_zone(&b, &d->zones[i]);
	d->nspans = b.n;
	if (!rc)
		rc = sp__trackmap_new(&d->map, b.regions, b.n, NULL, 0, err);
	if (!rc)
		rc = unused(&b, slips, nslips, err);
	if (!rc)
		rc = drive_remap(d, slips, nslips, err);
	if (!rc)
		rc = sp__drive_prepare(d);
	for (size_t i = 0; b.regions && i < b.n; i++)
		free(b.regions[i].pattern);
	free(b.regions);
	return rc == -ENOMEM ? sp__err(err, rc, "malloc", NULL, -1) : rc;
}

void sp__drive_free(void *drive)
{
	struct sp__drive *d = drive;

	if (!d)
		return;
	for (size_t i = 0; d->zones && i < d->nzones; i++) {
		free(d->zones[i].spt);
		free(d->zones[i].slips);
		free(d->zones[i].spares);
		free(d->zones[i].remaps);
	}
	free(d->remaps);
	free(d->zones);
	for (int i = 0; i < 2; i++) {
		free(d->seek[i].points);
		free(d->seek[i].table);
	}
	free(d->spans);
	sp__trackmap_free(d->map);
	free(d);
}
