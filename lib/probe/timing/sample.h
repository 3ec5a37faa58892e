/* SPDX-License-Identifier: MIT */
/* Statistics of samples, and differences of angles.  Pure functions; arrays are changed. */
#pragma once

#include <math.h>
#include <stddef.h>

#define SP__ANGLE_MAX 512 /* samples of an angle */

static inline double sp__wrap(double rev) /* to [-0.5, 0.5) */
{
	return rev - floor(rev + 0.5);
}
double sp__quantile(double *v, size_t n, double q); /* sorts v */
/* Returns a low quantile that does not depend on the number of samples. */
double sp__low_quantile(double *v, size_t n, double q); /* sorts v */
/* Returns the circular quantile of at most SP__ANGLE_MAX angles; changes revs. */
double sp__rev_middle(double *revs, size_t n, double q);
