/* SPDX-License-Identifier: MIT */
/*
 * Computes offset-value codes: the difference of a key from one that precedes it, as a number.
 *
 * A key is divided into units of seven bytes, padded with zeros.  The code of key k after base b is
 *
 *	(0xFE - u) << 56 | unit u of k,    where u is the first unit in which they differ,
 *
 * and 0 if they are equal.  Of two keys coded after the same base, the smaller code belongs to the
 * smaller key, and the larger code is also valid after the smaller key.  So a merge compares codes,
 * and compares keys only if two codes are equal.  Padding makes "a" and "a\0" equal; so equal codes
 * are compared from the start of unit u by bytes, then by length.  Units from OVC_UNIT_MAX on share
 * one code without a value.  Descending keys use the complement of the unit.
 *
 * Source: Conner 1977; Graefe, Implementing sorting in database systems, 2006.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/few.h"

#define SP__OVC_ENDED UINT64_MAX /* no record: after all others */
#define SP__OVC_UNIT_BYTES 7u
#define SP__OVC_VALUE_BITS (8 * SP__OVC_UNIT_BYTES)
#define SP__OVC_FIRST 0xFEu /* for unit 0 */
#define SP__OVC_UNIT_MAX (SP__OVC_FIRST - 1)
#define SP__OVC_BEYOND (UINT64_C(1) << SP__OVC_VALUE_BITS) /* of units without a value */

static inline uint64_t sp__ovc_value(const unsigned char *key, size_t bytes, size_t unit)
{
	size_t from = unit * SP__OVC_UNIT_BYTES;

	if (from >= bytes)
		return 0;
	return __builtin_bswap64(sp__load_few(key + from, bytes - from)) >>
	       (64 - SP__OVC_VALUE_BITS);
}

/* Returns the code of a key whose first different unit is known. */
static inline uint64_t sp__ovc_make(const unsigned char *key, size_t bytes, size_t unit,
				    bool descending)
{
	uint64_t v;

	if (unit >= SP__OVC_UNIT_MAX)
		return SP__OVC_BEYOND;
	v = sp__ovc_value(key, bytes, unit);
	if (descending)
		v ^= (UINT64_C(1) << SP__OVC_VALUE_BITS) - 1;
	return (uint64_t)(SP__OVC_FIRST - unit) << SP__OVC_VALUE_BITS | v;
}

/* Returns the offset from which keys with this code must be compared. */
static inline size_t sp__ovc_offset(uint64_t code)
{
	return (SP__OVC_FIRST - (size_t)(code >> SP__OVC_VALUE_BITS)) * SP__OVC_UNIT_BYTES;
}

/* Returns the code, at unit 0, of a key whose first eight bytes are these (sp__key_prefix()). */
static inline uint64_t sp__ovc_of_prefix(uint64_t prefix)
{
	return (uint64_t)SP__OVC_FIRST << SP__OVC_VALUE_BITS | prefix >> (64 - SP__OVC_VALUE_BITS);
}

/* Returns the offset of the first byte in which a and b differ, or min(an, bn). */
static inline size_t sp__mismatch(const unsigned char *a, size_t an, const unsigned char *b,
				  size_t bn, size_t from)
{
	size_t n = an < bn ? an : bn, i = from;
	uint64_t x, y;

	for (; i + 8 <= n; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return i + (size_t)__builtin_ctzll(x ^ y) / 8;
	}
	if (i >= n)
		return i;
	x = sp__load_few(a + i, n - i) ^ sp__load_few(b + i, n - i);
	return x ? i + (size_t)__builtin_ctzll(x) / 8 : n;
}

/* Compares as memcmp() does, shorter first; the first i bytes are equal. */
static inline int sp__order_at(const unsigned char *a, size_t an, const unsigned char *b, size_t bn,
			       size_t i)
{
	if (i < an && i < bn)
		return a[i] < b[i] ? -1 : 1;
	return (an > bn) - (an < bn);
}
