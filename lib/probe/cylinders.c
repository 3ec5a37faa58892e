/* SPDX-License-Identifier: MIT */
/*
 * Which tracks are on one cylinder?  The pattern of skews proposes an answer,
 * the times of hops decide.
 *
 * A pattern of q tracks with one skew that differs is a cylinder of q surfaces,
 * or a band of a serpentine: q cylinders on one surface.  A pattern of several
 * such runs can only be a serpentine.  On a cylinder the last track of a run is
 * as near as the second; on a serpentine it is far, and the last track of the
 * next run is near again, since the next surface is gone through backwards.
 *
 * Where skews are all equal, tracks are taken as one line; if then the zone was
 * cut in two by its angles and hops across the cut are short, it is a
 * serpentine that turns at the end of a surface.
 *
 * Whether the heads go backwards on every other cylinder shows where they have lengths of their
 * own, or where a switch of heads takes longer than a step to the next cylinder: one of the hops
 * to the next cylinder, from the last track or from the first, then needs it.
 */
#include <errno.h>
#include "dev/drive.h"
#include "probe/state.h"

#define SURFACES_MAX 64
#define SURE 5	  /* errors of a hop's time */
#define STAIRS 33 /* hops of less tracks than this are compared */

/* The first zone of the longest ones that has angles; its first track's number. */
static const struct sp__pzone *main_zone(const struct sp__probe *p, uint64_t *first)
{
	const struct sp__pzone *best = NULL;
	uint64_t tracks = 0;

	for (size_t i = 0; i < p->tracks.nzones; i++) {
		const struct sp__pzone *z = &p->tracks.zones[i];

		/* After a gap tracks have no number. */
		if (i && !sp__pzone_follows(z, z - 1))
			break;
		if (z->nskew && (!best || z->tracks > 4 * best->tracks)) {
			best = z;
			*first = tracks;
		}
		tracks += z->tracks;
	}
	return best;
}

struct breaks {
	uint32_t run;	/* tracks of a run; 0: runs are not equal */
	uint32_t align; /* track of the pattern at which a run begins */
};

/* The next track of the pattern, from i on, after which the skew is not the usual one. */
static uint32_t next_break(const struct sp__pzone *z, double usual, uint32_t i)
{
	uint32_t end = i + z->nskew;

	while (i < end && sp__skew_alike(z->skew[i % z->nskew], usual))
		i++;
	return i;
}

/*
 * Where skews differ from the most frequent one.  Where one round of bands ends the skew
 * may happen to be the usual one: a run then seems to be twice as long.
 */
static struct breaks breaks_of(const struct sp__pzone *z)
{
	struct breaks b = { .run = z->nskew };
	double usual = sp__pzone_usual_skew(z);
	uint32_t first = next_break(z, usual, 0), at, next;

	if (first >= z->nskew)
		return (struct breaks){ 0 };
	for (at = first; at < first + z->nskew; at = next) {
		next = next_break(z, usual, at + 1);
		if (next - at <= b.run) {
			b.run = next - at;
			b.align = (at + 1) % z->nskew;
		}
	}
	for (at = first; at < first + z->nskew; at = next) {
		next = next_break(z, usual, at + 1);
		if ((next - at) % b.run || next - at > 2 * b.run)
			return (struct breaks){ 0 };
	}
	return b;
}

/* Runs of tracks of one length, where heads have lengths of their own. */
static struct breaks length_breaks(const struct sp__pzone *z)
{
	struct breaks b = { 0 };
	uint32_t last = 0;

	for (uint32_t i = 1; i <= z->nlens; i++) {
		if (i < z->nlens && z->lens[i] == z->lens[i - 1])
			continue;
		if (b.run && i - last != b.run)
			return (struct breaks){ 0 };
		b.run = i - last;
		last = i;
	}
	return b;
}

/* Skews are all alike: does the arm come back where the next zone begins? */
static int find_turn(struct sp__probe *p, uint64_t first, const struct sp__pzone *z)
{
	const struct sp__pzone *next = z + 1;
	uint64_t reach = z->tracks / 4 < 1000 ? z->tracks / 4 : 1000, turn = first + z->tracks;
	double straight, across;
	uint32_t n = 1;
	int rc;

	if (next >= p->tracks.zones + p->tracks.nzones || next->lens[0] != z->lens[0] ||
	    next->tracks != z->tracks || reach < 20)
		return 0;
	rc = sp__hop_time(p, first, first + 2 * reach - 1, false, &straight);
	if (!rc)
		rc = sp__hop_time(p, turn - reach, turn + reach - 1, false, &across);
	if (rc || across > straight - p->tm.spin.period_ns / 100)
		return rc;
	while (&z[n] < p->tracks.zones + p->tracks.nzones && z[n].lens[0] == z->lens[0] &&
	       z[n].tracks == z->tracks)
		n++;
	/* A surface of another size is two of them, of which one begins unseen. */
	if (&z[n] == p->tracks.zones + p->tracks.nzones || z[n].lens[0] != z->lens[0])
		p->place = (struct sp__trackorder){ .order = SP__ORDER_SURFACE, .surfaces = n };
	return 0;
}

