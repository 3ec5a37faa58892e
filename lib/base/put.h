/* SPDX-License-Identifier: MIT */
/*
 * Converts numbers to text without branches on their length.  Eight digits are made simultaneously
 * in the bytes of one word (first digit in the lowest byte), leading zeros are shifted out, and
 * eight bytes are always stored.
 */
#pragma once

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define SP__ZEROS 0x3030303030303030u

static inline char *sp__put_word(char *p, uint64_t bytes)
{
	bytes = htole64(bytes);
	memcpy(p, &bytes, 8);
	return p + 8;
}

/* Returns the digits of v < 10^8 as numbers 0 .. 9, one per byte. */
static inline uint64_t sp__digits8(uint32_t v)
{
	uint64_t fours = (v / 10000) | (uint64_t)(v % 10000) << 32;
	uint64_t high = (fours * 10486 >> 20) & 0x0000007F0000007Fu;
	uint64_t twos = high | (fours - high * 100) << 16;
	uint64_t tens = (twos * 103 >> 10) & 0x000F000F000F000Fu;

	return tens | (twos - tens * 10) << 8;
}

static inline char *sp__put_fixed8(char *p, uint32_t v)
{
	return sp__put_word(p, sp__digits8(v) | SP__ZEROS);
}

static inline char *sp__put_below_1e8(char *p, uint32_t v)
{
	uint64_t d = sp__digits8(v);
	unsigned int zeros = (unsigned int)__builtin_ctzll(d | (uint64_t)1 << 56) / 8;

	sp__put_word(p, (d | SP__ZEROS) >> (8 * zeros));
	return p + 8 - zeros;
}

static inline char *sp__put_u64(char *p, uint64_t v)
{
	if (v < 100000000)
		return sp__put_below_1e8(p, (uint32_t)v);
	p = sp__put_u64(p, v / 100000000);
	return sp__put_fixed8(p, (uint32_t)(v % 100000000));
}

/* Writes exactly n digits, n <= 8. */
static inline char *sp__put_digits(char *p, uint32_t v, unsigned int n)
{
	sp__put_word(p, (sp__digits8(v) | SP__ZEROS) >> (8 * (8 - n)));
	return p + n;
}

/* Returns 8 upper-case hexadecimal digits, one per byte. */
static inline uint64_t sp__hex8(uint32_t v)
{
	uint64_t x = __builtin_bswap32(v), carry;

	x = (x | x << 16) & 0x0000FFFF0000FFFFu;
	x = (x | x << 8) & 0x00FF00FF00FF00FFu;
	x = ((x & 0x000F000F000F000Fu) << 8) | ((x >> 4) & 0x000F000F000F000Fu);
	carry = ((x + 0x0606060606060606u) >> 4) & 0x0101010101010101u;
	return x + SP__ZEROS + carry * ('A' - '0' - 10);
}

static inline char *sp__put_hex16(char *p, uint64_t v)
{
	p = sp__put_word(p, sp__hex8((uint32_t)(v >> 32)));
	return sp__put_word(p, sp__hex8((uint32_t)v));
}
