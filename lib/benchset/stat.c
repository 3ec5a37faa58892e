/* SPDX-License-Identifier: MIT */
/*
 * Computes estimates with intervals.
 *
 * Algorithm: the variance of a trimmed mean follows from the winsorized values: each dropped value
 * counts as the nearest one kept (Tukey & McLaughlin 1963).  If none is dropped, the result is the
 * usual t interval.
 */
#include <math.h>
#include "base/array.h"
#include "benchset/stat.h"

/* two slices can agree closely by chance */
#define RATIO_MIN 3

double sp__stat_t(size_t freedom)
{
	static const double t[] = { NAN,   12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				    2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
				    2.120, 2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
				    2.064, 2.060,  2.056, 2.052, 2.048, 2.045, 2.042 };

	if (freedom < sizeof(t) / sizeof(t[0]))
		return t[freedom];
	return 1.960 + 2.46 / (double)freedom;
}

static size_t left_out(size_t n)
{
	return n / 5;
}

/* Returns the trimmed mean of sorted values. */
static double middle_mean(const double *v, size_t n)
{
	size_t cut = left_out(n);
	double sum = 0;

	for (size_t i = cut; i < n - cut; i++)
		sum += v[i];
	return n ? sum / (double)(n - 2 * cut) : NAN;
}

double sp__stat_trimmed(double *v, size_t n)
{
	sp__doubles_sort(v, n);
	return middle_mean(v, n);
}

struct sp_benchset_estimate sp__stat_estimate(double *v, size_t n)
{
	struct sp_benchset_estimate e = { sp__stat_trimmed(v, n), NAN, NAN };
	size_t cut = left_out(n), kept = n - 2 * cut;
	double mean = 0, squares = 0, half;

	if (kept < 2)
		return e;
	for (size_t i = 0; i < n; i++)
		v[i] = i < cut ? v[cut] : i >= n - cut ? v[n - cut - 1] : v[i];
	for (size_t i = 0; i < n; i++)
		mean += v[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	half = sp__stat_t(kept - 1) * sqrt(squares / (double)(kept * (kept - 1)));
	e.low = e.value - half;
	e.high = e.value + half;
	return e;
}

struct sp_benchset_estimate sp__stat_ratio(double ratio, double *differences, size_t n)
{
	struct sp_benchset_estimate e = sp__stat_estimate(differences, n);
	double half = e.high - e.value;

	if (n < RATIO_MIN)
		half = NAN;
	if (!(ratio > 0 && isfinite(ratio)))
		return (struct sp_benchset_estimate){ NAN, NAN, NAN };
	return (struct sp_benchset_estimate){ ratio, ratio * exp(-half), ratio * exp(half) };
}
