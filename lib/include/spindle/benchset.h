/* SPDX-License-Identifier: MIT */
/*
 * Sets of measurements: over depths, over shares of high priority, or of two settings side by side.
 * spindle/bench.h makes each measurement.
 *
 * A set has points, and measures each point in many short slices, in rounds.  Each round visits
 * every point once, in a new random order, so that a temporary disturbance of the machine affects
 * all points alike.  The value of a point is the trimmed mean of its slices, without the lowest and
 * the highest fifth, with its 95 % t interval (Tukey and McLaughlin 1963).  Single disturbed slices
 * do not change it.  Percentiles are computed from the requests of all slices.
 *
 * The knees of a sweep, computed from the values at each depth:
 *
 *	latency knee	  the depth with the highest "power", throughput divided
 *			  by latency (Kleinrock 1979): up to here, more depth
 *			  raises throughput, in proportion, more than latency
 *	throughput knee	  the minimum depth with 95 % of the highest throughput
 *	recommended	  the minimum depth with 90 % of it
 *
 * The knees are also computed for 1000 samples of the rounds, drawn with replacement.  The interval
 * of a knee contains the knee and 95 % of these results.
 *
 * Source: Kleinrock 1979 (power); Tukey and McLaughlin 1963 (trimmed mean).
 *
 * Thread rule: see sp_bench_run().
 */
#ifndef SPINDLE_BENCHSET_H
#define SPINDLE_BENCHSET_H

#include <spindle/bench.h>

/* A value and its interval; NaN: unknown.  An interval needs 2 slices, for a ratio 3. */
struct sp_benchset_estimate {
	double value, low, high;
};

/* Results of one class, or of all classes, at a point. */
struct sp_benchset_stats {
	const char *name; /* name of the class; "total" */
	uint16_t prio;	  /* in effect */
	uint64_t requests, bytes, errors;
	struct sp_benchset_estimate iops, latency_mean_ns;
	/*
	 * Mean latency in which a slice without completions counts with the age of its oldest
	 * request; and the number of these slices.
	 */
	double wait_mean_ns;
	unsigned unanswered;
	double bandwidth_bytes_per_s;				  /* trimmed mean */
	uint64_t latency_p50_ns, latency_p99_ns, latency_p999_ns; /* 0 without requests */
	uint64_t longest_wait_ns, longest_gap_ns;
	bool starved; /* in at least one slice */
};

/* Results of one point. */
struct sp_benchset_point {
	const char *name; /* "alone", "same" and so on; or NULL */
	unsigned depth;	  /* outstanding requests of the classes that share it */
	double share;	  /* share of high priority, 0 to 1; or NaN */
	unsigned slices;  /* slices measured */
	double elapsed_s; /* sum over all slices */
	struct sp_benchset_stats total;
	size_t nclasses;
	const struct sp_benchset_stats *classes;
	double cpu_us_per_request;	   /* NaN: unknown */
	struct sp_benchset_estimate ratio; /* wait_mean_ns of class 2 / class 1; or NaN */
};

/* A knee: its depth and interval. */
struct sp_benchset_knee {
	unsigned depth, low, high;
	double iops, latency_mean_ns; /* values at this depth */
};

/* Effects of priorities. */
enum sp_benchset_effect {
	SP_BENCHSET_EFFECT_UNKNOWN, /* too few or too different slices */
	SP_BENCHSET_EFFECT_NONE,    /* the whole interval is within 0.9 to 1.1 */
	SP_BENCHSET_EFFECT_YES,	    /* at one share the whole interval is outside of that */
};

/*
 * Differences of a sweep that are smaller than its noise.  The noise of two depths is the larger
 * half interval of their throughput, at least 1 % of the highest throughput.  Two depths are alike
 * if their throughputs differ by less than the noise.
 */
enum sp_benchset_noise {
	SP_BENCHSET_NOISE_LOW,	   /* no such difference */
	SP_BENCHSET_NOISE_SMALLER, /* the next smaller depth is like the recommended one */
	SP_BENCHSET_NOISE_ALL,	   /* the recommended depth is the minimum; all are like it */
	SP_BENCHSET_NOISE_TENTH,   /* the 10 % by which the recommended depth may be lower */
};

/* One value of settings A and B, and the ratio B / A. */
struct sp_benchset_row {
	const char *key;  /* key of a report: "iops", "latency_mean_ns" ... */
	const char *name; /* name of the class, or "total" */
	double a, b;
	struct sp_benchset_estimate ratio;
};

