/* SPDX-License-Identifier: MIT */
/*
 * Estimates from a few disturbed measurements, and the knees of a curve.
 */
#pragma once

#include <spindle/benchset.h>

/* Returns the mean without a fifth (rounded down) at either end; NaN if n is 0.  Sorts v. */
double sp__stat_trimmed(double *v, size_t n);
/* Returns the trimmed mean and its 95 % t interval, NaN for fewer than two values.  Sorts v. */
struct sp_benchset_estimate sp__stat_estimate(double *v, size_t n);
/*
 * Returns the ratio of two metrics.  Its interval follows from the differences within pairs of
 * slices, each divided by its metric; NaN for fewer than three pairs.  All members are NaN if the
 * ratio is not positive.  Sorts differences.
 */
struct sp_benchset_estimate sp__stat_ratio(double ratio, double *differences, size_t n);
/* Returns the 97.5 % quantile of Student's t. */
double sp__stat_t(size_t freedom);

#define SP__CURVE_MAX 64
#define SP__SLICES_MAX 256

struct sp__curve_point {
	unsigned depth;
	size_t n; /* at most SP__SLICES_MAX are used */
	/* Values by round, equal for all points, `stride` apart.  NaN: nothing completed. */
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

/* Finds the knees of at most SP__CURVE_MAX points, by depth, each with at least one slice. */
void sp__knees_find(struct sp__knees *k, const struct sp__curve_point *points, size_t n,
		    uint64_t seed);
