/* SPDX-License-Identifier: MIT */
/*
 * Extends a zone as far as its pattern of lengths predicts boundaries.
 *
 * Algorithm: after two consecutive tracks of equal length, or a repeated pattern of lengths
 * (learn.c), every later boundary is predicted.  Whether the forecast still holds k tracks on is
 * measured at distances that double; bisection finds where it fails.  So a zone of thousands of
 * tracks takes a few dozen probes.
 *
 * A probe measures two neighbouring boundaries.  One is not enough: if the lengths of two zones
 * have a small common multiple, a forecast of the old zone meets a boundary of the new one by
 * accident, and bisection fails.
 *
 * Where the forecast fails, the next boundary is searched.  A track that is a few blocks short,
 * after which the old lengths continue, has slipped blocks and is noted as odd.  All later
 * boundaries move with it, so none is missed.  Anything else is the end of the zone.
 *
 * States: learning the length, galloping, bisecting, examining the failure, and galloping again
 * after an odd track.
 *
 * Memory: the pattern, and 16 bytes for each odd track.
 */
#include "probe/tracks/tracks.h"

#define ODD_MAX 4096
#define EIO_SKIP 8
#define FEW 4
#define SHORT 80 /* blocks of a short track */
#define FEW_TRACKS 8

/* Finds out whether a track begins at the predicted boundary. */
static int one(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t track, bool *is)
{
	uint64_t lbn = sp__pzone_start(z, track);

	*is = true;
	if (track == 0 || lbn == tr->blocks)
		return 0;
	return sp__edge_at(tr, lbn, sp__pzone_length(z, track - 1), is);
}

static int holds(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t track, bool *is)
{
	int rc = one(tr, z, track, is);

	return rc || !*is ? rc : one(tr, z, track - 1, is);
}

/*
 * Does so for the first readable track from *track on, below limit; false if all are unreadable.
 */
static int holds_near(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t *track,
		      uint64_t limit, bool *is)
{
	uint64_t first = *track;
	int rc = -EIO;

	for (unsigned i = 0; i < EIO_SKIP && rc == -EIO && first + i < limit; i++) {
		*track = first + i;
		rc = holds(tr, z, *track, is);
	}
	if (rc != -EIO)
		return rc;
	*track = first;
	*is = false;
	return 0;
}

/* Returns the number of whole tracks that fit on the rest of the device by the forecast. */
static uint64_t max_tracks(const struct sp__tracks *tr, const struct sp__pzone *z)
{
	uint64_t rest = tr->blocks - z->first_lbn, n, sum = sp__pzone_round(z);

	for (size_t i = 0; i < z->nodd; i++)
		rest += z->odd[i].missing;
	n = rest / sum * z->nlens;
	while (sp__pzone_start(z, n + 1) <= tr->blocks)
		n++;
	return n;
}

/* True if it ends where the previous zone ended; then sets z->tracks. */
static int same_tracks(struct sp__tracks *tr, struct sp__pzone *z, uint64_t hint, bool *yes)
{
	bool is = true;
	int rc;

	*yes = false;
	if (z->tracks < 2 || hint <= z->tracks || hint >= max_tracks(tr, z))
		return 0;
	/* A single boundary can be an alias of other lengths. */
	rc = hint > 8 ? holds(tr, z, hint / 3 + 1, &is) : 0;
	if (rc || !is)
		return rc == -EIO ? 0 : rc;
	rc = holds(tr, z, hint, yes);
	if (!rc && *yes)
		rc = one(tr, z, hint + 1, &is);
	*yes = !rc && *yes && !is;
	if (*yes)
		z->tracks = hint;
	return rc == -EIO ? 0 : rc;
}

/* Extends z->tracks as far as the forecast holds. */
static int gallop(struct sp__tracks *tr, struct sp__pzone *z)
{
	uint64_t good = z->tracks, most = max_tracks(tr, z), bad = most + 1, m, step = 1;
	bool is = true;
	int rc;

	while (is && good < most) {
		m = good + step < most ? good + step : most;
		rc = holds_near(tr, z, &m, most + 1, &is);
		if (rc)
			return rc;
		if (is)
			good = m;
		else
			bad = m;
		step *= 2;
	}
	while (bad - good > 1 && good < most) {
		m = good + (bad - good) / 2;
		rc = holds_near(tr, z, &m, bad, &is);
		if (rc)
			return rc;
		if (is)
			good = m;
		else if (m < bad)
			bad = m;
	}
	z->tracks = good;
	return 0;
}

/* True if there is a boundary at lbn, and the next one as the lengths of old predict. */
static int goes_on(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t track, uint64_t lbn,
		   bool *yes)
{
	uint64_t next = lbn + sp__pzone_length(z, track + 1);
	int rc = sp__edge_at(tr, lbn, sp__pzone_length(z, track), yes);

	if (rc || !*yes || next >= tr->blocks)
		return rc;
	return sp__edge_at(tr, next, sp__pzone_length(z, track + 1), yes);
}

