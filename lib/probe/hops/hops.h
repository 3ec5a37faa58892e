/* SPDX-License-Identifier: MIT */
/*
 * Hops: the time that the arm takes from one track to another.
 *
 * Who writes: the functions below; probe/layout/ sets the base.  Functions return 0, -ENODATA if a
 * track is not known or no time was found, or the errors of probe/timing/timing.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "dev/geometry.h"
#include "probe/tracks/tracks.h"

/*
 * The order of tracks: cylinder and head of a track.  Definitions and pure functions; the value
 * belongs to probe/layout/.
 */

enum sp__head_order {
	SP__ORDER_UNKNOWN,
	SP__ORDER_CYLINDER,
	SP__ORDER_BANDS,
	SP__ORDER_SURFACE,
	SP__ORDER_LINE
};

struct sp__trackorder {
	enum sp__head_order kind;
	uint32_t surfaces; /* 0: unknown */
	uint32_t band;	   /* tracks of a run on one surface */
	bool whole;	   /* a zone is one band */
	bool descends; /* the first band of a round of them: matters if they are odd in number */
	bool reverses; /* heads reverse on every other cylinder */
	bool reverses_known; /* reverses is known, for a cylinder of several surfaces */
};

/* Tracks after which cylinders and heads repeat. */
static inline uint64_t sp__order_round(const struct sp__trackorder *o)
{
	return o->kind == SP__ORDER_CYLINDER ? (1 + o->reverses) * (uint64_t)o->surfaces
	       : o->kind == SP__ORDER_BANDS  ? (uint64_t)o->band * o->surfaces
					     : 1;
}
/* Cylinder and head of a track counted from the start of a round. */
void sp__order_where(const struct sp__trackorder *o, uint64_t track, uint64_t *cyl, uint64_t *head);
const char *sp__order_values(const struct sp__trackorder *o); /* NULL: unknown */

/* A track that one end of many hops is on, and the angle at which it begins. */
struct sp__datum {
	bool known;
	unsigned looks; /* number of looks of the spin at that time */
	uint64_t track;
	double rev;
};

struct sp__hopper {
	struct sp__timing *tm;
	const struct sp__tracks *tracks;
	const struct sp__trackorder *order; /* order of tracks, as far as it is known */
	uint64_t base;			    /* track from which most hops start */
	unsigned exact;			    /* samples of an exact angle */
	struct sp__datum datum[2];	    /* the last one of reads, and of writes */
};

/* Called after the period has been found.  All pointers outlive hp. */
void sp__hopper_begin(struct sp__hopper *hp, struct sp__timing *tm, const struct sp__tracks *tracks,
		      const struct sp__trackorder *order);
/* Doubles the number of samples of later angles. */
void sp__hopper_refine(struct sp__hopper *hp);
/* Returns the resolution of a hop. */
static inline double sp__hop_fine(const struct sp__hopper *hp)
{
	double period = hp->tm->spin.period_ns;

	return 0.0005 * sp__geometry_slow(period) * period;
}
/* Returns the standard error of a hop's time in rev: of its bisection and of its end's angle. */
double sp__hop_error(const struct sp__hopper *hp);
/*
 * Measures a hop between two tracks by number: the minimum time from issue to the start of a block
 * of the second track that is reached in time.
 */
SP_MUST_CHECK int sp__hop_time(struct sp__hopper *hp, uint64_t from, uint64_t to, bool write,
			       double *ns);
/*
 * Measures a hop from the end of the previous block, with both requests in the drive concurrently.
 * reach_ns: the time of a hop within a track.
 */
SP_MUST_CHECK int sp__hop_queued(struct sp__hopper *hp, uint64_t from, uint64_t to, double reach_ns,
				 double *ns);
