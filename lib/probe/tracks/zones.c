/* SPDX-License-Identifier: MIT */
/*
 * Finds the zones of a device, one after the other.
 *
 * If each head has its own track lengths, the finder sees short zones that repeat: 4 tracks of 686
 * blocks, 4 of 672, 4 of 686, 4 of 672.  Two equal rounds of such zones become one zone whose
 * pattern is the round, and the forecast continues with it.
 *
 * Unreadable blocks are a gap: the first boundary after it begins a new zone.
 */
#include <stdlib.h>
#include "base/array.h"
#include "probe/tracks/tracks.h"

#define ROUND_MAX 32	 /* zones of a round */
#define PATTERN_MAX 4096 /* tracks of a round */
#define SAMPLES 3
#define SOLID_TRACKS 16 /* tracks of a zone whose length is certain */

/* Adds the tracks of b, which follows a, to a. */
static int append(struct sp__pzone *a, const struct sp__pzone *b, uint32_t missing)
{
	int rc = missing ? sp__pzone_add_odd(a, a->nodd, a->tracks, missing) : 0;

	for (size_t i = 0; i < b->nodd && !rc; i++)
		rc = sp__pzone_add_odd(a, a->nodd, a->tracks + b->odd[i].track, b->odd[i].missing);
	if (rc)
		return rc;
	a->tracks += b->tracks;
	a->blocks += b->blocks;
	a->reads += b->reads;
	return 0;
}

/* True if the last zone continues the previous one: equal tracks, or one shortened by slips. */
static int absorb(struct sp__tracks *tr, bool *done)
{
	struct sp__pzone *a, *b;
	uint32_t length, missing = 0;
	int rc;

	*done = false;
	if (tr->nzones < 2)
		return 0;
	a = &tr->zones[tr->nzones - 2];
	b = a + 1;
	length = sp__pzone_length(a, a->tracks);
	if (!sp__pzone_follows(b, a) || b->nlens != 1)
		return 0;
	if (a->tracks >= SOLID_TRACKS && b->tracks == 1 && !b->nodd && b->lens[0] < length)
		missing = length - b->lens[0];
	else if (a->nlens != 1 || b->lens[0] != length)
		return 0;
	/* Slips are few; otherwise a new zone begins. */
	if (missing > (length < 64 ? length / 8 + 1 : 4 + length / 64) &&
	    sp__pzone_end(b) != tr->blocks)
		return 0;
	rc = append(a, b, missing);
	sp__pzone_clear(b);
	tr->nzones -= rc == 0;
	*done = rc == 0;
	return rc;
}

static bool alike(const struct sp__pzone *a, const struct sp__pzone *b, bool last)
{
	return a->nlens == 1 && b->nlens == 1 && !a->nodd && !b->nodd && a->lens[0] == b->lens[0] &&
	       (last ? b->tracks <= a->tracks : b->tracks == a->tracks);
}

/* Returns the number of zones in a round that the last ones show twice; 0: none. */
static size_t round_of(const struct sp__tracks *tr)
{
	for (size_t m = 2; m <= ROUND_MAX && 2 * m <= tr->nzones; m++) {
		const struct sp__pzone *z = &tr->zones[tr->nzones - 2 * m];
		bool same = true;
		uint64_t tracks = 0;

		for (size_t i = 0; i < m && same; i++) {
			same = alike(&z[i], &z[m + i], false);
			tracks += z[i].tracks;
		}
		for (size_t i = 1; i < 2 * m && same; i++)
			same = sp__pzone_follows(&z[i], &z[i - 1]);
		if (same && tracks <= PATTERN_MAX)
			return m;
	}
	return 0;
}

/* Joins the last 2m zones. */
static int fold(struct sp__tracks *tr, size_t m)
{
	struct sp__pzone *z = &tr->zones[tr->nzones - 2 * m];
	uint32_t n = 0, *lens;

	for (size_t i = 0; i < m; i++)
		n += (uint32_t)z[i].tracks;
	lens = malloc(n * sizeof(*lens));
	if (!lens)
		return -ENOMEM;
	n = 0;
	for (size_t i = 0; i < m; i++)
		for (uint64_t j = 0; j < z[i].tracks; j++)
			lens[n++] = z[i].lens[0];
	free(z->lens);
	z->lens = lens;
	z->nlens = n;
	for (size_t i = 1; i < 2 * m; i++) {
		z->reads += z[i].reads;
		sp__pzone_clear(&z[i]);
	}
	tr->nzones -= 2 * m - 1;
	z->tracks = 2 * n;
	return sp__pzone_extend(tr, z, 0);
}