/* Do hops of a cylinder of s surfaces explain the times of hops of 1 ... n - 1 tracks? */
static bool explains(const double *ns, uint32_t n, uint32_t s, double little)
{
	for (uint32_t k = 1; k < n; k++) {
		uint32_t first = k / s * s;

		if (k % s == 0)
			continue;
		/* On one cylinder all other heads are as near. */
		if (k > first + 1 && fabs(ns[k] - ns[first + 1]) > little)
			return false;
		/* The same head is nearer, or as near where the seek takes longer than a switch. */
		if (first && ns[first] > ns[first + 1] + little)
			return false;
		if (first && ns[first + 1] > ns[1] + little && fabs(ns[first] - ns[k]) > little)
			return false;
	}
	return true;
}

/* Is what a hop of k tracks takes nearer to the first time than to the other? */
static int nearer(struct sp__probe *p, uint64_t first, uint64_t k, double to, double than,
		  bool *yes)
{
	double ns = 0;
	int rc = *yes ? sp__hop_time(p, first, first + k, false, &ns) : 0;

	*yes &= fabs(ns - to) < fabs(than - to) / 3;
	return rc;
}

/*
 * Hops from other tracks tell cylinders of s surfaces from those of more or less, and from a
 * step of the seek curve: a step is where it was from a track s or 2s on, and elsewhere from the
 * next one, or from one where only a cylinder of less surfaces would begin.
 */
static int verify(struct sp__probe *p, uint64_t first, const double *ns, uint32_t s, double little,
		  bool *yes)
{
	double most = 0, rise = 1.4 * little;
	uint32_t at = 0;
	int rc = 0;

	/* The same head may be nearer than others anywhere: only what lasts is a step. */
	for (uint32_t k = 1; k + 1 < STAIRS; k++) {
		if (k > 1 && k % s == 0 && fmin(ns[k], ns[k + 1]) - most > rise) {
			rise = fmin(ns[k], ns[k + 1]) - most;
			at = k;
		}
		most = fmax(most, ns[k]);
	}
	*yes = at > 0;
	if (!at)
		return 0;
	for (uint64_t from = first + s; from <= first + 2 * s && *yes && !rc; from += s) {
		rc = nearer(p, from, at - 1, ns[at - 1], ns[at], yes);
		if (!rc)
			rc = nearer(p, from, at, ns[at], ns[at - 1], yes);
	}
	for (uint32_t parts = 2; parts <= s && !rc; parts++)
		if (s % parts == 0)
			rc = nearer(p, first + s / parts, at - 1, ns[at], ns[at - 1], yes);
	return rc;
}

/*
 * Where track and cylinder skew are nearly the same, cylinders show in the
 * times alone: a step for every cylinder.
 */
static int find_stairs(struct sp__probe *p, uint64_t first)
{
	double ns[STAIRS] = { 0 }, little = SURE * sp__hop_error(p) * p->tm.spin.period_ns;
	bool yes = false;
	uint32_t s;
	int rc = 0;

	for (uint32_t k = 1; k < STAIRS && !rc; k++)
		rc = sp__hop_time(p, first, first + k, false, &ns[k]);
	for (s = STAIRS / 2; s >= 1 && !rc && !yes; s--)
		if (s == 1 || explains(ns, STAIRS, s, little))
			rc = verify(p, first, ns, s, little, &yes);
	if (!rc && yes)
		p->place =
			(struct sp__trackorder){ .order = SP__ORDER_CYLINDER, .surfaces = s + 1 };
	return rc;
}

/*
 * From the first track of a run.  The very next track is left alone if there are
 * others: a drive that reads ahead may be on its way there by itself.
 */
