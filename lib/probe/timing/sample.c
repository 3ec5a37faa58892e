/* SPDX-License-Identifier: MIT */
/*
 * Computes statistics of samples.
 *
 * Completions are late by the host's noise, never early, and some are very late.  So samples are
 * never averaged: a low quantile of many is taken.
 */
#include "base/array.h"
#include "probe/timing/sample.h"

double sp__quantile(double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	sp__doubles_sort(v, n);
	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

/* The i-th of n sorted samples is, on average, at i / (n + 1) of what they are drawn from. */
double sp__low_quantile(double *v, size_t n, double q)
{
	double at = fmax(q * (double)(n + 1) - 1, 0);

	return sp__quantile(v, n, n > 1 ? at / (double)(n - 1) : 0);
}

/*
 * The sample with the nearest neighbours is the middle; the quantile is counted from there.  A
 * completion that was late by more than half a revolution looks early, so samples far before the
 * middle are dropped.
 */
double sp__rev_middle(double *revs, size_t n, double q)
{
	double best = INFINITY, middle = revs[0], off[SP__ANGLE_MAX];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t j = 0; j < n; j++)
			sum += fabs(sp__wrap(revs[j] - revs[i]));
		if (sum < best) {
			best = sum;
			middle = revs[i];
		}
	}
	for (size_t i = 0; i < n; i++) {
		revs[i] = sp__wrap(revs[i] - middle);
		off[i] = fabs(revs[i]);
	}
	best = 6 * sp__quantile(off, n, 0.5) + 1e-5;
	for (size_t i = 0; i < n; i++)
		if (revs[i] >= -best)
			revs[kept++] = revs[i];
	middle += sp__low_quantile(revs, kept, q);
	return middle - floor(middle);
}
