/* SPDX-License-Identifier: MIT */
/*
 * Sums of the squares and products of numbers, exact, so that they do not depend on the order of
 * the numbers; and what follows from them.
 *
 * Thread rule: one thread at a time per struct.
 */
#pragma once

#include "base/exactsum.h"
#include "expr/amount.h"

/* Sums of squares and products, exact: of integers in 256 bits. */
struct sp__wide {
	uint64_t limbs[4]; /* from the lowest; in two's complement */
};

/* Adds a * b, magnitudes below 2^120. */
void sp__wide_add_product(struct sp__wide *w, sp__int128 a, sp__int128 b);
void sp__wide_add(struct sp__wide *w, const struct sp__wide *more);

/*
 * The sums of the numbers that are not exact: with pairs 5 of them; of numbers alone 4, of which
 * the last two have squares that could be too large or too small for f64, scaled.
 */
enum { SP__REAL_X, SP__REAL_XX, SP__REAL_Y, SP__REAL_YY, SP__REAL_XY, SP__REALS };
enum { SP__REAL_LARGE = SP__REAL_Y, SP__REAL_SMALL, SP__REALS_ALONE };

/*
 * Moments of numbers x, or of pairs x and y.  Of numbers alone only the members up to pairs exist.
 */
struct sp__group_moments {
	sp__int128 x;
	struct sp__wide xx;
	uint64_t n;
	uint32_t reals; /* where the owner keeps struct sp__exactsum [4] or [5]; 0: nowhere */
	uint32_t pairs; /* true: the following exist */
	sp__int128 y;
	struct sp__wide yy, xy;
};

/* Adds to the sums of reals. */
void sp__reals_add(struct sp__exactsum *reals, double x);
void sp__reals_add_pair(struct sp__exactsum *reals, double x, double y);

struct sp__deviations {
	/* Sums of products of the deviations from the means, divided by 2^exponent; it is even. */
	double xx, yy, xy;
	int exponent;
};
/* Computes them exactly and rounds them once.  reals may be NULL. */
struct sp__deviations sp__moments_deviations(const struct sp__group_moments *m,
					     const struct sp__exactsum *reals);