static int confirm(struct sp__probe *p, uint64_t t, uint32_t run, uint32_t q)
{
	double half = 0, last, back = 0,
	       little = fmax(1.0 / 200, SURE * sp__hop_error(p)) * p->tm.spin.period_ns;
	int rc = sp__hop_time(p, t, t + run - 1, false, &last);

	if (!rc && run > 2)
		rc = sp__hop_time(p, t, t + run / 2, false, &half);
	if (!rc && run > 2)
		rc = sp__hop_time(p, t, t + 2 * (uint64_t)run - 1, false, &back);
	if (rc)
		return rc;
	if (run == q && run <= SURFACES_MAX && (run == 2 || fabs(last - half) < little))
		p->place = (struct sp__trackorder){ .order = SP__ORDER_CYLINDER, .surfaces = q };
	else if (run > 2 && back < last - little && q / run <= SURFACES_MAX &&
		 (q > run || q > SURFACES_MAX))
		p->place = (struct sp__trackorder){ .order = SP__ORDER_BANDS,
						    .surfaces = q / run,
						    .band = run };
	return 0;
}

/* Was the zone cut where its angles break?  Then it is no cylinders that go on. */
static bool is_part(const struct sp__probe *p, const struct sp__pzone *z)
{
	return (z > p->tracks.zones && z[-1].lens[0] == z->lens[0]) ||
	       (z + 1 < p->tracks.zones + p->tracks.nzones && z[1].lens[0] == z->lens[0]);
}

static int place_line(struct sp__probe *p, uint64_t first, const struct sp__pzone *z)
{
	int rc = z->nskew == 1 ? find_turn(p, first, z) : 0;

	if (!rc && p->place.order == SP__ORDER_UNKNOWN && z->tracks > STAIRS && !is_part(p, z))
		rc = find_stairs(p, first);
	if (!rc && p->place.order == SP__ORDER_UNKNOWN)
		p->place.order = SP__ORDER_LINE;
	return rc;
}

/* A place in the zone, whole patterns on, with so many tracks behind it that are not odd. */
static uint64_t clean(const struct sp__pzone *z, uint64_t from, uint32_t q, uint64_t tracks)
{
	uint64_t at = from;
	size_t i = 0;

	while (i < z->nodd && at + tracks <= z->tracks) {
		if (z->odd[i].track < at || z->odd[i].track >= at + tracks) {
			i++;
			continue;
		}
		at += q;
		i = 0;
	}
	return at + tracks <= z->tracks ? at : from;
}

/* Two bands are a round only if the arm moves on after them, and no band is twice as long. */
static int confirm_two(struct sp__probe *p, uint32_t run)
{
	double one = 0, last = 0, jump = 0, little = SURE * sp__hop_error(p) * p->tm.spin.period_ns;
	uint64_t end = p->base + 2 * (uint64_t)run;
	int rc = sp__hop_time(p, p->base, p->base + 1, false, &one);

	if (!rc)
		rc = sp__hop_time(p, p->base, p->base + run - 1, false, &last);
	if (!rc)
		rc = sp__hop_time(p, end - 1, end, false, &jump);
	if (rc || jump < last - little || last < one + little)
		p->place.order = SP__ORDER_UNKNOWN;
	return rc;
}

static int place_pattern(struct sp__probe *p, uint64_t first, const struct sp__pzone *z)
{
	struct breaks skews = breaks_of(z);
	struct breaks b[4] = { skews, { 0 }, length_breaks(z), { z->nlens, 0 } };
	uint32_t q[4] = { z->nskew, z->nskew, z->nlens, z->nlens };
	int rc = 0;

	/* Two bands of which one begins unseen. */
	b[1].run = skews.run == z->nskew && skews.run % 2 == 0 ? skews.run / 2 : 0;
	b[1].align = (skews.align + b[1].run) % (z->nskew ? z->nskew : 1);
	for (unsigned i = 0; i < 4 && !rc && p->place.order == SP__ORDER_UNKNOWN; i++) {
		if (b[i].run < 2 || z->tracks < b[i].align + 2 * (uint64_t)b[i].run)
			continue;
		p->base = first + clean(z, b[i].align, q[i], 2 * (uint64_t)b[i].run + 1);
		rc = confirm(p, p->base, b[i].run, q[i]);
		if (!rc && i == 1 && p->place.order == SP__ORDER_BANDS)
			rc = confirm_two(p, b[i].run);
	}
	/* Bands that do not repeat: each is a surface of the zone. */
	if (p->place.order == SP__ORDER_BANDS &&
	    (p->place.surfaces == 1 || z->nskew == z->tracks) &&
	    z->tracks / p->place.band <= SURFACES_MAX) {
		p->place.whole = true;
		p->place.surfaces = (uint32_t)(z->tracks / p->place.band);
	}
	if (p->place.order == SP__ORDER_UNKNOWN)
		p->base = first;
	return rc;
}

