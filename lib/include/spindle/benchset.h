/* SPDX-License-Identifier: MIT */
/*
 * Sets of measurements: over depths, over shares of high priority, or of two
 * settings side by side.
 *
 * A set has points, and measures each of them in many short slices, in rounds:
 * each round visits every point once, in a new random order, so that whatever
 * disturbs the machine for a while disturbs all points alike.  A figure of a
 * point is the trimmed mean of its slices (a fifth is dropped at either end)
 * with its 95 % t interval (Tukey and McLaughlin 1963); it does not depend on a
 * few disturbed slices.  Percentiles are of the requests of all slices together.
 *
 * The knees of a sweep, from the figures at each depth:
 *
 *	latency knee	  the depth with the highest "power", throughput divided
 *			  by latency (Kleinrock 1979): up to here, more depth
 *			  raises throughput, in proportion, more than latency
 *	throughput knee	  the smallest depth with 95 % of the highest throughput
 *	recommended	  the smallest depth with 90 % of it
 *
 * The same is computed for 1000 samples of the rounds, drawn with replacement;
 * the interval of a knee contains the knee and 95 % of the results.
 *
 * Thread rule: that of sp_bench_run().
 */
#ifndef SPINDLE_BENCHSET_H
#define SPINDLE_BENCHSET_H

#include <spindle/bench.h>

/* NaN: unknown. The interval needs at least two slices, that of a ratio three. */
struct sp_benchset_estimate {
	double value, low, high;
};

/* Results of one class, or of all classes, at a point. */
struct sp_benchset_stats {
	const char *name; /* of the class; "total" */
	uint16_t prio;	  /* in effect */
	uint64_t requests, bytes, errors;
	struct sp_benchset_estimate iops, latency_mean_ns;
	/*
	 * As latency_mean_ns, but a slice in which nothing completed counts with the
	 * age of its oldest request; and the number of these slices.
	 */
	double wait_mean_ns;
	unsigned unanswered;
	double bandwidth_bytes_per_s;				  /* as iops */
	uint64_t latency_p50_ns, latency_p99_ns, latency_p999_ns; /* 0 without requests */
	uint64_t longest_wait_ns, longest_gap_ns;
	bool starved; /* in at least one slice */
};

struct sp_benchset_point {
	const char *name; /* "alone", "same" and so on; or NULL */
	unsigned depth;	  /* shared */
	double share;	  /* of high priority; or NaN */
	unsigned slices;
	double elapsed_s; /* of all slices */
	struct sp_benchset_stats total;
	size_t nclasses;
	const struct sp_benchset_stats *classes;
	double cpu_us_per_request;	   /* NaN: unknown */
	struct sp_benchset_estimate ratio; /* wait_mean_ns of class 2 / class 1; or NaN */
};

struct sp_benchset_knee {
	unsigned depth, low, high;
	double iops, latency_mean_ns; /* of the point of this depth */
};

enum sp_benchset_effect {
	SP_BENCHSET_EFFECT_UNKNOWN, /* too few or too different slices */
	SP_BENCHSET_EFFECT_NONE,    /* the whole interval is within a tenth of 1 */
	SP_BENCHSET_EFFECT_YES,	    /* at some share the whole interval is beyond that */
};

/*
 * Differences of a sweep that are smaller than its noise.  The noise of two depths is the
 * larger half interval of their throughput; they are alike if they differ by less, and the
 * noise is at least 1 % of the highest throughput.
 */
enum sp_benchset_noise {
	SP_BENCHSET_NOISE_LOW,	   /* none that matters */
	SP_BENCHSET_NOISE_SMALLER, /* the next smaller depth is like the recommended one */
	SP_BENCHSET_NOISE_ALL,	   /* the recommended depth is the smallest; all are like it */
	SP_BENCHSET_NOISE_TENTH,   /* the tenth that the recommended depth may lack */
};

/* One figure of settings A and B, and the ratio B / A. */
struct sp_benchset_row {
	const char *key;  /* as in a report: "iops", "latency_mean_ns" ... */
	const char *name; /* of the class; "total" */
	double a, b;
	struct sp_benchset_estimate ratio;
};

