/* SPDX-License-Identifier: MIT */
/*
 * A trimmed mean has the variance of the winsorized values: what is left out
 * counts as the last one that is left in (Tukey & McLaughlin 1963).  Without
 * anything to leave out it is the usual t interval.
 */
#include <math.h>
#include "base/doubles.h"
#include "bench/stat.h"

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

/* Of sorted values. */
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

double sp__stat_median(double *v, size_t n)
{
	sp__doubles_sort(v, n);
	return (v[(n - 1) / 2] + v[n / 2]) / 2;
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

struct sp_benchset_estimate sp__stat_ratio(double *v, size_t n)
{
	struct sp_benchset_estimate e;

	for (size_t i = 0; i < n; i++)
		v[i] = log(v[i]);
	e = sp__stat_estimate(v, n);
	return (struct sp_benchset_estimate){ exp(e.value), exp(e.low), exp(e.high) };
}

/*
 * Pools adjacent violators: the nearest curve that never falls.  Blocks of
 * equal value; the last two become one as long as they fall.  Returns the sum
 * of weighted squares.
 */
static double rise(double *fit, const double *x, const double *weight, size_t n, int step)
{
	struct {
		double value, weight;
		size_t count;
	} blocks[SP__CURVE_MAX];
	size_t used = 0, at = 0;
	double squares = 0;

	for (size_t i = 0; i < n; i++) {
		ptrdiff_t k = (ptrdiff_t)i * step;

		blocks[used].value = x[k];
		blocks[used].weight = weight[k];
		blocks[used++].count = 1;
		for (; used > 1 && blocks[used - 2].value > blocks[used - 1].value; used--) {
			double w = blocks[used - 2].weight + blocks[used - 1].weight;

			blocks[used - 2].value =
				(blocks[used - 2].value * blocks[used - 2].weight +
				 blocks[used - 1].value * blocks[used - 1].weight) /
				w;
			blocks[used - 2].weight = w;
			blocks[used - 2].count += blocks[used - 1].count;
		}
	}
	for (size_t b = 0; b < used; b++)
		for (size_t i = 0; i < blocks[b].count; i++, at++) {
			ptrdiff_t k = (ptrdiff_t)at * step;

			fit[k] = blocks[b].value;
			squares += weight[k] * (x[k] - fit[k]) * (x[k] - fit[k]);
		}
	return squares;
}

/* Rises over the first some, falls over the rest; the best number of the former is taken. */
void sp__stat_hill(double *fit, const double *x, const double *weight, size_t n)
{
	double some[SP__CURVE_MAX], best = INFINITY;

	for (size_t up = 1; up <= n; up++) {
		double squares = rise(some, x, weight, up, 1);

		if (up < n)
			squares += rise(&some[n - 1], &x[n - 1], &weight[n - 1], n - up, -1);
		if (squares >= best)
			continue;
		best = squares;
		for (size_t i = 0; i < n; i++)
			fit[i] = some[i];
	}
}
