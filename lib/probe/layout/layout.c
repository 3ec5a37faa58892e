/* SPDX-License-Identifier: MIT */
/*
 * Finds which tracks are on one cylinder.  The pattern of skews proposes an answer, the times of
 * hops decide.
 *
 * If one skew in a pattern of q tracks differs, the pattern is a cylinder of q surfaces, or a band
 * of a serpentine: q cylinders on one surface.  A pattern of several such runs can only be a
 * serpentine.  On a cylinder, the last track of a run is as near as the second.  On a serpentine
 * it is far, and the last track of the next run is near again, since the next surface is traversed
 * backwards.
 *
 * If all skews are equal, tracks are taken as one line.  If the zone was then cut in two by its
 * angles, and hops across the cut are short, it is a serpentine that reverses at the end of a
 * surface.
 *
 * The order of heads reverses on every other cylinder if heads have their own lengths in that
 * order, or if a switch of heads takes longer than a step to the next cylinder: one of the hops to
 * the next cylinder, from the last or the first track, then needs it.
 */
#include "probe/layout/layout.h"

/*
 * Finds cylinders by the times of hops alone, if track skew and cylinder skew are nearly equal:
 * each cylinder is a step in these times.
 */

/* True if cylinders of s surfaces explain the times of hops of 1 ... n - 1 tracks. */
static bool explains(const double *ns, uint32_t n, uint32_t s, double little)
{
	for (uint32_t k = 1; k < n; k++) {
		uint32_t first = k / s * s;

		if (k % s == 0)
			continue;
		/* On one cylinder all other heads are equally near. */
		if (k > first + 1 && fabs(ns[k] - ns[first + 1]) > little)
			return false;
		/* The same head is nearer, or equally near if a seek takes longer than a switch. */
		if (first && ns[first] > ns[first + 1] + little)
			return false;
		if (first && ns[first + 1] > ns[1] + little && fabs(ns[first] - ns[k]) > little)
			return false;
	}
	return true;
}

/* True if the time of a hop of k tracks is nearer to the first time than to the other. */
static int nearer(struct sp__tracklayout *l, uint64_t first, uint64_t k, double to, double than,
		  bool *yes)
{
	double ns = 0;
	int rc = *yes ? sp__hop_time(l->hops, first, first + k, false, &ns) : 0;

	*yes &= fabs(ns - to) < fabs(than - to) / 3;
	return rc;
}

/*
 * Distinguishes cylinders of s surfaces from those of more or fewer, and from a step of the seek
 * curve, by hops from other tracks.  The step is at the same distance from a track s or 2s on, and
 * at another one from the next track, or from one where only a cylinder of fewer surfaces would
 * begin.
 */
static int verify(struct sp__tracklayout *l, uint64_t first, const double *ns, uint32_t s,
		  double little, bool *yes)
{
	double most = 0, rise = 1.4 * little;
	uint32_t at = 0;
	int rc = 0;

	/* The same head can be nearer anywhere: a step must last. */
	for (uint32_t k = 1; k + 1 < SP__STAIRS; k++) {
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
		rc = nearer(l, from, at - 1, ns[at - 1], ns[at], yes);
		if (!rc)
			rc = nearer(l, from, at, ns[at], ns[at - 1], yes);
	}
	for (uint32_t parts = 2; parts <= s && !rc; parts++)
		if (s % parts == 0)
			rc = nearer(l, first + s / parts, at - 1, ns[at], ns[at - 1], yes);
	return rc;
}

int sp__stairs_find(struct sp__tracklayout *l, uint64_t first)
{
	double ns[SP__STAIRS] = { 0 },
	       little = SP__HOP_SURE * sp__hop_error(l->hops) * l->tm->spin.period_ns;
	bool yes = false;
	uint32_t s;
	int rc = 0;

	for (uint32_t k = 1; k < SP__STAIRS && !rc; k++)
		rc = sp__hop_time(l->hops, first, first + k, false, &ns[k]);
	for (s = SP__STAIRS / 2; s >= 1 && !rc && !yes; s--)
		if (s == 1 || explains(ns, SP__STAIRS, s, little))
			rc = verify(l, first, ns, s, little, &yes);
	if (!rc && yes)
		l->order = (struct sp__trackorder){ .kind = SP__ORDER_CYLINDER, .surfaces = s + 1 };
	return rc;
}

