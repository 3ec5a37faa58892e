/* SPDX-License-Identifier: MIT */
/*
 * Numbers of records: read from text, ordered, and summed up exactly.
 *
 * A number of at most 9 decimal places below 10^18 is exact, in units of 10^-9.  Any other number
 * is rounded to f64.  Sums of both are exact, so they do not depend on the order of the numbers.
 *
 * The code of a number is a string of bytes whose memcmp order is that of the numbers.
 *
 * Thread rule: one thread at a time per struct.
 */
#pragma once

#include "base/decimal.h"
#include "base/exactsum.h"
#include "base/mem.h"

#define SP__UNITS 1000000000 /* of 10^-9 in 1 */

struct sp__amount {
	sp__int128 units; /* of 10^-9, unless is_real */
	double real;	  /* if is_real; never NaN */
	bool is_real;
	unsigned places; /* decimal places of its text */
};

/* False: the text, which can have blanks around it, is not a number. */
bool sp__amount_parse(const char *text, size_t n, struct sp__amount *x);
double sp__amount_f64(const struct sp__amount *x);

#define SP__AMOUNT_CODE 32 /* maximum bytes of a code */
#define SP__AMOUNT_TEXT 64 /* maximum bytes of a printed number */

/* Writes the code of a number; returns its length. */
size_t sp__amount_encode(const struct sp__amount *x, unsigned char *code);
/* Reads a code; its places are 0.  False: it is none. */
bool sp__amount_decode(const unsigned char *code, size_t n, struct sp__amount *x);

/* Prints an exact number with x->places decimal places, or the shortest text of an f64. */
size_t sp__amount_print(const struct sp__amount *x, char *text);

/*
 * Returns (a + (b - a) * part / whole), 0 <= part < whole <= 10^9, rounded half away from 0 to at
 * least 6 decimal places, as many as a and b have.
 */
struct sp__amount sp__amount_between(const struct sp__amount *a, const struct sp__amount *b,
				     uint64_t part, uint64_t whole);

/* Sums of squares and products, exact: of integers in 256 bits. */
struct sp__wide {
	uint64_t limbs[4]; /* from the lowest; in two's complement */
};

/* Adds a * b, magnitudes below 2^120. */
void sp__wide_add_product(struct sp__wide *w, sp__int128 a, sp__int128 b);
void sp__wide_add(struct sp__wide *w, const struct sp__wide *more);

/* The sums of the numbers that are not exact: 2 of them, or with pairs all 5. */
enum { SP__REAL_X, SP__REAL_XX, SP__REAL_Y, SP__REAL_YY, SP__REAL_XY, SP__REALS };

/*
 * Moments of numbers x, or of pairs x and y.  Of numbers alone only the members up to pairs exist.
 */
struct sp__group_moments {
	sp__int128 x;
	struct sp__wide xx;
	uint64_t n;
	uint32_t reals; /* where the owner keeps struct sp__exactsum [2] or [5]; 0: nowhere */
	uint32_t pairs; /* true: the following exist */
	sp__int128 y;
	struct sp__wide yy, xy;
};

/* Adds to the sums of reals. */
void sp__reals_add(struct sp__exactsum *reals, double x);
void sp__reals_add_pair(struct sp__exactsum *reals, double x, double y);

struct sp__deviations {
	double xx, yy, xy; /* sums of products of the deviations from the means */
};
/* Computes them exactly and rounds them once.  reals may be NULL. */
struct sp__deviations sp__moments_deviations(const struct sp__group_moments *m,
					     const struct sp__exactsum *reals);
