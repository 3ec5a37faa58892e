/* SPDX-License-Identifier: MIT */
/*
 * Checks tracks again, by probes held back for that, before anything is built on them:
 *
 *  - boundaries of every zone: of its second and its last track, of random tracks between them, at
 *    least one for each position in the pattern, and on both sides of every odd track;
 *  - whether a fraction of a track is the same fraction of a revolution, which is false if several
 *    tracks were taken for one;
 *  - both ends of a zone of one or two tracks, and of a zone that begins or ends at a gap.
 *
 * Tracks between two correct boundaries are correct, since a slip or a wrong length moves all later
 * ones.  Tracks between others are dropped: zones are cut there.  A zone with a false track is
 * dropped.
 */
#include <stdlib.h>
#include "base/err.h"
#include "dev/geometry.h"
#include "probe/tracks/tracks.h"

/*
 * Restores the zones of a partial geometry, as they were when its probe was stopped.
 */

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

#define RECHECKS 60
#define ZONE_RECHECKS 3
#define PARTS 4
#define PART_OFF 0.06
#define PIECE_TRACKS 2
#define PIECE_LOOKS 2

/* A negative answer is measured again, with exact angles. */
static int boundary(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t t, bool *is)
{
	uint64_t lbn = sp__pzone_start(z, t);
	uint32_t length = sp__pzone_length(z, t ? t - 1 : 0);
	int rc = 0;

	*is = !lbn || lbn >= tr->blocks;
	if (!*is)
		rc = sp__edge_at(tr, lbn, length, is);
	return rc || *is ? rc : sp__edge_fine(tr, lbn, length, is);
}

/* Checks that fractions of a track are the same fractions of a revolution. */
static int whole(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t t, bool *is)
{
	uint64_t lbn = sp__pzone_start(z, t);
	uint32_t blocks = (uint32_t)(sp__pzone_start(z, t + 1) - lbn), some;
	double a, b;
	int rc;

	*is = true;
	/* The positions of many slipped blocks are not known. */
	if (blocks < 2 * PARTS || sp__pzone_length(z, t) - blocks > blocks / 32)
		return 0;
	rc = sp__angle_agreed(tr->tm, lbn, &a);
	for (unsigned part = 0; part < PARTS && *is && !rc; part++) {
		some = blocks * part / PARTS +
		       (uint32_t)sp__rng_below(&tr->tm->rng, blocks / PARTS);
		*is = false;
		for (unsigned i = 0; i < 2 && !*is && !rc; i++) {
			rc = sp__angle_agreed(tr->tm, lbn + some, &b);
			*is = fabs(sp__wrap(b - a - (double)some / blocks)) < PART_OFF;
			if (!rc && !*is)
				rc = sp__angle_agreed(tr->tm, lbn, &a);
		}
	}
	return rc;
}

/* The probes of a zone, in ascending order of tracks. */
struct inquiry {
	struct sp__tracks *tr;
	struct sp__pzone *z;
	uint64_t from;	/* the last track at which there was a boundary */
	uint64_t asked; /* the last track that was checked */
	bool good;	/* it was one */
	bool broken;	/* a track is false, so all of the zone are */
};

/* Copies tracks from..to of a zone as a zone, without members that are unknown yet. */
static int part_of(const struct sp__pzone *z, uint64_t from, uint64_t to, struct sp__pzone *part)
{
	int rc = 0;

	*part = (struct sp__pzone){ .first_lbn = sp__pzone_start(z, from),
				    .blocks = sp__pzone_start(z, to) - sp__pzone_start(z, from),
				    .tracks = to - from,
				    .nlens = z->nlens,
				    .reads = from ? 0 : z->reads };
	part->lens = malloc(z->nlens * sizeof(*part->lens));
	if (!part->lens)
		return -ENOMEM;
	for (uint32_t i = 0; i < z->nlens; i++)
		part->lens[i] = sp__pzone_length(z, from + i);
	for (size_t i = 0; i < z->nodd && !rc; i++)
		if (z->odd[i].track >= from && z->odd[i].track < to)
			rc = sp__pzone_add_odd(part, part->nodd, z->odd[i].track - from,
					       z->odd[i].missing);
	if (rc)
		sp__pzone_clear(part);
	return rc;
}

/* Moves a whole zone, or copies some tracks of it, to the list. */
static int keep(struct sp__tracks *tr, struct sp__pzone *z, uint64_t from, uint64_t to)
{
	struct sp__pzone part = *z;
	int rc = 0;

	if (from >= to)
		return 0;
	if (from || to < z->tracks)
		rc = part_of(z, from, to, &part);
	else
		*z = (struct sp__pzone){ 0 };
	return rc ? rc : sp__zones_add(tr, &part);
}

static int note(struct inquiry *q, uint64_t track, bool is)
{
	int rc = 0;

	q->tr->rechecked++;
	q->tr->recheck_misses += !is;
	if (!is && q->good && q->asked > q->from + PIECE_TRACKS)
		rc = keep(q->tr, q->z, q->from, q->asked);
	else if (is && !q->good)
		q->from = track;
	q->good = is;
	q->asked = track;
	return rc;
}

