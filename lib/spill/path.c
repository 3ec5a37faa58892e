/* SPDX-License-Identifier: MIT */
/*
 * The order in which pages are read along the semi-sequential path.
 *
 * If every run had a page to read and all at the same offset, the order would
 * be that of the tracks: each page comes under the head when the hop to it is
 * over.  In a merge some runs have nothing to read and others are a few pages
 * ahead, so the path has gaps and several strands.  What stays is what the
 * path is made of: from the end of a page the arm can go to any track within
 * the reach at the cost of the aim W.  So the next page is always the one that
 * is the first to pass under the head after that; one too far away for W must
 * come later by what its distance takes more.
 *
 * Pages are kept in the order of their angles; those taken are skipped by
 * links that are shortened as they are followed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "spill/place_impl.h"

/* Pages looked at, one angle after the other, for one that can be reached. */
#define LOOK 24

struct sp__waypoint {
	struct sp__stop stop;
	double phase;  /* of its beginning, in revolutions, 0 to 1 */
	double length; /* in revolutions */
	uint64_t track;
	uint32_t next; /* itself, or, once taken, where to look on */
};

static int by_phase(const void *a, const void *b)
{
	const struct sp__waypoint *x = a, *y = b;

	if (x->phase != y->phase)
		return x->phase < y->phase ? -1 : 1;
	return (x->track > y->track) - (x->track < y->track);
}

static int by_offset(const void *a, const void *b)
{
	const struct sp__waypoint *x = a, *y = b;

	return (x->track > y->track) - (x->track < y->track);
}

static double fraction(double turns)
{
	return turns - floor(turns);
}

static struct sp__waypoint describe(const struct sp__place *p, const struct sp__stop *s)
{
	const struct sp__row *row = &p->rows[s->unit >> PLACE_BITS];
	uint32_t at = sp__row_place(row, (uint32_t)(s->unit % PLACES_MAX)) * p->page_blocks;

	return (struct sp__waypoint){ .stop = *s,
				      .phase = fraction(row->angle + (double)at / row->blocks),
				      .length = (double)p->page_blocks / row->blocks,
				      .track = row->number };
}

/* The first not taken from i on, all around; n: none is left. */
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

/* The first at an angle of at least phase. */
static uint32_t lower_bound(const struct sp__waypoint *w, uint32_t n, double phase)
{
	uint32_t low = 0, high = n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (w[mid].phase < phase)
			low = mid + 1;
		else
			high = mid;
	}
	return low == n ? 0 : low;
}

/* What a hop takes, in revolutions; over distances that are not known, a whole one. */
static double aim(const struct sp__place *p, uint64_t from, uint64_t to)
{
	uint64_t tracks = from > to ? from - to : to - from;
	double w_deg;

	if (sp_geometry_hop(p->opts.geometry, p->opts.hops, tracks ? tracks : 1, &w_deg) < 0)
		return 1;
	return w_deg / 360;
}

/* The page to read after the one at `here`. */
static uint32_t next_stop(const struct sp__place *p, struct sp__waypoint *w, uint32_t n,
			  const struct sp__waypoint *here, double least)
{
	double end = here->phase + here->length, best_wait = INFINITY;
	uint32_t i = lower_bound(w, n, fraction(end + least)), best = n, first = n;

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

static void follow(const struct sp__place *p, struct sp__waypoint *w, uint32_t n, const void *first,
		   struct sp__stop *stops)
{
	double least = aim(p, 0, 1);
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		w[i].next = i;
		if (w[i].stop.what == first)
			at = i;
	}
	for (uint32_t done = 0;;) {
		stops[done++] = w[at].stop;
		w[at].next = (at + 1) % n;
		if (done == n)
			return;
		at = next_stop(p, w, n, &w[at], least);
	}
}

int sp__place_order(struct sp__place *p, struct sp__stop *stops, size_t n)
{
	const void *first = n ? stops[0].what : NULL;
	struct sp__waypoint *w;

	if (n > p->path_cap) {
		w = realloc(p->path, n * sizeof(*w));
		if (!w)
			return -ENOMEM;
		p->path = w;
		p->path_cap = n;
	}
	w = p->path;
	for (size_t i = 0; i < n; i++) {
		w[i] = describe(p, &stops[i]);
		if (p->opts.policy != SP_PLACE_SEMISEQ)
			w[i].track = sp__place_offset(p, stops[i].unit);
	}
	if (p->opts.policy == SP_PLACE_SEMISEQ) {
		qsort(w, n, sizeof(*w), by_phase);
		follow(p, w, (uint32_t)n, first, stops);
		return 0;
	}
	qsort(w, n, sizeof(*w), by_offset);
	for (size_t i = 0; i < n; i++)
		stops[i] = w[i].stop;
	return 0;
}

size_t sp__place_order_memory(void)
{
	return sizeof(struct sp__waypoint);
}
