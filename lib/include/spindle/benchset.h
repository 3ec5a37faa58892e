/* SPDX-License-Identifier: MIT */
/*
 * Several measurements that belong together: over depths, over shares of high
 * priority, or of two settings side by side.
 *
 * A set has points, and measures each of them many times for a short while, in
 * rounds: each round visits every point once, in an order drawn anew, so that
 * what disturbs the machine for a time disturbs all points alike.  A figure of
 * a point is the trimmed mean of its slices (a fifth is left out at either
 * end), with the 95 % t interval that belongs to it (Tukey and McLaughlin
 * 1963); it does not hang on a few disturbed slices.  Percentiles are those of
 * the requests of all slices together.
 *
 * The knees of a sweep, of the figures at each depth:
 *
 *	latency knee	  the depth with the highest "power", throughput by
 *			  latency (Kleinrock 1979): up to here, more depth brings
 *			  more throughput, in proportion, than it costs latency
 *	throughput knee	  the least depth with 95 % of the highest throughput
 *	recommended	  the least depth with 90 % of it
 *
 * The same is done for 1000 samples of the rounds, drawn with replacement; the
 * interval of a knee holds the knee and 95 % of what comes out.
 *
 * Thread rule: as of sp_bench_run().
 */
#ifndef SPINDLE_BENCHSET_H
#define SPINDLE_BENCHSET_H

#include <spindle/bench.h>

/* NaN: not known. The interval needs at least two slices, that of a ratio three. */
struct sp_benchset_estimate {
	double value, low, high;
};

/* What one class, or all together, got at a point. */
struct sp_benchset_stats {
	const char *name; /* of the class; "total" */
	uint16_t prio;	  /* as used */
	uint64_t requests, bytes, errors;
	struct sp_benchset_estimate iops, latency_mean_ns;
	/*
	 * As latency_mean_ns, but for a slice in which nothing came back stands how
	 * long its oldest request had waited; and how many slices these are.
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
	unsigned depth;	  /* of what shares it */
	double share;	  /* of high priority; or NaN */
	unsigned slices;
	double elapsed_s; /* of all slices */
	struct sp_benchset_stats total;
	size_t nclasses;
	const struct sp_benchset_stats *classes;
	double cpu_us_per_request;	   /* NaN: unknown */
	struct sp_benchset_estimate ratio; /* wait_mean_ns of class 2 by that of class 1; or NaN */
};

struct sp_benchset_knee {
	unsigned depth, low, high;
	double iops, latency_mean_ns; /* of the point of this depth */
};

enum sp_benchset_effect {
	SP_BENCHSET_EFFECT_UNKNOWN, /* too little was measured, or it varies too much */
	SP_BENCHSET_EFFECT_NONE,    /* latencies differ by less than a tenth, by the interval */
	SP_BENCHSET_EFFECT_YES,	    /* by more than that, at some share */
};

/*
 * What in a sweep is smaller than the noise.  Noise of two depths is the greater
 * half interval of their throughput; they are alike if they differ by less, and
 * if it is at least 1 % of the highest throughput.
 */
enum sp_benchset_noise {
	SP_BENCHSET_NOISE_LOW,	   /* nothing that matters */
	SP_BENCHSET_NOISE_SMALLER, /* the next smaller depth is like the recommended one */
	SP_BENCHSET_NOISE_ALL,	   /* the recommended depth is the least; all are like it */
	SP_BENCHSET_NOISE_TENTH,   /* what the recommended depth may have less than the highest */
};

/* One figure of setting A and of setting B, and B by A. */
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
	uint64_t size_bytes;
	double elapsed_s; /* with all that is not measured */
	unsigned rounds;  /* the most that a point has had */
	size_t npoints;
	const struct sp_benchset_point *points; /* in the order of depth, share; 0 slices: not
						   reached */
	/* Of a sweep of at least three rounds. */
	bool knees;
	struct sp_benchset_knee latency_knee, throughput_knee, recommended;
	bool rising; /* throughput still grows at the greatest depth, by more than noise */
	enum sp_benchset_noise noise;
	/* The depths beside the recommended one that are like it, and itself. */
	unsigned alike_low, alike_high;
	/*
	 * Of a mix: wait_mean_ns of the low class by that of the high one, at the share
	 * where the effect is surest, or, where no share has one, the mean over all
	 * shares; of scans, that of random requests with the same priority by that with
	 * a higher one.
	 */
	struct sp_benchset_estimate ratio;
	double ratio_share; /* NaN: of all shares, of scans, or not known */
	enum sp_benchset_effect effect;
	/* Of a comparison. */
	size_t nrows;
	const struct sp_benchset_row *rows;
	size_t nerrors;
	struct sp_bench_error errors[SP_BENCH_ERRORS_MAX];
};

struct sp_benchset_opts {
	/*
	 * The load.  runtime_ns is that of the whole set, all that is not
	 * measured included; what exceeds it is the slice that is under way.
	 * depth is that of a sweep's last point.  Not with total_bytes, trace or
	 * interval, nor with the engine "sync".
	 */
	const struct sp_bench_opts *bench;
	unsigned rounds; /* at most; 0: as many as there is time for, at most 12 */
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
	bool of_issued;
	/* SP_BENCHSET_SCANS: sequential readers, each with the depth of the bench or at a rate. */
	unsigned readers;
	double rate;
};

struct sp_benchset;

/*
 * 0, also if it was stopped; else as sp_bench_run(): after a failed request
 * *set is there and tells what was measured until then.
 *
 * A sweep takes depths of powers of two up to that of the bench, and others
 * beside the knees; its classes share the depth.  A mix takes the first class
 * of the bench as its pattern.  A comparison takes the runtime of A; what it
 * creates belongs to both.
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
/* Lives as long as the set. */
SP_API const struct sp_benchset_result *sp_benchset_result(const struct sp_benchset *set);
SP_API void sp_benchset_free(struct sp_benchset *set); /* accepts NULL */

#endif
