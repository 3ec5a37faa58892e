/* SPDX-License-Identifier: MIT */
/*
 * Keeps a set of small numbers: one bit each, in words of 64 bits.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words of a set of numbers below n. */
#define SP__BITS_WORDS(n) (((n) + 63) / 64)

static inline bool sp__bits_has(const uint64_t *set, uint64_t n)
{
	return set[n / 64] >> n % 64 & 1;
}

static inline void sp__bits_add(uint64_t *set, uint64_t n)
{
	set[n / 64] |= UINT64_C(1) << n % 64;
}

static inline void sp__bits_drop(uint64_t *set, uint64_t n)
{
	set[n / 64] &= ~(UINT64_C(1) << n % 64);
}