#define SURFACES_MAX 64

/* Returns the longest zone with angles, the first if several, and its first track's number. */
static const struct sp__pzone *main_zone(const struct sp__tracklayout *l, uint64_t *first)
{
	const struct sp__pzone *best = NULL;
	uint64_t tracks = 0;

	for (size_t i = 0; i < l->tracks->nzones; i++) {
		const struct sp__pzone *z = &l->tracks->zones[i];

		/* Tracks after a gap do not have a number. */
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

/* Returns the next track of the pattern, from i on, after which the skew is unusual. */
static uint32_t next_break(const struct sp__pzone *z, double usual, uint32_t i)
{
	uint32_t end = i + z->nskew;

	while (i < end && sp__skew_alike(z->skew[i % z->nskew], usual))
		i++;
	return i;
}

/*
 * Finds runs by the skews that differ from the most frequent one.  At the end of a round of bands
 * the skew can equal the usual one by chance: a run then seems twice as long.
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

/* Finds runs of tracks of one length, if heads have their own lengths. */
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

/* With equal skews: true if the arm returns where the next zone begins. */
static int find_reversal(struct sp__tracklayout *l, uint64_t first, const struct sp__pzone *z)
{
	const struct sp__pzone *next = z + 1;
	uint64_t reach = z->tracks / 4 < 1000 ? z->tracks / 4 : 1000, reversal = first + z->tracks;
	double straight, across;
	uint32_t n = 1;
	int rc;

	if (next >= l->tracks->zones + l->tracks->nzones || next->lens[0] != z->lens[0] ||
	    next->tracks != z->tracks || reach < 20)
		return 0;
	rc = sp__hop_time(l->hops, first, first + 2 * reach - 1, false, &straight);
	if (!rc)
		rc = sp__hop_time(l->hops, reversal - reach, reversal + reach - 1, false, &across);
	if (rc || across > straight - l->tm->spin.period_ns / 100)
		return rc;
	while (&z[n] < l->tracks->zones + l->tracks->nzones && z[n].lens[0] == z->lens[0] &&
	       z[n].tracks == z->tracks)
		n++;
	/* A surface of another size is two surfaces, one of which begins unseen. */
	if (&z[n] == l->tracks->zones + l->tracks->nzones || z[n].lens[0] != z->lens[0])
		l->order = (struct sp__trackorder){ .kind = SP__ORDER_SURFACE, .surfaces = n };
	return 0;
}

/*
 * Measures hops from the first track of a run.  The next track is skipped if there are others: a
 * drive that reads ahead can be on its way there by itself.
 */
static int confirm(struct sp__tracklayout *l, uint64_t t, uint32_t run, uint32_t q)
{
	double half = 0, last, back = 0,
	       little = fmax(1.0 / 200, SP__HOP_SURE * sp__hop_error(l->hops)) *
			l->tm->spin.period_ns;
	int rc = sp__hop_time(l->hops, t, t + run - 1, false, &last);

	if (!rc && run > 2)
		rc = sp__hop_time(l->hops, t, t + run / 2, false, &half);
	if (!rc && run > 2)
		rc = sp__hop_time(l->hops, t, t + 2 * (uint64_t)run - 1, false, &back);
	if (rc)
		return rc;
	if (run == q && run <= SURFACES_MAX && (run == 2 || fabs(last - half) < little))
		l->order = (struct sp__trackorder){ .kind = SP__ORDER_CYLINDER, .surfaces = q };
	else if (run > 2 && back < last - little && q / run <= SURFACES_MAX &&
		 (q > run || q > SURFACES_MAX))
		l->order = (struct sp__trackorder){ .kind = SP__ORDER_BANDS,
						    .surfaces = q / run,
						    .band = run };
	return 0;
}

/* True if the zone was cut where its angles break, so its cylinders do not continue. */
static bool is_part(const struct sp__tracklayout *l, const struct sp__pzone *z)
{
	return (z > l->tracks->zones && z[-1].lens[0] == z->lens[0]) ||
	       (z + 1 < l->tracks->zones + l->tracks->nzones && z[1].lens[0] == z->lens[0]);
}

static int place_line(struct sp__tracklayout *l, uint64_t first, const struct sp__pzone *z)
{
	int rc = z->nskew == 1 ? find_reversal(l, first, z) : 0;

	if (!rc && l->order.kind == SP__ORDER_UNKNOWN && z->tracks > SP__STAIRS && !is_part(l, z))
		rc = sp__stairs_find(l, first);
	if (!rc && l->order.kind == SP__ORDER_UNKNOWN)
		l->order.kind = SP__ORDER_LINE;
	return rc;
}

/* Returns a track, whole patterns on, that n tracks without odd ones follow. */
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
static int confirm_two(struct sp__tracklayout *l, uint32_t run)
{
	double one = 0, last = 0, jump = 0,
	       little = SP__HOP_SURE * sp__hop_error(l->hops) * l->tm->spin.period_ns;
	uint64_t end = l->hops->base + 2 * (uint64_t)run;
	int rc = sp__hop_time(l->hops, l->hops->base, l->hops->base + 1, false, &one);

	if (!rc)
		rc = sp__hop_time(l->hops, l->hops->base, l->hops->base + run - 1, false, &last);
	if (!rc)
		rc = sp__hop_time(l->hops, end - 1, end, false, &jump);
	if (rc || jump < last - little || last < one + little)
		l->order.kind = SP__ORDER_UNKNOWN;
	return rc;
}

static int place_pattern(struct sp__tracklayout *l, uint64_t first, const struct sp__pzone *z)
{
	struct breaks skews = breaks_of(z);
	struct breaks b[4] = { skews, { 0 }, length_breaks(z), { z->nlens, 0 } };
	uint32_t q[4] = { z->nskew, z->nskew, z->nlens, z->nlens };
	int rc = 0;

	/* Two bands, one of which begins unseen. */
	b[1].run = skews.run == z->nskew && skews.run % 2 == 0 ? skews.run / 2 : 0;
	b[1].align = (skews.align + b[1].run) % (z->nskew ? z->nskew : 1);
	for (unsigned i = 0; i < 4 && !rc && l->order.kind == SP__ORDER_UNKNOWN; i++) {
		if (b[i].run < 2 || z->tracks < b[i].align + 2 * (uint64_t)b[i].run)
			continue;
		l->hops->base = first + clean(z, b[i].align, q[i], 2 * (uint64_t)b[i].run + 1);
		rc = confirm(l, l->hops->base, b[i].run, q[i]);
		if (!rc && i == 1 && l->order.kind == SP__ORDER_BANDS)
			rc = confirm_two(l, b[i].run);
	}
	/* Bands that do not repeat are surfaces of the zone. */
	if (l->order.kind == SP__ORDER_BANDS && (l->order.surfaces == 1 || z->nskew == z->tracks) &&
	    z->tracks / l->order.band <= SURFACES_MAX) {
		l->order.whole = true;
		l->order.surfaces = (uint32_t)(z->tracks / l->order.band);
	}
	if (l->order.kind == SP__ORDER_UNKNOWN)
		l->hops->base = first;
	return rc;
}

/*
 * An odd number of bands ends far from the start of the next round if the first one descends, and
 * next to it if the first one ascends.
 */
static int find_descent(struct sp__tracklayout *l)
{
	uint64_t end = l->hops->base + sp__order_round(&l->order), band = l->order.band;
	double step = 0, reversal = 0, next = 0,
	       little = SP__HOP_SURE * sp__hop_error(l->hops) * l->tm->spin.period_ns;
	int rc = sp__hop_time(l->hops, l->hops->base, l->hops->base + 1, false, &step);

	if (!rc)
		rc = sp__hop_time(l->hops, l->hops->base + band - 1, l->hops->base + band, false,
				  &reversal);
	if (!rc)
		rc = sp__hop_time(l->hops, end - 1, end, false, &next);
	l->order.descends = !rc && next > fmax(step, reversal) + little;
	return rc;
}

/*
 * The bands of all heads are one round.  Inside a round, tracks at equal distances before and
 * after a reversal are on one cylinder; across two rounds they are not.  The base becomes the
 * start of a round.
 */
static int find_round(struct sp__tracklayout *l)
{
	double ns, most = 0, next = 0;
	uint64_t at = 0;
	int rc = 0;

	for (uint32_t i = 1; i <= l->order.surfaces && !rc; i++) {
		uint64_t reversal = l->hops->base + (uint64_t)i * l->order.band,
			 some = l->order.band / 3;

		rc = sp__hop_time(l->hops, reversal - 1 - some, reversal + some, false, &ns);
		if (rc)
			break;
		next = fmax(next, fmin(ns, most));
		if (ns > most) {
			most = ns;
			at = reversal;
		}
	}
	if (!rc && most > next + SP__HOP_SURE * sp__hop_error(l->hops) * l->tm->spin.period_ns)
		l->hops->base = at;
	return rc || l->order.surfaces % 2 == 0 ? rc : find_descent(l);
}

/* If heads have their own lengths, these show an order that reverses. */
static bool heads_reverse(const struct sp__pzone *z, uint64_t from, uint32_t s)
{
	if (z->nlens != 2 * s)
		return false;
	for (uint32_t i = 0; i < s; i++)
		if (sp__pzone_length(z, from + i) != sp__pzone_length(z, from + 2 * s - 1 - i))
			return false;
	return true;
}

static int find_head_turns(struct sp__tracklayout *l, const struct sp__pzone *z, uint64_t from)
{
	/* The two hops are aimed in different ways. */
	double last, first,
		little = (1.0 / 200 + SP__HOP_SURE * M_SQRT2 * sp__hop_error(l->hops)) *
			 l->tm->spin.period_ns;
	uint32_t s = l->order.surfaces;
	int rc;

	if (s < 2)
		return 0;
	if (z->nlens > 1) {
		l->order.reverses = heads_reverse(z, from, s);
		l->order.reverses_known = true;
		return 0;
	}
	rc = sp__hop_time(l->hops, l->hops->base + s - 1, l->hops->base + s, false, &last);
	if (!rc)
		rc = sp__hop_time(l->hops, l->hops->base, l->hops->base + s, false, &first);
	if (rc)
		return rc;
	l->order.reverses = last < first - little;
	l->order.reverses_known = fabs(last - first) > little;
	return 0;
}

int sp__layout_find(struct sp__tracklayout *l)
{
	uint64_t first = 0;
	const struct sp__pzone *z = main_zone(l, &first);
	int rc;

	l->order = (struct sp__trackorder){ .kind = SP__ORDER_UNKNOWN };
	if (!z)
		return 0;
	l->hops->base = first;
	rc = z->nskew == 1 && z->nlens == 1 ? 0 : place_pattern(l, first, z);
	if (!rc && l->order.kind == SP__ORDER_UNKNOWN)
		rc = place_line(l, first, z);
	if (!rc && l->order.kind == SP__ORDER_BANDS && !l->order.whole && l->order.surfaces > 1)
		rc = find_round(l);
	if (!rc && l->order.kind == SP__ORDER_CYLINDER)
		rc = find_head_turns(l, z, l->hops->base - first);
	return rc == -EIO || rc == -ENODATA ? 0 : rc;
}
