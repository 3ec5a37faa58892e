/* SPDX-License-Identifier: MIT */
/*
 * Joins fragments of zones that the finder left.
 *
 * Between two zones the skew is arbitrary, and can be near 0.  The boundary is then invisible, and
 * the finder leaves fragments that are not tracks.  The fragments are between two zones of known
 * lengths: if some more tracks of the one and of the other add up to them exactly, they are these
 * tracks.
 *
 * At the start of the device, slipped blocks can have hidden the pattern.  Tracks there that
 * continue the pattern backwards, except for a few blocks, belong to it.
 */
#include <stdlib.h>
#include <string.h>
#include "probe/tracks/tracks.h"

#define PIECE_TRACKS 2
#define SOLID_TRACKS 4
#define MORE 40 /* maximum of tracks that a zone gains */

static uint32_t few(uint32_t length)
{
	return length / 8 + 1;
}

/* Adds n tracks before the zone, of this number of blocks in total. */
static int extend_back(struct sp__pzone *z, uint64_t n, uint64_t blocks)
{
	uint32_t *lens = malloc(z->nlens * sizeof(*lens)), shift = (uint32_t)(n % z->nlens);

	if (!lens)
		return -ENOMEM;
	for (uint32_t i = 0; i < z->nlens; i++)
		lens[i] = z->lens[(i + z->nlens - shift) % z->nlens];
	free(z->lens);
	z->lens = lens;
	for (size_t i = 0; i < z->nodd; i++)
		z->odd[i].track += n;
	z->first_lbn -= blocks;
	z->blocks += blocks;
	z->tracks += n;
	return 0;
}

/* Returns the length of the i-th track before the first one (i from 0), by the pattern. */
static uint32_t length_before(const struct sp__pzone *z, uint64_t i)
{
	return z->lens[z->nlens - 1 - i % z->nlens];
}

/* Extends zones a and b by the blocks between them, if some tracks of each add up to them. */
static int share(struct sp__pzone *a, struct sp__pzone *b, uint64_t between, bool *done)
{
	uint64_t front = 0, back;

	*done = false;
	for (uint64_t k = 0; k <= MORE && front <= between; k++) {
		back = 0;
		for (uint64_t m = 0; m <= MORE && front + back <= between; m++) {
			if (front + back == between) {
				a->tracks += k;
				a->blocks += front;
				*done = true;
				return extend_back(b, m, back);
			}
			back += length_before(b, m);
		}
		front += sp__pzone_length(a, a->tracks + k);
	}
	return 0;
}

static bool solid(const struct sp__pzone *z)
{
	return z->tracks >= SOLID_TRACKS || z->tracks >= 2 * (uint64_t)z->nlens + 1;
}

/* Removes the first or last track of a zone of equal tracks if it is odd; returns its blocks. */
static uint64_t trim(struct sp__pzone *z, bool last)
{
	size_t at = last ? z->nodd - 1 : 0;
	uint64_t blocks;

	if (z->nlens != 1 || !z->nodd || z->odd[at].track != (last ? z->tracks - 1 : 0))
		return 0;
	blocks = z->lens[0] - z->odd[at].missing;
	memmove(&z->odd[at], &z->odd[at + 1], (--z->nodd - at) * sizeof(*z->odd));
	for (size_t i = at; i < z->nodd; i++)
		z->odd[i].track--;
	z->first_lbn += last ? 0 : blocks;
	z->blocks -= blocks;
	z->tracks--;
	return blocks;
}

/* Restores the removed tracks. */
static int untrim(struct sp__pzone *a, uint64_t back, struct sp__pzone *b, uint64_t front)
{
	int rc = 0;

	if (back) {
		rc = sp__pzone_add_odd(a, a->nodd, a->tracks++, (uint32_t)(a->lens[0] - back));
		a->blocks += back;
	}
	if (front && !rc) {
		rc = extend_back(b, 1, front);
		if (!rc)
			rc = sp__pzone_add_odd(b, 0, 0, (uint32_t)(b->lens[0] - front));
	}
	return rc;
}

/* Joins two solid zones with fragments, or odd tracks, between them. */
static int join_two(struct sp__tracks *tr, size_t i, size_t j, bool *done)
{
	struct sp__pzone *a = &tr->zones[i], *b = &tr->zones[j];
	uint64_t gap = b->first_lbn - sp__pzone_end(a), reads = 0;
	uint64_t back = trim(a, true), front = trim(b, false);
	int rc = 0;

	*done = false;
	if (gap + back + front)
		rc = share(a, b, gap + back + front, done);
	if (rc || !*done)
		return rc ? rc : untrim(a, back, b, front);
	for (size_t k = i + 1; k < j; k++)
		reads += tr->zones[k].reads;
	b->reads += reads;
	sp__zones_drop(tr, i + 1, j - i - 1);
	return 0;
}

static int join_pieces(struct sp__tracks *tr)
{
	bool done;
	int rc = 0;

	for (size_t i = 0, j; i + 1 < tr->nzones && !rc; i++) {
		for (j = i + 1;
		     j < tr->nzones && sp__pzone_follows(&tr->zones[j], &tr->zones[j - 1]) &&
		     tr->zones[j].tracks <= PIECE_TRACKS;
		     j++)
			;
		if (j < tr->nzones && solid(&tr->zones[i]) && solid(&tr->zones[j]) &&
		    sp__pzone_follows(&tr->zones[j], &tr->zones[j - 1]))
			rc = join_two(tr, i, j, &done);
	}
	return rc;
}

/* Joins fragments at the start of the device that continue the first pattern backwards. */
static int join_front(struct sp__tracks *tr)
{
	uint64_t n = 0, blocks = 0, reads = 0;
	size_t first = 0, i;
	struct sp__pzone *z;
	int rc;

	while (first < tr->nzones && tr->zones[first].tracks <= SOLID_TRACKS)
		first++;
	if (!first || first == tr->nzones)
		return 0;
	z = &tr->zones[first];
	for (i = first; i--;) {
		const struct sp__pzone *piece = &tr->zones[i];

		for (uint64_t t = piece->tracks; t--; n++) {
			uint32_t have = sp__pzone_length(piece, t), want = length_before(z, n);

			if (have > want || want - have > few(want) ||
			    !sp__pzone_follows(piece + 1, piece))
				return 0;
		}
		blocks += piece->blocks;
		reads += piece->reads;
	}
	rc = extend_back(z, n, blocks);
	/* From the front, so that the list ascends. */
	for (i = 0, n = 0; i < first && !rc; i++)
		for (uint64_t t = 0; t < tr->zones[i].tracks && !rc; t++, n++) {
			uint32_t have = sp__pzone_length(&tr->zones[i], t);
			uint32_t want = sp__pzone_length(z, n);
			size_t at = 0;

			while (at < z->nodd && z->odd[at].track < n)
				at++;
			if (have < want)
				rc = sp__pzone_add_odd(z, at, n, want - have);
		}
	z->reads += reads;
	if (!rc)
		sp__zones_drop(tr, 0, first);
	return rc;
}

int sp__zones_join(struct sp__tracks *tr)
{
	int rc = 0;

	for (size_t i = 0; i < tr->nzones && !rc; i++)
		rc = sp__pzone_express(&tr->zones[i]);
	if (!rc)
		rc = join_pieces(tr);
	return rc ? rc : join_front(tr);
}
