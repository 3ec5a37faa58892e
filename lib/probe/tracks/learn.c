/* SPDX-License-Identifier: MIT */
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
#include <stdlib.h>
#include "probe/tracks/tracks.h"

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