struct sp_benchset_result {
	const char *engine;
	bool simulated, stopped;
	bool prio_fallback;
	struct sp_no_effects no_effects; /* options without effect in any slice */
	uint64_t size_bytes;
	double elapsed_s; /* total time, measured or not */
	unsigned rounds;  /* maximum number of slices of a point */
	size_t npoints;
	const struct sp_benchset_point *points; /* in the order of depth, share; 0 slices: not
						   reached */
	/* Sweep of at least 3 rounds. */
	bool knees; /* the knees are known */
	struct sp_benchset_knee latency_knee, throughput_knee, recommended;
	bool rising; /* throughput still grows at the maximum depth, by more than noise */
	enum sp_benchset_noise noise;
	/* Range of adjacent depths that are like the recommended one. */
	unsigned alike_low, alike_high;
	/*
	 * Mix of shares: wait_mean_ns of the low class / wait_mean_ns of the high class, at the
	 * share with the clearest effect or, if no share has one, the mean over all shares.  Mix of
	 * scans: wait_mean_ns of random requests with equal priority / with higher priority.
	 */
	struct sp_benchset_estimate ratio;
	double ratio_share; /* NaN: all shares, scans, or unknown */
	enum sp_benchset_effect effect;
	/* Comparison. */
	size_t nrows;
	const struct sp_benchset_row *rows;
	size_t nerrors;
	struct sp_bench_error errors[SP_BENCH_ERRORS_MAX];
};

struct sp_benchset_opts {
	/*
	 * The load.  runtime_ns is the duration of the whole set, measured or not; only the last
	 * slice may exceed it.  depth is the maximum depth of a sweep.  total_bytes, steady_ns,
	 * trace, interval and the engine "sync" are -EINVAL.
	 */
	const struct sp_bench_opts *bench;
	unsigned rounds; /* maximum number of rounds; 0: 12, if the time suffices */
	/* Called between slices, with the completed share, 0 to 1; or NULL. */
	void (*progress)(void *arg, double share_done);
	void *progress_arg;
};

enum sp_benchset_mix_kind {
	SP_BENCHSET_SHARES, /* a share of high priority at a constant depth */
	SP_BENCHSET_SCANS,  /* random high-priority requests among sequential low ones */
};

#define SP_BENCHSET_SHARES_MAX 101

/* A mix of high and low priority. */
struct sp_benchset_mix {
	enum sp_benchset_mix_kind kind;
	uint16_t high, low; /* SP_BENCH_PRIO() */
	/* SP_BENCHSET_SHARES: 0 to 1, ascending; shares of outstanding or of submitted requests. */
	const double *shares;
	size_t nshares;
	bool of_issued; /* sp_benchset_share_of */
	/*
	 * SP_BENCHSET_SCANS: sequential readers, each with the depth of the bench or at this rate.
	 */
	unsigned readers;
	double rate;
};

struct sp_benchset;

/*
 * Measures powers of two up to the depth of the bench, and depths around the knees.  The classes
 * share the depth.  Free the set with sp_benchset_free().
 * Returns 0, also if it was stopped, or an error of sp_bench_run().  After a failed request *set
 * has the results so far.  Further errors:
 *   -EINVAL: the bench has a rate, a class that does not share the depth, or an option that sets
 *       refuse
 *   -ENODATA: no slice was long enough for a request
 *   SP_EUNSUP: neither io_uring nor libaio is available
 */
SP_API SP_MUST_CHECK int sp_benchset_sweep(struct sp_benchset **set,
					   const struct sp_benchset_opts *opts,
					   struct sp_errinfo *err);

/*
 * Measures shares of high priority, or random requests among sequential readers.  The classes are
 * made from the only class of the bench.  Free the set with sp_benchset_free().
 * Returns 0, also if it was stopped, or an error of sp_benchset_sweep(); -EINVAL if shares, readers
 * or rate are out of their range.
 */
SP_API SP_MUST_CHECK int sp_benchset_mix(struct sp_benchset **set,
					 const struct sp_benchset_opts *opts,
					 const struct sp_benchset_mix *mix, struct sp_errinfo *err);

/*
 * Measures two settings side by side, for the runtime of A.  Both use the files that A creates.
 * Free the set with sp_benchset_free().
 * Returns 0, also if it was stopped; SP_EUNSUP if an option of a setting had no effect; or an error
 * of sp_benchset_sweep().
 */
SP_API SP_MUST_CHECK int sp_benchset_compare(struct sp_benchset **set,
					     const struct sp_benchset_opts *a,
					     const struct sp_bench_opts *b, struct sp_errinfo *err);

/* Returns the results, which are valid while the set lives. */
SP_API const struct sp_benchset_result *sp_benchset_result(const struct sp_benchset *set);

/* Frees a set; NULL is accepted. */
SP_API void sp_benchset_free(struct sp_benchset *set);

SP_ENUM(sp_benchset_share_of) /* requests that shares count: outstanding (0), issued (1) */
SP_ENUM(sp_benchset_effect)
SP_ENUM(sp_benchset_noise) /* NULL for SP_BENCHSET_NOISE_LOW */

#endif
