/* SPDX-License-Identifier: MIT */
/*
 * Numbers of records: read from text, calculated with, and ordered.
 *
 * A number of at most 9 decimal places below 10^18 is exact, in units of 10^-9.  Any other number
 * is rounded to f64.
 *
 * The code of a number is a string of bytes whose memcmp order is that of the numbers.
 *
 * Thread rule: one thread at a time per struct.
 */
#pragma once

#include <stdint.h>
#include "base/decimal.h"

#define SP__UNITS 1000000000 /* of 10^-9 in 1 */
/* Exact numbers are below 10^18, so sums of 10^11 of them have 128 bits. */
#define SP__UNITS_END ((sp__int128)SP__UNITS * SP__UNITS * SP__UNITS)

/* 10^0 to 10^9 */
extern const uint64_t sp__powers_of_ten[SP__DECIMAL_PLACES + 1];

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

/* Returns the order of two numbers: negative, 0 or positive. */
int sp__amount_order(const struct sp__amount *a, const struct sp__amount *b);

/*
 * Calculate r, which may be a or b.  Sums, differences and products of exact numbers, and quotients
 * with at most 9 decimal places, are exact if they are below 10^18; others are rounded to f64.
 * False: the result is not a finite number, or b is 0.
 */
bool sp__amount_add(struct sp__amount *r, const struct sp__amount *a, const struct sp__amount *b);
bool sp__amount_subtract(struct sp__amount *r, const struct sp__amount *a,
			 const struct sp__amount *b);
bool sp__amount_multiply(struct sp__amount *r, const struct sp__amount *a,
			 const struct sp__amount *b);
bool sp__amount_divide(struct sp__amount *r, const struct sp__amount *a,
		       const struct sp__amount *b);
/* The rest of a division whose quotient is rounded towards 0. */
bool sp__amount_modulo(struct sp__amount *r, const struct sp__amount *a,
		       const struct sp__amount *b);

/* Returns the fewest decimal places that an exact number needs. */
unsigned sp__amount_places(const struct sp__amount *x);
struct sp__amount sp__amount_negate(struct sp__amount x);
struct sp__amount sp__amount_of(int64_t n);

enum sp__rounding { SP__ROUND_NEAREST, SP__ROUND_DOWN, SP__ROUND_UP };
/*
 * Rounds to 10^-places, -18 <= places <= 9; the result has as many decimal places.  NEAREST: half
 * away from 0.
 */
struct sp__amount sp__amount_round(const struct sp__amount *x, int places, enum sp__rounding how);