/* Unreadable blocks prove nothing. */
static int ask(struct inquiry *q, uint64_t track)
{
	unsigned looks = q->z->tracks > PIECE_TRACKS ? 1 : PIECE_LOOKS;
	bool is;
	int rc = boundary(q->tr, q->z, track, &is);

	for (unsigned i = 0; i < looks && !rc && is && track < q->z->tracks; i++) {
		rc = whole(q->tr, q->z, track, &is);
		q->broken |= !rc && !is;
	}
	return rc == -EIO ? 0 : rc ? rc : note(q, track, is);
}

/* Checks odd tracks up to `to`, and the tracks after them. */
static int ask_odd(struct inquiry *q, size_t *odd, uint64_t to)
{
	int rc = 0;

	for (; *odd < q->z->nodd && q->z->odd[*odd].track < to && !rc; ++*odd)
		for (uint64_t t = q->z->odd[*odd].track; t <= q->z->odd[*odd].track + 1 && !rc; t++)
			if (t > q->asked && t < q->z->tracks)
				rc = ask(q, t);
	return rc;
}

/* Checks one track in each of n ranges, each at another position in the pattern. */
static uint64_t random_track(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t i,
			     uint64_t n)
{
	uint64_t from = z->tracks * i / n, wide = z->tracks * (i + 1) / n - from;
	uint64_t t = from + (wide ? sp__rng_below(&tr->tm->rng, wide) : 0);

	return t + (i % z->nlens + z->nlens - t % z->nlens) % z->nlens;
}

/* Checks all of a zone of one or two tracks. */
static int ask_piece(struct inquiry *q)
{
	int rc = 0;

	for (uint64_t t = 0; t <= q->z->tracks && !rc; t++)
		rc = ask(q, t);
	return rc;
}

static int ask_zone(struct inquiry *q, uint64_t n)
{
	const struct sp__pzone *z = q->z;
	size_t odd = 0;
	int rc = ask(q, 1);

	if (n < z->nlens)
		n = z->nlens;
	for (uint64_t i = 0; i < n && !rc; i++) {
		uint64_t t = random_track(q->tr, z, i, n);

		rc = ask_odd(q, &odd, t);
		if (!rc && t > q->asked && t + 1 < z->tracks)
			rc = ask(q, t);
	}
	if (!rc)
		rc = ask_odd(q, &odd, z->tracks);
	return rc || z->tracks - 1 <= q->asked ? rc : ask(q, z->tracks - 1);
}

/* Adds the correct tracks of a zone to the list; tracks that were not checked count as correct. */
static int recheck(struct sp__tracks *tr, struct sp__pzone *z, uint64_t n)
{
	struct inquiry q = { .tr = tr, .z = z, .good = true };
	size_t before = tr->nzones;
	int rc = z->tracks <= PIECE_TRACKS ? ask_piece(&q) : ask_zone(&q, n);
	bool rest = q.good && (!q.from || z->tracks > q.from + PIECE_TRACKS);
	int full = rest ? keep(tr, z, q.from, z->tracks) : 0;

	if (q.broken && tr->nzones > before)
		sp__zones_drop(tr, before, tr->nzones - before);
	return rc ? rc : full;
}

/* A remapped block is elsewhere, alone: the jump to it is followed by a jump back. */
static int not_alone(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t t, bool *is)
{
	uint64_t lbn = sp__pzone_start(z, t);
	bool alone = false;
	int rc = *is && lbn && lbn + 1 < tr->blocks
			 ? sp__edge_at(tr, lbn + 1, sp__pzone_length(z, t ? t - 1 : 0), &alone)
			 : 0;

	*is &= !alone;
	return rc;
}

/* Removes the first or last track of a zone next to a gap, unless its boundary is seen. */
static int recheck_end(struct sp__tracks *tr, size_t i, bool last)
{
	struct sp__pzone *z = &tr->zones[i];
	bool joins = last ? i + 1 < tr->nzones && sp__pzone_follows(z + 1, z)
			  : i && sp__pzone_follows(z, z - 1);
	bool asked = !joins && z->tracks > PIECE_TRACKS, is = true;
	struct sp__pzone part;
	int rc = asked ? boundary(tr, z, last ? z->tracks : 0, &is) : 0;

	if (!rc && asked)
		rc = not_alone(tr, z, last ? z->tracks : 0, &is);
	if (!rc && !is)
		rc = part_of(z, !last, z->tracks - last, &part);
	if (rc || is)
		return rc == -EIO ? 0 : rc;
	sp__pzone_clear(z);
	*z = part;
	return 0;
}

int sp__tracks_recheck(struct sp__tracks *tr)
{
	struct sp__pzone *old = tr->zones;
	size_t n = tr->nzones;
	uint64_t each = n ? RECHECKS / n + 1 : 0;
	int rc = 0, full = 0;

	tr->zones = NULL;
	tr->nzones = tr->capacity = 0;
	for (size_t i = 0; i < n; i++) {
		if (rc)
			full = keep(tr, &old[i], 0, old[i].tracks);
		else
			rc = recheck(tr, &old[i], each > ZONE_RECHECKS ? each : ZONE_RECHECKS);
		rc = full ? full : rc;
		sp__pzone_clear(&old[i]);
	}
	free(old);
	for (size_t i = 0; i < 2 * tr->nzones && !rc; i++)
		rc = recheck_end(tr, i / 2, i % 2);
	return rc;
}
