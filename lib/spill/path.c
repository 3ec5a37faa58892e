/* SPDX-License-Identifier: MIT */
/*
 * Orders reads of pages along the semi-sequential path.
 *
 * If every run had a page to read, all at the same offset, the order would be the order of the
 * tracks: each page passes the head when the hop to it is over.  In a merge some runs have nothing
 * to read and others are several pages ahead, so the path has gaps and several strands.  One
 * property remains: from the end of a page the arm can move to any track within reach at the cost
 * of the aim W.
 *
 * Algorithm: the next page is the first to pass the head after that.  A page too far away for W
 * must come later by the additional time for its distance.  Consecutive pages on one track are a
 * chunk and stay together, because the drive reads them without a hop.  Chunks are kept in the
 * order of their angles; links with path compression skip the chosen ones.
 *
 * The drives of an array follow their paths concurrently, so each drive has an order of its own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/minmax.h"
#include "dev/geometry.h"
#include "spill/place.h"

/* Number of chunks tried, by ascending angle, to find one within reach. */
#define LOOK 24

/* A chunk: consecutive pages on one track. */
struct sp__waypoint {
	double phase;  /* angle of its beginning, in revolutions, 0 to 1 */
	double length; /* in revolutions */
	uint64_t track;
	uint32_t first, pages; /* its stops, in the order of units */
	uint32_t next;	       /* itself; once chosen, the chunk to continue with */
};

static int by_phase(const void *a, const void *b)
{
	const struct sp__waypoint *x = a, *y = b;

	if (x->phase != y->phase)
		return x->phase < y->phase ? -1 : 1;
	return (x->track > y->track) - (x->track < y->track);
}

/*
 * Compares units: the order of a run, and under TRACK of addresses, since tracks are allocated in
 * it.
 */
static int by_unit(const void *a, const void *b)
{
	const struct sp__stop *x = a, *y = b;

	return (x->unit > y->unit) - (x->unit < y->unit);
}

static uint64_t drive_of(const struct sp__place *p, uint64_t unit)
{
	return p->rows[unit >> PLACE_BITS].number % p->opts.geometry->stripe_drives;
}

static int by_drive(const void *a, const void *b, void *place)
{
	const struct sp__stop *x = a, *y = b;
	uint64_t dx = drive_of(place, x->unit), dy = drive_of(place, y->unit);

	return dx == dy ? by_unit(a, b) : dx < dy ? -1 : 1;
}

static double fraction(double turns)
{
	return turns - floor(turns);
}

/* Finds the row of a page, and its first block in the row. */
static const struct sp__row *whereabouts(const struct sp__place *p, uint64_t unit, uint32_t *at)
{
	const struct sp__row *row = &p->rows[unit >> PLACE_BITS];

	*at = sp__row_at(p, row, (uint32_t)(unit % PLACES_MAX));
	return row;
}

/* Converts stops in the order of units into chunks; returns their number. */
static uint32_t gather(const struct sp__place *p, const struct sp__stop *stops, uint32_t n,
		       struct sp__waypoint *w)
{
	uint32_t chunks = 0;

	for (uint32_t i = 0, pages; i < n; i += pages) {
		const struct sp__row *row;
		uint32_t begin, last;

		for (pages = 1; i + pages < n; pages++)
			if (stops[i + pages].unit != stops[i].unit + pages ||
			    stops[i + pages].unit % PLACES_MAX == 0)
				break;
		row = whereabouts(p, stops[i].unit, &begin);
		whereabouts(p, stops[i + pages - 1].unit, &last);
		if (last < begin)
			last += row->blocks;
		w[chunks++] = (struct sp__waypoint){
			.phase = fraction(row->angle + (double)begin / row->blocks),
			.length = (double)(last + p->page_blocks - begin) / row->blocks,
			.track = row->number,
			.first = i,
			.pages = pages
		};
	}
	return chunks;
}

/* Returns the first chunk not yet chosen, from i on, cyclically; n: none is left. */
static uint32_t alive(struct sp__waypoint *w, uint32_t n, uint32_t i)
{
	uint32_t root = i % n, steps = 0;

	while (w[root].next != root && steps++ <= n)
		root = w[root].next;
	if (w[root].next != root)
		return n;
	for (i %= n; i != root;) {
		uint32_t next = w[i].next;

		w[i].next = root;
		i = next;
	}
	return root;
}

