/* SPDX-License-Identifier: MIT */
/*
 * Extends a zone as far as its pattern of lengths predicts boundaries.
 *
 * Algorithm: after two consecutive tracks of equal length, or a repeated pattern of lengths, every
 * later boundary is predicted.  Whether the forecast still holds k tracks on is
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
#include <stdlib.h>
#include "probe/tracks/tracks.h"

/*
 * Learns the lengths of the tracks of a zone from its first tracks.
 *
 * Mostly two neighbours have equal lengths, and tracks before them are short by a few slipped
 * blocks.  Otherwise each head can have its own length: lengths are read until a pattern of them
 * has occurred twice.  So a zone takes two rounds of its heads, and the forecast does the rest.
 * The previous zone shows which track is longer, and by how much.
 *
 * If no pattern shows, the zone is not read again to search for a longer one.
 */

#define SHORT_READ 4   /* tracks, if no pattern is to be expected */
#define PATTERN_MAX 32 /* tracks */
#define READ_MAX (2 * PATTERN_MAX + SHORT_READ)
#define ALIKE_MIN 4 /* equal tracks, if others came before them */

struct lengths {
	uint64_t at[READ_MAX + 1]; /* where tracks begin */
	uint32_t len[READ_MAX], n;
	bool reading; /* no pattern yet, and one may come */
};

/* Returns the maximum number of blocks by which slips shorten a track. */
static bool slipped(uint32_t len, uint32_t full)
{
	return len <= full && full - len <= full / 8 + 1;
}

/* Returns the length of track i by a pattern that ends with the last track. */
static uint32_t by_pattern(const struct lengths *l, uint32_t q, uint32_t i)
{
	return l->len[l->n - q + (i + q - l->n % q) % q];
}

/* True if the last tracks repeat with q and fit the earlier ones, except for few slips. */
static bool repeats(const struct lengths *l, uint32_t q)
{
	uint32_t same = q == 1 ? ALIKE_MIN : 2 * q, odd = 0;

	if (l->n < same)
		return false;
	for (uint32_t i = l->n - same; i < l->n; i++)
		if (l->len[i] != by_pattern(l, q, i))
			return false;
	for (uint32_t i = 0; i < l->n - same; i++) {
		if (!slipped(l->len[i], by_pattern(l, q, i)))
			return false;
		odd += l->len[i] != by_pattern(l, q, i);
	}
	return 4 * odd <= l->n;
}

/* True if the first two neighbours agree. */
static bool plain(const struct lengths *l)
{
	uint32_t last = l->n ? l->len[l->n - 1] : 0;

	if (l->n < 2 || l->n > SHORT_READ || l->len[l->n - 2] != last)
		return false;
	for (uint32_t i = 0; i + 2 < l->n; i++)
		if (!slipped(l->len[i], last))
			return false;
	return true;
}

/* Returns the pattern found so far, or 0. */
static uint32_t pattern_of(const struct lengths *l, uint64_t least)
{
	if (!least && plain(l))
		return 1;
	for (uint32_t q = 1; q <= PATTERN_MAX && l->n >= least; q++)
		if (repeats(l, q))
			return q;
	return 0;
}

/* Predicts the next track, if heads differ as in the previous zone. */
static uint32_t expected(const struct lengths *l, const struct sp__pzone *before)
{
	uint64_t track = before ? before->tracks + l->n : 0;

	if (!l->n)
		return before ? sp__pzone_length(before, track) : 0;
	if (!before || before->nlens == 1)
		return l->len[l->n - 1];
	return (uint32_t)((uint64_t)l->len[l->n - 1] * sp__pzone_length(before, track) /
			  sp__pzone_length(before, track - 1));
}

/* Adds a track.  Very different lengths are not those of heads. */
static int read_one(struct sp__tracks *tr, struct lengths *l, const struct sp__pzone *before)
{
	int rc = sp__edge_next(tr, l->at[l->n], expected(l, before), &l->at[l->n + 1]);
	uint32_t len;

	if (rc)
		return rc;
	len = (uint32_t)(l->at[l->n + 1] - l->at[l->n]);
	if (l->n && (len > l->len[0] + l->len[0] / 4 || len < l->len[0] - l->len[0] / 4))
		l->reading = false;
	l->len[l->n++] = len;
	return 0;
}

static int put(struct sp__pzone *z, const struct lengths *l, uint32_t q)
{
	int rc = 0;

	z->nlens = q ? q : 1;
	z->lens = malloc(z->nlens * sizeof(*z->lens));
	if (!z->lens)
		return -ENOMEM;
	z->tracks = q ? l->n : 1;
	for (uint32_t i = 0; i < z->nlens; i++)
		z->lens[i] = q ? by_pattern(l, q, i) : l->len[0];
	for (uint32_t i = 0; q && i < l->n && !rc; i++)
		if (l->len[i] < by_pattern(l, q, i))
			rc = sp__pzone_add_odd(z, z->nodd, i, by_pattern(l, q, i) - l->len[i]);
	return rc;
}

int sp__pzone_learn(struct sp__tracks *tr, struct sp__pzone *z, const struct sp__pzone *before,
		    uint64_t least, bool *known)
{
	struct lengths l = { .at = { z->first_lbn }, .reading = true };
	uint32_t most = z->first_lbn < tr->learnt ? SHORT_READ : READ_MAX, q = 0;
	int rc = 0;

	*known = false;
	if (least >= most)
		return 0;
	while (l.reading && l.n < most && l.at[l.n] < tr->blocks && !q && !rc) {
		rc = read_one(tr, &l, before);
		if (!rc)
			q = pattern_of(&l, least);
	}
	if (rc && (!l.n || (rc != -EIO && rc != -ENODATA)))
		return rc;
	if (!q && most == READ_MAX)
		tr->learnt = l.at[l.n];
	*known = q > 0;
	return put(z, &l, q);
}

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
