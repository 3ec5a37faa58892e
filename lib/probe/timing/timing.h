/* SPDX-License-Identifier: MIT */
/*
 * Timing: reads single blocks of the target, and converts the times at which they complete into
 * angles.
 *
 * Angles are fractions of a revolution (doubles; "rev").  The angle of a block is that at which
 * its end passes under the head, as the host sees completions, counted from the end of the
 * reference block.
 *
 * Who writes: sp__timing_open() first, then sp__cache_find() and sp__spin_find() once each.
 * Afterwards sp__spin_look() moves the anchor from time to time.  Other rooms only read, except
 * the members below that say so.
 *
 * Functions return 0; -EIO: these blocks cannot be read; -EINTR: the probe was stopped; -ENODATA:
 * nothing was found; or -ESTALE.
 */
#pragma once

#include <spindle/probe.h>
#include "base/rng.h"
#include "probe/target/target.h"
#include "probe/timing/sample.h"

#define SP__SPIN_POINTS 64

/* The platter: period, and a moment at which the reference block's end passes. */
struct sp__spin {
	bool found; /* all of this, and how completions scatter */
	double period_ns;
	double period_ppm; /* its standard error */
	double anchor_ns;  /* since epoch_ns */
	uint64_t epoch_ns;
	uint64_t ref_lbn;
	size_t n; /* observed passings: revolution, time */
	double turn[SP__SPIN_POINTS], at_ns[SP__SPIN_POINTS];
	uint64_t due_ns; /* when it is due to be read again */
	unsigned looks;	 /* number of these readings; each moves the anchor slightly */
	uint64_t interval_ns;
};

/* The quantile of samples that an exact angle is: completions are dense where they are early. */
#define SP__EARLY 0.08

#define SP__AGREE_MAX 32 /* samples */

/* Scatter of completions as the host sees them. */
struct sp__scatter {
	double sd_ns;	 /* standard deviation of a half-normal distribution */
	double tail;	 /* share of completions that are far too late */
	double floor_ns; /* from the earliest completions to the estimate that sp__angle() makes */
	unsigned agree;	 /* samples that must agree, at most half of SP__AGREE_MAX */
	unsigned exact;	 /* samples of an exact angle */
	double tol_rev;	 /* maximum difference of two samples that agree */
	double jump_rev; /* a larger difference is a jump */
};

#define SP__RECENT 128
#define SP__NEAR_BLOCKS 4096 /* a segment of a cache is hardly longer */

/* The drive's cache, if it answers without the platter. */
struct sp__cachefact {
	bool on;
	uint64_t hit_ns;	     /* faster answers come from the cache */
	unsigned flush;		     /* reads elsewhere that flush a block */
	unsigned looks, look_misses; /* blocks read again; not answered as expected */
	double bus_ns; /* time of one block on the bus, by answers from memory; 0: unknown */
	uint64_t recent[SP__RECENT]; /* read last, a ring */
	unsigned count;
};

struct sp__timing {
	struct sp__target *target;
	const struct sp_probe_opts *opts;
	struct sp__rng rng; /* random numbers for all choices of the probe */
	struct sp__spin spin;
	struct sp__scatter scatter;
	struct sp__cachefact cache;
	double turnaround_ns; /* time of the host between two requests; rotation.c measures it */
	/* Counts of requests; other rooms count theirs too. */
	struct sp_probe_cost cost;
};

/* read.c */
/* The target and opts outlive tm. */
void sp__timing_begin(struct sp__timing *tm, struct sp__target *target,
		      const struct sp_probe_opts *opts);
SP_MUST_CHECK int sp__timing_stopped(const struct sp__timing *tm); /* 0 or -EINTR */
void sp__timing_progress(const struct sp__timing *tm, enum sp_probe_step step, double done);
/* Reads one block from the platter, not from the cache. */
SP_MUST_CHECK int sp__timing_read(struct sp__timing *tm, uint64_t lbn, struct sp__shot *s);
/* Flushes the cache. */
SP_MUST_CHECK int sp__timing_flush(struct sp__timing *tm, uint64_t lbn);
double sp__rev_at(const struct sp__timing *tm, uint64_t ns);
/* Returns the standard error of an exact angle of n samples in rev. */
double sp__angle_error(const struct sp__timing *tm, unsigned n);
/* An exact angle without a look at the reference block, and when the last sample was complete. */
SP_MUST_CHECK int sp__angle_read(struct sp__timing *tm, uint64_t lbn, unsigned n, double *rev,
				 uint64_t *done_ns);

/* spin.c: the angle of a block's end by as many samples as agree; by n samples. */
SP_MUST_CHECK int sp__angle_agreed(struct sp__timing *tm, uint64_t lbn, double *rev);
SP_MUST_CHECK int sp__angle_exact(struct sp__timing *tm, uint64_t lbn, unsigned n, double *rev);

/* cache.c: given what n reads of the reference block took; e: as gathered until then. */
SP_MUST_CHECK int sp__cache_find(struct sp__timing *tm, const struct sp_probe_evidence *e,
				 double *same, size_t n);

/* spin.c: period and scatter, with what they rest on. */
SP_MUST_CHECK int sp__spin_find(struct sp__timing *tm, struct sp_probe_evidence *e);
SP_MUST_CHECK int sp__spin_look(struct sp__timing *tm); /* re-anchors when it is time */
