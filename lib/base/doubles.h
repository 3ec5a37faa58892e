/* SPDX-License-Identifier: MIT */
/*
 * Sorts doubles, for medians and quantiles.  With a NaN among them the order is undefined.
 */
#pragma once

#include <stdlib.h>

static inline int sp__doubles_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts in ascending order. */
static inline void sp__doubles_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), sp__doubles_compare);
}
