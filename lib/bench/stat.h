/* SPDX-License-Identifier: MIT */
/*
 * Estimates from a few disturbed measurements, and the knees of a curve.
 */
#ifndef SP__BENCH_STAT_H
#define SP__BENCH_STAT_H

#include <stddef.h>
#include <spindle/benchset.h>

/* The mean of what is left without a fifth (rounded down) at either end. Sorts v; NaN if n is 0. */
double sp__stat_trimmed(double *v, size_t n);
/* The same with its 95 % t interval, NaN for less than two. Sorts v. */
struct sp_benchset_estimate sp__stat_estimate(double *v, size_t n);
/* Sorts v; n is at least 1. */
double sp__stat_median(double *v, size_t n);
/* Of the logarithms, as ratios. v is changed. */
struct sp_benchset_estimate sp__stat_ratio(double *v, size_t n);
/* The 97.5 % quantile of Student's t. */
double sp__stat_t(size_t freedom);

/*
 * The nearest curve, by weighted least squares, that rises to some point and
 * falls from there on.  n is at most SP__CURVE_MAX.
 */
#define SP__CURVE_MAX 64
void sp__stat_hill(double *fit, const double *x, const double *weight, size_t n);

struct sp__curve_point {
	unsigned depth;
	size_t n;	    /* at most SP__SLICES_MAX are used */
	const double *iops; /* of each slice */
};

#define SP__SLICES_MAX 256

struct sp__knee {
	unsigned depth, low, high;
};

struct sp__knees {
	struct sp__knee latency, throughput, recommended;
	bool rising;
	double fit[SP__CURVE_MAX];
};

/* Points in the order of depth, each with a slice at least. */
void sp__knees_find(struct sp__knees *k, const struct sp__curve_point *points, size_t n,
		    uint64_t seed);

#endif