struct sp_benchset_result {
	const char *engine;
	bool simulated, stopped;
	bool prio_fallback;
	struct sp_no_effects no_effects; /* of any slice */
	uint64_t size_bytes;
	double elapsed_s; /* all time, measured or not */
	unsigned rounds;  /* the most slices of a point */
	size_t npoints;
	const struct sp_benchset_point *points; /* in the order of depth, share; 0 slices: not
						   reached */
	/* Of a sweep of at least three rounds. */
	bool knees;
	struct sp_benchset_knee latency_knee, throughput_knee, recommended;
	bool rising; /* throughput still grows at the greatest depth, beyond noise */
	enum sp_benchset_noise noise;
	/* Range of adjacent depths that are like the recommended one. */
	unsigned alike_low, alike_high;
	/*
	 * Of a mix: wait_mean_ns of the low class divided by that of the high class, at the
	 * share with the clearest effect or, if none has one, the mean over all shares; of
	 * scans: random requests with the same priority, divided by those with a higher one.
	 */
	struct sp_benchset_estimate ratio;
	double ratio_share; /* NaN: all shares, scans, or unknown */
	enum sp_benchset_effect effect;
	/* Of a comparison. */
	size_t nrows;
	const struct sp_benchset_row *rows;
	size_t nerrors;
	struct sp_bench_error errors[SP_BENCH_ERRORS_MAX];
};

struct sp_benchset_opts {
	/*
	 * The load.  runtime_ns is the time of the whole set, including what is not
	 * measured; only the last slice may exceed it.  depth is that of the last
	 * point of a sweep.  total_bytes, steady_ns, trace, interval and the engine "sync" are
	 * refused.
	 */
	const struct sp_bench_opts *bench;
	unsigned rounds; /* at most; 0: as many as time permits, at most 12 */
	/* Called between slices; or NULL. */
	void (*progress)(void *arg, double share_done);
	void *progress_arg;
};

enum sp_benchset_mix_kind {
	SP_BENCHSET_SHARES, /* a share of high priority at a constant depth */
	SP_BENCHSET_SCANS,  /* random high-priority requests among sequential low ones */
};

#define SP_BENCHSET_SHARES_MAX 101

struct sp_benchset_mix {
	enum sp_benchset_mix_kind kind;
	uint16_t high, low; /* SP_BENCH_PRIO() */
	/* SP_BENCHSET_SHARES: 0 to 1, ascending; of the outstanding requests, or of the issued. */
	const double *shares;
	size_t nshares;
	bool of_issued; /* sp_benchset_share_of */
	/* SP_BENCHSET_SCANS: sequential readers, each with the depth of the bench or at a rate. */
	unsigned readers;
	double rate;
};

struct sp_benchset;

/*
 * 0, also if it was stopped; else as sp_bench_run(): after a failed request *set
 * is valid and has the results so far.
 *
 * A sweep measures powers of two up to the depth of the bench, and depths around
 * the knees; its classes share the depth.  A mix makes its classes from the only
 * class of the bench.  A comparison uses the runtime of A; both settings use the
 * files it creates.
 */
SP_API SP_MUST_CHECK int sp_benchset_sweep(struct sp_benchset **set,
					   const struct sp_benchset_opts *opts,
					   struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_benchset_mix(struct sp_benchset **set,
					 const struct sp_benchset_opts *opts,
					 const struct sp_benchset_mix *mix, struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_benchset_compare(struct sp_benchset **set,
					     const struct sp_benchset_opts *a,
					     const struct sp_bench_opts *b, struct sp_errinfo *err);
/* Valid as long as the set. */
SP_API const struct sp_benchset_result *sp_benchset_result(const struct sp_benchset *set);
SP_API void sp_benchset_free(struct sp_benchset *set); /* accepts NULL */

SP_ENUM(sp_benchset_share_of) /* of requests: outstanding (0), issued (1) */
SP_ENUM(sp_benchset_effect)
SP_ENUM(sp_benchset_noise) /* NULL for SP_BENCHSET_NOISE_LOW */

#endif