/* On short tracks a slipped block is itself a jump: tries the ends that a few would give. */
static int find_few(struct sp__tracks *tr, const struct sp__pzone *z, uint64_t lbn, uint32_t length,
		    bool *found, uint32_t *missing)
{
	int rc = 0;

	for (*missing = 0; *missing <= FEW && *missing < length / 2 && !*found && !rc; ++*missing)
		if (lbn + length - *missing < tr->blocks)
			rc = goes_on(tr, z, z->tracks, lbn + length - *missing, found);
	*missing -= *found;
	return rc;
}

/*
 * Finds what follows the last track.  *found: a track that is `missing` blocks short, after which
 * the pattern continues.  *more: a track whose end was hardly visible, and then another pattern.
 */
static int find_slips(struct sp__tracks *tr, const struct sp__pzone *z, bool *found, bool *more,
		      uint32_t *missing)
{
	uint64_t lbn = sp__pzone_start(z, z->tracks), next = 0;
	uint32_t length = sp__pzone_length(z, z->tracks);
	int rc = 0;

	*found = *more = false;
	if (length < SHORT)
		rc = find_few(tr, z, lbn, length, found, missing);
	if (rc || *found)
		return rc;
	rc = sp__edge_next(tr, lbn, length, &next);
	if (rc && rc != -ENODATA)
		return rc;
	if (rc || next - lbn > length + length / 4) {
		*more = lbn + length == tr->blocks;
		if (lbn + length >= tr->blocks)
			return 0;
		return sp__edge_fine(tr, lbn + length, length, more);
	}
	if (next - lbn > length)
		return 0;
	*missing = (uint32_t)(length - (next - lbn));
	*found = next == tr->blocks;
	/* Never more than an eighth of a track is slipped. */
	if (!*found && *missing <= length / 8 + 1)
		rc = goes_on(tr, z, z->tracks, next, found);
	return rc;
}

/* Finds why the forecast failed after the last track.  *ended: at the end of the zone. */
static int look_closer(struct sp__tracks *tr, struct sp__pzone *z, bool *ended)
{
	uint64_t before = z->tracks;
	uint32_t missing = 0;
	bool is = true, more = false;
	int rc = 0;

	*ended = true;
	/* A wrong answer can have extended it too far. */
	do {
		if (!is)
			z->tracks--;
		rc = z->tracks > 1 ? holds(tr, z, z->tracks, &is) : 0;
	} while (!rc && !is && z->tracks > 1);
	*ended = z->tracks == before;
	if (rc || !*ended || sp__pzone_start(z, z->tracks) >= tr->blocks)
		return rc == -EIO ? 0 : rc;
	rc = find_slips(tr, z, &is, &more, &missing);
	if (rc == -EIO || rc == -ENODATA) {
		is = false;
		rc = 0;
	}
	z->tracks += !rc && more;
	if (rc || !is)
		return rc;
	if (missing)
		rc = z->nodd < ODD_MAX ? sp__pzone_add_odd(z, z->nodd, z->tracks, missing)
				       : -ENODATA;
	*ended = rc != 0;
	z->tracks += rc == 0;
	return rc == -ENODATA ? 0 : rc;
}

int sp__pzone_extend(struct sp__tracks *tr, struct sp__pzone *z, uint64_t hint)
{
	uint64_t before = tr->tm->cost.reads;
	bool ended = false, same = false;
	int rc = hint ? same_tracks(tr, z, hint, &same) : 0;

	while (!rc && !ended) {
		if (!same)
			rc = gallop(tr, z);
		same = false;
		if (!rc)
			rc = look_closer(tr, z, &ended);
		if (!rc && !ended)
			rc = sp__pzone_express(z);
		sp__timing_progress(tr->tm, SP_PROBE_ZONES,
				    (double)sp__pzone_start(z, z->tracks) / (double)tr->blocks);
	}
	z->blocks = sp__pzone_start(z, z->tracks) - z->first_lbn;
	z->reads += tr->tm->cost.reads - before;
	return rc;
}

/* A few equal tracks can be the beginning of a longer pattern. */
static int find_longer(struct sp__tracks *tr, const struct sp__pzone *hint, struct sp__pzone *z)
{
	struct sp__pzone longer = { .first_lbn = z->first_lbn };
	bool known = false;
	int rc;

	if (z->tracks >= FEW_TRACKS || sp__pzone_end(z) == tr->blocks)
		return 0;
	rc = sp__pzone_learn(tr, &longer, hint, z->tracks + 1, &known);
	if (!rc && known)
		rc = sp__pzone_extend(tr, &longer, 0);
	if (rc || !known || longer.tracks <= z->tracks) {
		sp__pzone_clear(&longer);
		return rc == -EIO || rc == -ENODATA ? 0 : rc;
	}
	sp__pzone_clear(z);
	*z = longer;
	return 0;
}

int sp__pzone_find(struct sp__tracks *tr, uint64_t lbn, const struct sp__pzone *hint,
		   struct sp__pzone *z)
{
	uint64_t before = tr->tm->cost.reads;
	bool known;
	int rc;

	*z = (struct sp__pzone){ .first_lbn = lbn };
	rc = sp__pzone_learn(tr, z, hint, 0, &known);
	if (!rc)
		rc = sp__pzone_extend(tr, z, hint ? hint->tracks : 0);
	if (!rc)
		rc = find_longer(tr, hint, z);
	z->reads = tr->tm->cost.reads - before;
	return rc;
}
