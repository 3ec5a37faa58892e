/* SPDX-License-Identifier: MIT */
/*
 * Hops: how long the arm takes from one track to another.
 *
 * Who writes: the functions below; probe/layout/ sets the base.
 * Functions return 0, -ENODATA if a track is not known or no time was found, or the errors of
 * probe/timing/timing.h.
 */
#pragma once

#include "dev/geometry.h"
#include "probe/hops/order.h"
#include "probe/tracks/tracks.h"

/* A track that one end of many hops is on, and the angle at which it begins. */
struct sp__datum {
	bool known;
	unsigned looks; /* of the spin, at that time */
	uint64_t track;
	double rev;
};

struct sp__hopper {
	struct sp__timing *tm;
	const struct sp__tracks *tracks;
	const struct sp__trackorder *order; /* as far as it is known */
	uint64_t base;			    /* track from which most hops start */
	unsigned exact;			    /* samples of an exact angle */
	struct sp__datum datum[2];	    /* the last one of reads, and of writes */
};

/* After the period has been found.  All pointers outlive hp. */
void sp__hopper_begin(struct sp__hopper *hp, struct sp__timing *tm, const struct sp__tracks *tracks,
		      const struct sp__trackorder *order);
/* From here on angles are made of twice as many samples. */
void sp__hopper_refine(struct sp__hopper *hp);
/* The resolution of a hop. */
static inline double sp__hop_fine(const struct sp__hopper *hp)
{
	double period = hp->tm->spin.period_ns;

	return 0.0005 * sp__geometry_slow(period) * period;
}
/* The standard error of a hop's time: of its bisection, and of the angle of its end; rev. */
double sp__hop_error(const struct sp__hopper *hp);
/*
 * From one track to another, by their numbers: the least time from issue to the start of a block
 * of the second one that is reached in time.
 */
SP_MUST_CHECK int sp__hop_time(struct sp__hopper *hp, uint64_t from, uint64_t to, bool write,
			       double *ns);
/*
 * The same from the end of the block before, both requests in the drive at once.
 * reach_ns: what a hop within a track takes.
 */
SP_MUST_CHECK int sp__hop_queued(struct sp__hopper *hp, uint64_t from, uint64_t to, double reach_ns,
				 double *ns);
