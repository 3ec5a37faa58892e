/* SPDX-License-Identifier: MIT */
/*
 * Compares two numbers: minimum, maximum, difference, order, and greatest common divisor.
 */
#pragma once

#include <stdint.h>

static inline uint64_t sp__min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t sp__max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static inline uint64_t sp__absdiff(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Orders two numbers for qsort(). */
#define SP__ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static inline uint64_t sp__gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}