static int note_bad(struct sp__tracks *tr, uint64_t first, uint64_t last)
{
	if (!SP__ARRAY_RESIZE(tr->bad, tr->nbad + 1))
		return -ENOMEM;
	tr->bad[tr->nbad][0] = first;
	tr->bad[tr->nbad++][1] = last;
	return 0;
}

/* Skips from an unreadable block to the first readable boundary after it. */
static int skip(struct sp__tracks *tr, uint64_t *lbn)
{
	uint64_t from = *lbn, at, step = 16;
	struct sp__shot s;
	int rc = -EIO;

	for (at = from; rc == -EIO && at < tr->blocks; step *= 2) {
		at += step;
		rc = at < tr->blocks ? sp__timing_read(tr->tm, at, &s) : 0;
		if (!rc && at < tr->blocks)
			rc = sp__edge_next(tr, at, 0, &at);
	}
	if (at > tr->blocks)
		at = tr->blocks;
	*lbn = at;
	return rc ? rc : note_bad(tr, from, at - 1);
}

static int add_zone(struct sp__tracks *tr, struct sp__pzone *z)
{
	size_t m;
	bool done = true;
	int rc = sp__zones_add(tr, z);

	while (!rc && done) {
		rc = absorb(tr, &done);
		m = rc || done ? 0 : round_of(tr);
		if (m) {
			rc = fold(tr, m);
			done = true;
		}
	}
	return rc;
}

/*
 * No boundary was seen from lbn on, perhaps because the next one is without a jump.  The following
 * one is visible from beyond it; the blocks before that are one fragment, to be divided later.
 */
static int step_over(struct sp__tracks *tr, uint64_t lbn, struct sp__pzone *z)
{
	uint32_t length = tr->nzones ? tr->zones[tr->nzones - 1].lens[0] : 1024;
	uint64_t next = 0;
	int rc = -ENODATA;

	for (unsigned i = 2; i < 8 && rc == -ENODATA; i++)
		if (lbn + (uint64_t)length * i / 2 < tr->blocks)
			rc = sp__edge_next(tr, lbn + (uint64_t)length * i / 2, 0, &next);
	if (rc)
		return rc;
	*z = (struct sp__pzone){ .first_lbn = lbn, .blocks = next - lbn, .tracks = 1, .nlens = 1 };
	z->lens = malloc(sizeof(*z->lens));
	if (!z->lens)
		return -ENOMEM;
	z->lens[0] = (uint32_t)(next - lbn);
	return 0;
}

int sp__zones_find(struct sp__tracks *tr, uint64_t lbn)
{
	struct sp__pzone z, *last;
	int rc = 0;

	while (!rc && lbn < tr->blocks) {
		last = tr->nzones ? &tr->zones[tr->nzones - 1] : NULL;
		rc = sp__pzone_find(tr, lbn, last, &z);
		if (rc == -EIO) {
			sp__pzone_clear(&z);
			rc = skip(tr, &lbn);
			continue;
		}
		if (rc == -ENODATA) {
			sp__pzone_clear(&z);
			rc = step_over(tr, lbn, &z);
		}
		/* The zones found before a stop count. */
		if ((!rc || rc == -EINTR) && z.nlens && z.tracks > (rc ? 1 : 0)) {
			int full = add_zone(tr, &z);

			rc = rc ? rc : full;
			lbn = sp__pzone_end(&tr->zones[tr->nzones - 1]);
		} else {
			sp__pzone_clear(&z);
		}
	}
	return rc;
}

int sp__zones_sample(struct sp__tracks *tr)
{
	uint64_t lbn = 0, end;
	int rc = 0;

	for (uint64_t i = 0; i < SAMPLES && !rc; i++) {
		struct sp__pzone z = { 0 };

		if (i) {
			/* The last region leaves space for some tracks. */
			lbn = tr->blocks / 64 * (i == SAMPLES - 1 ? 63 : 32);
			rc = sp__edge_next(tr, lbn, 0, &lbn);
		}
		end = tr->nzones ? sp__pzone_end(&tr->zones[tr->nzones - 1]) : 0;
		if (rc || lbn < end)
			continue;
		rc = sp__pzone_find(tr, lbn, NULL, &z);
		if (!rc)
			rc = sp__zones_add(tr, &z);
		else
			sp__pzone_clear(&z);
		sp__timing_progress(tr->tm, SP_PROBE_ZONES, (double)(i + 1) / SAMPLES);
	}
	return rc;
}