/*
 * An odd number of bands ends far from where the next round begins if the first one goes down, and
 * beside it if that goes up.
 */
static int find_descent(struct sp__probe *p)
{
	uint64_t end = p->base + sp__place_round(&p->place), band = p->place.band;
	double step = 0, turn = 0, next = 0,
	       little = SURE * sp__hop_error(p) * p->tm.spin.period_ns;
	int rc = sp__hop_time(p, p->base, p->base + 1, false, &step);

	if (!rc)
		rc = sp__hop_time(p, p->base + band - 1, p->base + band, false, &turn);
	if (!rc)
		rc = sp__hop_time(p, end - 1, end, false, &next);
	p->place.descends = !rc && next > fmax(step, turn) + little;
	return rc;
}

/*
 * Bands of all heads are one round.  Inside it tracks as far before a turn as behind it are on one
 * cylinder; from it to the next they are not.  The base becomes the start of a round.
 */
static int find_round(struct sp__probe *p)
{
	double ns, most = 0, next = 0;
	uint64_t at = 0;
	int rc = 0;

	for (uint32_t i = 1; i <= p->place.surfaces && !rc; i++) {
		uint64_t turn = p->base + (uint64_t)i * p->place.band, some = p->place.band / 3;

		rc = sp__hop_time(p, turn - 1 - some, turn + some, false, &ns);
		if (rc)
			break;
		next = fmax(next, fmin(ns, most));
		if (ns > most) {
			most = ns;
			at = turn;
		}
	}
	if (!rc && most > next + SURE * sp__hop_error(p) * p->tm.spin.period_ns)
		p->base = at;
	return rc || p->place.surfaces % 2 == 0 ? rc : find_descent(p);
}

/* Heads with lengths of their own show it if they are gone through forwards and backwards. */
static bool heads_turn(const struct sp__pzone *z, uint64_t from, uint32_t s)
{
	if (z->nlens != 2 * s)
		return false;
	for (uint32_t i = 0; i < s; i++)
		if (sp__pzone_length(z, from + i) != sp__pzone_length(z, from + 2 * s - 1 - i))
			return false;
	return true;
}

static int find_head_turns(struct sp__probe *p, const struct sp__pzone *z, uint64_t from)
{
	/* The two are aimed at in different ways. */
	double last, first,
		little = (1.0 / 200 + SURE * M_SQRT2 * sp__hop_error(p)) * p->tm.spin.period_ns;
	uint32_t s = p->place.surfaces;
	int rc;

	if (s < 2)
		return 0;
	if (z->nlens > 1) {
		p->place.turns = heads_turn(z, from, s);
		p->place.turns_known = true;
		return 0;
	}
	rc = sp__hop_time(p, p->base + s - 1, p->base + s, false, &last);
	if (!rc)
		rc = sp__hop_time(p, p->base, p->base + s, false, &first);
	if (rc)
		return rc;
	p->place.turns = last < first - little;
	p->place.turns_known = fabs(last - first) > little;
	return 0;
}

int sp__layout_find(struct sp__probe *p)
{
	uint64_t first = 0;
	const struct sp__pzone *z = main_zone(p, &first);
	int rc;

	p->place = (struct sp__trackorder){ .order = SP__ORDER_UNKNOWN };
	if (!z)
		return 0;
	p->base = first;
	rc = z->nskew == 1 && z->nlens == 1 ? 0 : place_pattern(p, first, z);
	if (!rc && p->place.order == SP__ORDER_UNKNOWN)
		rc = place_line(p, first, z);
	if (!rc && p->place.order == SP__ORDER_BANDS && !p->place.whole && p->place.surfaces > 1)
		rc = find_round(p);
	if (!rc && p->place.order == SP__ORDER_CYLINDER)
		rc = find_head_turns(p, z, p->base - first);
	return rc == -EIO || rc == -ENODATA ? 0 : rc;
}

const char *sp__place_words(const struct sp__trackorder *place)
{
	switch (place->order) {
	case SP__ORDER_CYLINDER:
		return sp__layout_words[place->turns ? SP__LAYOUT_CYLINDER_SERPENTINE
						     : SP__LAYOUT_CYLINDER];
	case SP__ORDER_BANDS:
		return sp__layout_words[place->whole ? SP__LAYOUT_SURFACE_SERPENTINE
						     : SP__LAYOUT_HYBRID_SERPENTINE];
	case SP__ORDER_SURFACE:
		return sp__layout_words[SP__LAYOUT_SURFACE_SERPENTINE];
	default:
		return NULL;
	}
}
