/* SPDX-License-Identifier: MIT */
/*
 * Adds f64 exactly, so that the sum does not depend on the order of the numbers, nor on how many
 * threads add them.  It is rounded once, when it is read.
 *
 * Algorithm: the sum is an integer in units of 2^-1075, in limbs of 32 bits, each in 64 bits: up to
 * SP__EXACTSUM_PENDING numbers are added before a carry is needed (Neal, "Fast exact summation
 * using small and large superaccumulators", 2015).
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* 2^1024 * 2^64 numbers, with a sign. */
#define SP__EXACTSUM_LIMBS 69
#define SP__EXACTSUM_PENDING 1024

/* Zeroed: no numbers. */
struct sp__exactsum {
	int64_t limbs[SP__EXACTSUM_LIMBS];
	uint32_t pending; /* numbers since the last carry */
	bool nan, plus_inf, minus_inf;
};

/* Reduces all limbs but the last to 32 bits. */
void sp__exactsum_carry(struct sp__exactsum *s);
void sp__exactsum_add_special(struct sp__exactsum *s, double x);
void sp__exactsum_merge(struct sp__exactsum *s, const struct sp__exactsum *more);
/*
 * Returns the sum divided by n > 0, rounded to the nearest f64, of two equally near ones to the
 * even one.  NaN if a NaN was added, or infinities of both signs; 0 without a sign.
 */
double sp__exactsum_divide(const struct sp__exactsum *s, uint64_t n);

static inline void sp__exactsum_add(struct sp__exactsum *s, double x)
{
	uint64_t bits, m, sign;
	unsigned exponent;

	memcpy(&bits, &x, sizeof(bits));
	exponent = bits >> 52 & 0x7FF;
	if (__builtin_expect(exponent == 0x7FF, 0)) {
		sp__exactsum_add_special(s, x);
		return;
	}
	m = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(exponent != 0) << 52;
	exponent += !exponent;
	sign = -(bits >> 63);
	s->limbs[exponent / 32] += (int64_t)(((m << exponent % 32 & UINT32_MAX) ^ sign) - sign);
	s->limbs[exponent / 32 + 1] += (int64_t)(((m >> (32 - exponent % 32)) ^ sign) - sign);
	if (__builtin_expect(++s->pending == SP__EXACTSUM_PENDING, 0))
		sp__exactsum_carry(s);
}
