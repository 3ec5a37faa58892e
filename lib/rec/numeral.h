/* SPDX-License-Identifier: MIT */
/*
 * Splits the text of a decimal number into sign, digits and decimal places.  Eight digits are
 * converted simultaneously in the bytes of one word.
 */
#pragma once

#include "base/few.h"

struct sp__numeral {
	uint64_t units; /* the digits, without the point */
	unsigned places;
	bool minus;
	bool large; /* units are above UINT64_MAX and not stored */
	/* Printing the number with these places gives the same text. */
	bool canonical;
};

/* Returns the number of digits that the word starts with, its lowest byte first. */
static inline unsigned sp__numeral_digits(uint64_t word)
{
	uint64_t d = word ^ 0x3030303030303030u;
	uint64_t others = ((d + 0x7676767676767676u) | d) & 0x8080808080808080u;

	return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

/* Returns the number of the first n digits of the word, 0 < n <= 8. */
static inline uint64_t sp__numeral_word(uint64_t word, unsigned n)
{
	word = (word & 0x0F0F0F0F0F0F0F0Fu) << 8 * (8 - n);
	word = word * 10 + (word >> 8);
	return ((word & 0x000000FF000000FFu) * (100 + (UINT64_C(1000000) << 32)) +
		(word >> 16 & 0x000000FF000000FFu) * (1 + (UINT64_C(10000) << 32))) >>
	       32;
}

/* Appends the digits at p to units; returns the address after the last one. */
static inline const char *sp__numeral_take(const char *p, const char *end, struct sp__numeral *v)
{
	static const uint64_t power[] = { 1,	  10,	   100,	     1000,     10000,
					  100000, 1000000, 10000000, 100000000 };
	unsigned n;

	do {
		uint64_t word = sp__load_few(p, (size_t)(end - p));

		n = sp__numeral_digits(word);
		if (!n)
			break;
		if (__builtin_mul_overflow(v->units, power[n], &v->units) ||
		    __builtin_add_overflow(v->units, sp__numeral_word(word, n), &v->units))
			v->large = true;
		p += n;
	} while (n == 8);
	return p;
}

/*
 * Scans DIGITS[.DIGITS] of at most 8 bytes: the point is removed from their word.  Returns the
 * number of digits before the point, or SIZE_MAX for other texts.
 */
static inline size_t sp__numeral_short(const char *p, size_t n, struct sp__numeral *v)
{
	uint64_t word = sp__load_few(p, n), before;
	unsigned whole = sp__numeral_digits(word), digits = (unsigned)n;

	if (whole < n) {
		if (p[whole] != '.')
			return SIZE_MAX;
		before = (UINT64_C(1) << 8 * whole) - 1;
		word = (word & before) | (word >> 8 & ~before);
		digits--;
		if (sp__numeral_digits(word) != digits)
			return SIZE_MAX;
	}
	v->places = digits - whole;
	v->units = digits ? sp__numeral_word(word, digits) : 0;
	return whole;
}

/* Scans DIGITS[.DIGITS] of any length.  Returns as sp__numeral_short(). */
static inline size_t sp__numeral_long(const char *p, size_t n, struct sp__numeral *v)
{
	const char *end = p + n, *whole_end = sp__numeral_take(p, end, v), *last = whole_end;

	if (last < end && *last == '.') {
		last = sp__numeral_take(whole_end + 1, end, v);
		v->places = (unsigned)(last - whole_end - 1);
	}
	return last == end ? (size_t)(whole_end - p) : SIZE_MAX;
}

/* False: the text is not [+-]DIGITS[.DIGITS] with at least one digit. */
static inline bool sp__numeral_scan(const char *text, size_t n, struct sp__numeral *v)
{
	bool plus = n && *text == '+';
	size_t whole;

	*v = (struct sp__numeral){ .minus = n && *text == '-' };
	if (v->minus || plus) {
		text++;
		n--;
	}
	whole = n <= 8 ? sp__numeral_short(text, n, v) : sp__numeral_long(text, n, v);
	if (whole == SIZE_MAX || !(whole + v->places))
		return false;
	v->canonical = !plus && (whole == 1 || (whole && *text != '0')) &&
		       (whole == n || v->places) && !(v->minus && !v->units && !v->large);
	return true;
}
