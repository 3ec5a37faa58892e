/* SPDX-License-Identifier: MIT */
/*
 * Encodes like number.c the most frequent numbers: integers, eight digits at a time, and short
 * numbers with a unit.  Inline, because a function call costs as much as the encoding.
 */
#pragma once

#include <string.h>
#include "rec/keyset.h"

/* Maximum number of bytes that sp__integer_encode() writes. */
#define SP__INTEGER_SIZE 20

/* Loads eight bytes, zeros for bytes past lim; bytes up to end can be read. */
static inline uint64_t sp__integer_load(const char *s, const char *lim, const char *end)
{
	return sp__load_near(s, (size_t)(lim - s), (size_t)(end - s));
}

/* Returns the number of leading digits in eight bytes that were xored with '0'. */
static inline unsigned sp__integer_digits(uint64_t t)
{
	uint64_t stop = ((t + 0x7676767676767676u) | t) & 0x8080808080808080u;

	return stop ? (unsigned)__builtin_ctzll(stop) / 8 : 8;
}

/* Packs up to eight digits, one per byte, into up to four biased pairs; then zeros. */
static inline uint64_t sp__integer_pairs(uint64_t digits, unsigned *bytes)
{
	uint64_t v = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FFu;

	*bytes = v ? (63 - (unsigned)__builtin_clzll(v)) / 16 + 1 : 0;
	v += 0x0001000100010001u;
	v = (v | v >> 8) & 0x0000FFFF0000FFFFu;
	return (v | v >> 16) & 0xFFFFFFFFu;
}

static inline uint64_t sp__integer_low(uint64_t v, unsigned n)
{
	return n < 8 ? v & ((1ull << 8 * n) - 1) : v;
}

/*
 * Encodes integers of 1 to 15 digits without leading zeros or separators; NULL for all others.
 * Bytes up to end can be read. *digits: number of digits.
 */
static inline unsigned char *sp__integer_encode(const struct sp__numfmt *f, const char *s,
						const char *lim, const char *end, bool terminate,
						unsigned char flip, unsigned char *out,
						unsigned *digits)
{
	uint64_t v = sp__integer_load(s, lim, end), t = v ^ 0x3030303030303030u, t2 = 0, word;
	unsigned n = sp__integer_digits(t), n2 = 0, bytes, bytes2;
	int next;

	if (!SP__LITTLE_ENDIAN || !n || !(t & 0xFF))
		return NULL;
	if (n < 8) {
		next = (int)(v >> 8 * n & 0xFF);
	} else {
		v = sp__integer_load(s + 8, lim, end);
		t2 = v ^ 0x3030303030303030u;
		n2 = sp__integer_digits(t2);
		if (n2 == 8)
			return NULL;
		next = (int)(v >> 8 * n2 & 0xFF);
	}
	if (next == f->decimal || next == f->thousands)
		return NULL;
	word = sp__integer_pairs(sp__integer_low(t, n), &bytes);
	if (n2) {
		uint64_t high = sp__integer_pairs(sp__integer_low(t2, n2), &bytes2);

		if (bytes2) {
			word |= high << 32;
			bytes = 4 + bytes2;
		}
	}
	*digits = n + n2;
	word = sp__integer_low(word, bytes) ^ (flip ? ~0ull : 0);
	/* Written as one word, because it is loaded as one. */
	v = ((0x81 + *digits) ^ flip) | word << 8;
	memcpy(out, &v, 8);
	out[8] = (unsigned char)(word >> 56);
	out[9] = flip;
	return out + 1 + bytes + terminate;
}

/*
 * Encodes a last key, a number for -h of up to six digits without leading zeros or separators, that
 * ends within eight bytes; NULL for all others.  Bytes up to end can be read.
 */
static inline unsigned char *sp__human_short(const struct sp__numfmt *f, const char *s,
					     const char *lim, const char *end, unsigned char flip,
					     unsigned char *out)
{
	uint64_t v = sp__integer_load(s, lim, end), t = v ^ 0x3030303030303030u, word;
	unsigned n = sp__integer_digits(t), digits = n, at = n, bytes;

	if (!SP__LITTLE_ENDIAN || !n || n > 6 || !(t & 0xFF))
		return NULL;
	if ((int)(v >> 8 * n & 0xFF) == f->thousands)
		return NULL;
	t = sp__integer_low(t, n);
	if ((int)(v >> 8 * n & 0xFF) == f->decimal) {
		word = (v ^ 0x3030303030303030u) >> 8 * (n + 1) | ~0ull << 8 * (7 - n);
		digits += sp__integer_digits(word);
		at = digits + 1;
		t |= sp__integer_low(word, digits - n) << 8 * n;
	}
	if (at == 8)
		return NULL;
	word = sp__integer_pairs(t, &bytes);
	v = (16u + (unsigned)sp__human_unit((char)(v >> 8 * at))) | (0x81u + n) << 8 |
	    sp__integer_low(word, bytes) << 16;
	v ^= flip ? ~0ull : 0;
	memcpy(out, &v, 8);
	return out + 2 + bytes + (flip != 0);
}
