/* SPDX-License-Identifier: MIT */
/*
 * Builds the spans of a layout and the track map.
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
#include "base/bisect.h"
#include "base/err.h"
#include "dev/drive_impl.h"

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
	sp__angle start; /* of the next span's first track */
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
	int rc = sp__drive_unused(b->d, slips, nslips, &sectors, &n, err);

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
		rc = sp__drive_remap(d, slips, nslips, err);
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
