/* SPDX-License-Identifier: MIT */
/*
 * The state of a set of measurements.
 *
 * Ownership: a set belongs to the thread that opened it. set.c writes the slices and the time,
 * set_result.c the results; set_sweep.c, set_mix.c and set_compare.c write the points.
 */
#pragma once

#include <spindle/benchset.h>
#include "base/rng.h"
#include "bench/bench.h"
#include "benchset/stat.h"

#define SP__SET_POINTS_MAX 128

/* Metrics kept of a slice, per class and for all classes. */
enum sp__setmetric {
	SP__SET_IOPS,
	SP__SET_BANDWIDTH,
	SP__SET_MEAN,
	SP__SET_P50,
	SP__SET_P99,
	SP__SET_P999,
	SP__SET_CPU,  /* only for all classes */
	SP__SET_ROWS, /* number of metrics in a comparison */
	/* Mean latency; if nothing completed, the age of the oldest request. */
	SP__SET_WAIT = SP__SET_ROWS,
	SP__SET_METRICS
};

/* By class, then for all classes; NaN: nothing completed, or unknown. */
struct sp__setslice {
	double metrics[SP_BENCH_CLASSES_MAX + 1][SP__SET_METRICS];
};

struct sp__setpoint {
	const char *name;
	double share;
	struct sp_bench_opts opts;
	struct sp_bench_class classes[SP_BENCH_CLASSES_MAX];
	/* The slices that count, by round. */
	struct sp__setslice *slices;
	size_t nslices;
	struct sp__hist *latency; /* by class */
	struct sp_benchset_stats sums[SP_BENCH_CLASSES_MAX + 1];
	uint64_t elapsed_ns, cpu_ns;
	/* Results of the slice that does not count: */
	bool tried;
	double wait_ns; /* duration of a request */
	double min_ns;	/* shortest useful slice */
	double rest_ns; /* overhead of a slice: opening, draining */
	struct sp_benchset_stats stats[SP_BENCH_CLASSES_MAX];
};

struct sp_benchset {
	struct sp_benchset_opts opts;
	struct sp_bench *holders[2]; /* keep created files; NULL: none */
	size_t nholders;
	struct sp__setpoint *points;
	size_t npoints;
	struct sp__rng rng;
	uint64_t seeds; /* seeds used */
	uint64_t budget_ns, spent_ns;
	unsigned rounds; /* rounds done */
	bool stopped;
	bool strict; /* an option without effect is an error */
	struct sp_benchset_point *shown;
	struct sp_benchset_row *rows;
	struct sp_benchset_result result;
};

/* Checks the options and creates files.  *set is NULL only after -ENOMEM. */
SP_MUST_CHECK int sp__set_open(struct sp_benchset **set, const struct sp_benchset_opts *opts,
			       const struct sp_bench_opts *other, struct sp_errinfo *err);
/* Adds a point with this load; copies its classes.  The pointer is valid until the next call. */
struct sp__setpoint *sp__set_add(struct sp_benchset *set, const struct sp_bench_opts *load);
/*
 * Measures rounds of all points: as many as fit into this share of the time, at least three and at
 * most rounds, but never beyond the whole time.
 */
SP_MUST_CHECK int sp__set_run(struct sp_benchset *set, double share, unsigned rounds,
			      struct sp_errinfo *err);
/* True if time for this number of rounds is left. */
bool sp__set_time_for(const struct sp_benchset *set, unsigned rounds);
/* Drops all slices, but keeps the results of the first ones. */
void sp__set_forget(struct sp_benchset *set);
/* Computes the results.  *out is the set, or NULL after an error without results.  Returns rc. */
SP_MUST_CHECK int sp__set_done(struct sp_benchset **out, struct sp_benchset *set, int rc,
			       struct sp_errinfo *err);
/* Computes the results of all points, in their order.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__set_figures(struct sp_benchset *set);
/* Returns a metric of a class: the trimmed mean of its slices. */
double sp__set_figure(const struct sp__setpoint *p, size_t class, enum sp__setmetric m);

/* A ratio: the metric of one class divided by the metric of another. */
struct sp__setpair {
	const struct sp__setpoint *above, *below;
	size_t class_above, class_below;
	enum sp__setmetric metric;
};

/* Returns the difference for sp__stat_ratio(); NaN if either value of the round is unknown. */
double sp__set_difference(const struct sp__setpair *p, size_t round);
struct sp_benchset_estimate sp__set_ratio(const struct sp__setpair *p);
/* Adds a slice.  False: out of memory. */
bool sp__set_note(struct sp__setpoint *p, const struct sp_bench *b);
