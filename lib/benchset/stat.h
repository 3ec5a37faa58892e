/* SPDX-License-Identifier: MIT */
/*
 * Estimates from a few disturbed measurements, and the knees of a curve.
 */
#ifndef SP__BENCHSET_STAT_H
#define SP__BENCHSET_STAT_H

#include <stddef.h>
#include <spindle/benchset.h>

/* The mean without a fifth (rounded down) at either end. Sorts v; NaN if n is 0. */
double sp__stat_trimmed(double *v, size_t n);
/* The same with its 95 % t interval, NaN for fewer than two. Sorts v. */
struct sp_benchset_estimate sp__stat_estimate(double *v, size_t n);
/*
 * The ratio of two figures.  Its interval follows from the differences within pairs of slices,
 * each divided by its figure; NaN for fewer than three pairs.  All is NaN if the ratio is not
 * positive.  Sorts differences.
 */
struct sp_benchset_estimate sp__stat_ratio(double ratio, double *differences, size_t n);
/* The 97.5 % quantile of Student's t. */
double sp__stat_t(size_t freedom);

#define SP__CURVE_MAX 64
#define SP__SLICES_MAX 256

struct sp__curve_point {
	unsigned depth;
	size_t n; /* at most SP__SLICES_MAX are used */
	/* By round, the same for all points, each `stride` after the last.  NaN: none completed. */
	const double *iops, *latency_ns;
	size_t stride;
};

struct sp__knee {
	unsigned depth, low, high;
};

struct sp__knees {
	struct sp__knee latency, throughput, recommended;
	bool rising;
	enum sp_benchset_noise noise;
	unsigned alike_low, alike_high;
};

/* At most SP__CURVE_MAX points in the order of depth, each with at least one slice. */
void sp__knees_find(struct sp__knees *k, const struct sp__curve_point *points, size_t n,
		    uint64_t seed);

#endif
