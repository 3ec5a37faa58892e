/* SPDX-License-Identifier: MIT */
/*
 * Prints f64 and f32 with the fewest digits that give the number back.
 *
 * Source: Raffaello Giulietti, The Schubfach way to render doubles, 2020.
 *
 * Algorithm: a number is c * 2^q, and all real numbers between the middles to its two neighbours
 * round to it; the middles themselves do if c is even.  The largest k is taken for which 10^k is
 * at most the width of this interval.  Then the interval holds a multiple of 10^k, and at most
 * one multiple of 10^(k + 1), which has fewer digits.  So at most four decimals are candidates:
 * the multiples of 10^(k + 1) and of 10^k next to the number, below and above.  They are compared
 * in units of 10^k / 4.  The number and both middles, in these units, are rounded to odd: a
 * fraction is replaced by a last bit of 1.  Comparisons with even integers, such as candidates and
 * the middles of two candidates, give the same result as before rounding.  The paper proves that
 * 10^-k with 126 bits suffices for this; sp__tenpower() has 128.
 */
#include <math.h>
#include <stdbool.h>
#include "base/put.h"
#include "base/shortest.h"
#include "base/tenpower.h"

#define DIGITS 17 /* maximum number of digits */

/* A positive number as c * 2^q. */
struct binary {
	uint64_t c;
	int q;
	bool near_below; /* the neighbour below is only half as far as the one above */
};

/* Returns c * power / 2^128, rounded to odd. */
static uint64_t scale(unsigned __int128 power, uint64_t c)
{
	unsigned __int128 low = (unsigned __int128)(uint64_t)power * c;
	unsigned __int128 v = (power >> 64) * c + (uint64_t)(low >> 64);

	/* power is too large by less than 1, c below 2^60: a fraction of 0 stays 0 in 64 bits */
	return (uint64_t)(v >> 64) | ((uint64_t)v != 0);
}

/* Returns the digits of the shortest decimal nearest to b as an integer, in units of 10^*k. */
static uint64_t shortest(struct binary b, int *k)
{
	/* floor(log10(2^q)), or of 3/4 * 2^q */
	int unit = (b.q * 1262611 - (b.near_below ? 524029 : 0)) >> 22;
	int shift = b.q + sp__log2_tenpower(-unit) + 1;
	unsigned __int128 power = sp__tenpower(-unit);
	uint64_t middle_below = scale(power, (4 * b.c - 2 + b.near_below) << shift);
	uint64_t v = scale(power, 4 * b.c << shift);
	uint64_t middle_above = scale(power, (4 * b.c + 2) << shift);
	uint64_t odd = b.c & 1; /* then the middles are not inside */
	uint64_t below = v / 4, tens = below / 10;
	bool lower, upper;

	*k = unit + 1;
	lower = middle_below + odd <= 40 * tens;
	upper = 40 * (tens + 1) + odd <= middle_above;
	if (lower != upper)
		return tens + upper;
	*k = unit;
	lower = middle_below + odd <= 4 * below;
	upper = 4 * (below + 1) + odd <= middle_above;
	if (lower != upper)
		return below + upper;
	return below + (v + (below & 1) > 4 * below + 2);
}

static const uint64_t power_of_10[] = { 1,
					10,
					100,
					1000,
					10000,
					100000,
					1000000,
					10000000,
					100000000,
					1000000000,
					10000000000,
					100000000000,
					1000000000000,
					10000000000000,
					100000000000000,
					1000000000000000,
					10000000000000000,
					100000000000000000 };

/* Returns the number of digits of v, 0 < v <= 10^17. */
static int length(uint64_t v)
{
	int n = (64 - __builtin_clzll(v)) * 1233 >> 12;

	return n + (v >= power_of_10[n]);
}

/*
 * Writes v as DIGITS digits, first digit first, with zeros at the end; v has n digits.  Returns the
 * number of digits without these zeros.
 */
static int put_significant(char *p, uint64_t v, int n)
{
	uint64_t high, low;
	uint32_t first;

	v = n > DIGITS ? v / 10 : v * power_of_10[DIGITS - n];
	first = (uint32_t)(v / power_of_10[16]);
	v -= first * power_of_10[16];
	high = sp__digits8((uint32_t)(v / power_of_10[8]));
	low = sp__digits8((uint32_t)(v % power_of_10[8]));
	p[0] = (char)('0' + first);
	sp__put_word(sp__put_word(p + 1, high | SP__ZEROS), low | SP__ZEROS);
	if (low)
		return 17 - __builtin_clzll(low) / 8;
	return high ? 9 - __builtin_clzll(high) / 8 : 1;
}

static char *put_exponent(char *p, int x)
{
	uint32_t size = (uint32_t)(x < 0 ? -x : x);

	*p++ = 'e';
	*p++ = x < 0 ? '-' : '+';
	return sp__put_digits(p, size, size < 100 ? 2 : 3);
}

/* Writes a positive number; precision: the exponent from which on an exponent is printed. */
static char *put_positive(char *p, struct binary b, int precision)
{
	char digits[24];
	int k, n, x;
	uint64_t v = shortest(b, &k);

	n = length(v);
	x = k + n - 1; /* exponent of the first digit */
	n = put_significant(digits, v, n);
	if (x < -4 || x >= precision) {
		p[0] = digits[0];
		p[1] = '.';
		memcpy(p + 2, digits + 1, DIGITS - 1);
		return put_exponent(p + (n > 1 ? n + 1 : 1), x);
	}
	if (x < 0) {
		memcpy(p, "0.000", 5);
		memcpy(p + 1 - x, digits, DIGITS);
		return p + 1 - x + n;
	}
	memcpy(p, digits, DIGITS);
	if (n <= x + 1)
		return p + x + 1;
	p[x + 1] = '.';
	memcpy(p + x + 2, digits + x + 1, (size_t)(n - x - 1));
	return p + n + 1;
}

/* Writes a number that is negative, zero, infinite or not a number as far as it differs. */
static char *put(char *p, bool negative, uint64_t fraction, int exponent, int fraction_bits)
{
	int bias = fraction_bits == 52 ? 1023 : 127;
	uint64_t implied = (uint64_t)1 << fraction_bits;
	struct binary b;

	if (exponent > 2 * bias && fraction)
		negative = false;
	*p = '-';
	p += negative;
	if (exponent > 2 * bias) {
		memcpy(p, fraction ? "nan" : "inf", 3);
		return p + 3;
	}
	if (!exponent && !fraction) {
		*p = '0';
		return p + 1;
	}
	b.c = exponent ? implied | fraction : fraction;
	b.q = (exponent ? exponent : 1) - bias - fraction_bits;
	b.near_below = !fraction && exponent > 1;
	return put_positive(p, b, fraction_bits == 52 ? 17 : 9);
}

char *sp__shortest_f64(char *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return put(p, bits >> 63, bits & (((uint64_t)1 << 52) - 1), bits >> 52 & 2047, 52);
}

char *sp__shortest_f32(char *p, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return put(p, bits >> 31, bits & ((1u << 23) - 1), bits >> 23 & 255, 23);
}
