/* SPDX-License-Identifier: MIT */
/*
 * Skews of a zone as runs: consecutive tracks whose angles lie on a line.
 *
 *   skew.c       the pattern of a zone, and how far it holds
 *   skew_runs.c  the runs at the beginning of a zone, until they repeat
 *
 * Angles and skews are in revolutions; state.h describes what functions return.
 */
#ifndef SP__PROBE_SKEW_H
#define SP__PROBE_SKEW_H

#include "probe/state.h"

#define SP__SKEWRUNS_MAX 96
#define SP__SKEWS_MAX 4096

/* What is expected of a run and of the pattern: from the run or zone before. */
struct sp__skewexpect {
	uint64_t tracks; /* 0: nothing */
	double slope;	 /* negative: unknown */
	uint32_t q;	 /* 0: unknown */
};

/* The runs so far, written out as one skew for each track; equal skews share a class. */
struct sp__skewruns {
	uint32_t *class; /* of the skew after each track; room for SP__SKEWS_MAX, the caller's */
	uint32_t n;
	uint64_t longest; /* run */
	double next;	  /* angle of the track after the last run */
	double mean[SP__SKEWRUNS_MAX];
	unsigned weight[SP__SKEWRUNS_MAX], nclasses;
};

/* Differences of angles further apart are different; an extrapolation is 2.5 times as uncertain. */
double sp__skew_tolerance(const struct sp__probe *p);
/* The angle at which a track of the zone begins. */
SP_MUST_CHECK int sp__skew_start(struct sp__probe *p, const struct sp__pzone *z, uint64_t track,
				 double *rev);
/*
 * Goes on reading runs until there are at least this many tracks and everything
 * repeats, beyond one run, or until there is one pattern as long as expected.
 * *q: the pattern; -ENODATA: there is none.
 */
SP_MUST_CHECK int sp__skewruns_read(struct sp__probe *p, const struct sp__pzone *z,
				    struct sp__skewexpect *e, uint64_t least,
				    struct sp__skewruns *s, uint32_t *q);

#endif