/* Returns the time of a hop in revolutions; one revolution for an unknown distance. */
static double aim(const struct sp__place *p, uint64_t from, uint64_t to)
{
	uint64_t tracks = sp__absdiff(from, to);
	const struct sp__hops *hops;
	double w_deg;

	if (sp__geometry_hops(p->opts.geometry, p->opts.hops, from, to, &hops) < 0 ||
	    sp__hops_need(hops, tracks ? tracks : 1, &w_deg) < 0)
		return 1;
	return w_deg / 360;
}

/* Returns the chunk to read after the one at `here`. */
static uint32_t next_stop(const struct sp__place *p, struct sp__waypoint *w, uint32_t n,
			  const struct sp__waypoint *here, double least)
{
	double end = here->phase + here->length, phase = fraction(end + least);
	double best_wait = INFINITY;
	uint32_t i = (uint32_t)SP__BISECT(n, k, w[k].phase < phase), best = n, first = n;

	for (unsigned looked = 0; looked < LOOK; looked++) {
		double wait, need;

		i = alive(w, n, i);
		if (i == n || i == first)
			break;
		if (first == n)
			first = i;
		need = aim(p, here->track, w[i].track);
		wait = fraction(w[i].phase - end);
		while (wait < need)
			wait += 1;
		if (wait < best_wait) {
			best_wait = wait;
			best = i;
		}
		if (wait < 1)
			break;
		i = (i + 1) % n;
	}
	return best;
}

/* Visits n chunks of some stops; first: the stop whose chunk comes first. */
static void follow(const struct sp__place *p, uint32_t n, uint32_t first, const struct sp__stop *of,
		   struct sp__stop *stops)
{
	struct sp__waypoint *w = p->path;
	double least = aim(p, w[first].track, w[first].track);
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		w[i].next = i;
		if (first >= w[i].first && first - w[i].first < w[i].pages)
			at = i;
	}
	for (uint32_t left = n;;) {
		for (uint32_t i = 0; i < w[at].pages; i++)
			*stops++ = of[w[at].first + i];
		w[at].next = (at + 1) % n;
		if (--left == 0)
			return;
		at = next_stop(p, w, n, &w[at], least);
	}
}

static int make_space(struct sp__place *p, size_t n)
{
	if (n <= p->path_cap)
		return 0;
	if (!SP__ARRAY_RESIZE(p->path, n) || !SP__ARRAY_RESIZE(p->stops, n))
		return -ENOMEM;
	p->path_cap = n;
	return 0;
}

/* Orders n stops of one drive, given in the order of units, along its path. */
static void order(struct sp__place *p, uint64_t head, const struct sp__stop *of, uint32_t n,
		  struct sp__stop *stops)
{
	uint32_t first = 0, chunks = gather(p, of, n, p->path);

	while (first < n && of[first].unit != head)
		first++;
	qsort(p->path, chunks, sizeof(*p->path), by_phase);
	follow(p, chunks, first < n ? first : 0, of, stops);
}

int sp__place_order(struct sp__place *p, struct sp__stop *stops, size_t n)
{
	uint64_t head = n ? stops[0].unit : 0;
	uint32_t from, upto;

	if (make_space(p, n) < 0)
		return -ENOMEM;
	if (p->opts.policy != SP_PLACE_SEMISEQ || n < 2) {
		qsort(stops, n, sizeof(*stops), by_unit);
		return 0;
	}
	memcpy(p->stops, stops, n * sizeof(*stops));
	qsort_r(p->stops, n, sizeof(*stops), by_drive, p);
	for (from = 0; from < n; from = upto) {
		uint64_t drive = drive_of(p, p->stops[from].unit);

		for (upto = from + 1; upto < n && drive_of(p, p->stops[upto].unit) == drive;)
			upto++;
		order(p, head, p->stops + from, upto - from, stops + from);
	}
	return 0;
}

size_t sp__place_order_memory(void)
{
	return sizeof(struct sp__waypoint) + sizeof(struct sp__stop);
}
