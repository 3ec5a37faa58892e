/* SPDX-License-Identifier: MIT */
/*
 * Generates random numbers that are the same on every machine: splitmix64 (Steele, Lea, Flood
 * 2014).
 *
 * The state is one word, so streams are cheap: seed each with sp__mix64() of its identity.
 */
#pragma once

#include <stdint.h>

struct sp__rng {
	uint64_t state;
};

static inline uint64_t sp__mix64(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static inline uint64_t sp__rng_next(struct sp__rng *r)
{
	return sp__mix64(r->state += 0x9E3779B97F4A7C15u);
}

/* Returns a number uniform in [0, n), n > 0; the bias is below n / 2^64. */
static inline uint64_t sp__rng_below(struct sp__rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)sp__rng_next(r) * n) >> 64);
}

/* Returns a number uniform in [0, 1). */
static inline double sp__rng_real(struct sp__rng *r)
{
	return (double)(sp__rng_next(r) >> 11) * 0x1p-53;
}
