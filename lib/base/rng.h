/* SPDX-License-Identifier: MIT */
/*
 * Generates random numbers and permutations that are the same on every machine: splitmix64 (Steele,
 * Lea, Flood 2014).
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

/*
 * A permutation of [0, n) by a seed, without memory: a Feistel network over the next power of two,
 * whose halves can differ by one bit, is applied until the result is below n.  The domain is less
 * than 2n, so the mean is fewer than two steps.
 */

#define SP__PERM_ROUNDS 6

struct sp__perm {
	uint64_t n;
	unsigned int low_bits;
	uint64_t low_mask, high_mask;
	uint64_t keys[SP__PERM_ROUNDS];
};

static inline void sp__perm_init(struct sp__perm *s, uint64_t n, uint64_t seed)
{
	unsigned int bits = n > 2 ? 64 - (unsigned int)__builtin_clzll(n - 1) : 1;
	struct sp__rng r = { seed };

	s->n = n;
	s->low_bits = bits - bits / 2;
	s->low_mask = ((uint64_t)1 << s->low_bits) - 1;
	s->high_mask = ((uint64_t)1 << bits / 2) - 1;
	for (int i = 0; i < SP__PERM_ROUNDS; i++)
		s->keys[i] = sp__rng_next(&r);
}

static inline uint64_t sp__perm_round(uint64_t half, uint64_t key)
{
	uint64_t z = (half + key) * 0xBF58476D1CE4E5B9u;

	return (z ^ key) >> 32;
}

static inline uint64_t sp__perm_at(const struct sp__perm *s, uint64_t i)
{
	uint64_t low, high;

	do {
		low = i & s->low_mask;
		high = i >> s->low_bits;
		for (int k = 0; k < SP__PERM_ROUNDS; k += 2) {
			high ^= sp__perm_round(low, s->keys[k]) & s->high_mask;
			low ^= sp__perm_round(high, s->keys[k + 1]) & s->low_mask;
		}
		i = high << s->low_bits | low;
	} while (i >= s->n);
	return i;
}

/*
 * Numbers of a Zipf distribution: ranks are drawn by rejection from the inverse of the integral
 * (Hoermann & Derflinger 1996) and scattered by a bijection, so that popular numbers are not
 * adjacent.  Immutable once made.
 */
struct sp__ranks {
	double theta, h_first, h_last, cut;
	uint64_t n, spread;
};

/* Prepares numbers below n, at least 1; the k-th most popular has probability ~ k^-theta. */
void sp__ranks_init(struct sp__ranks *z, uint64_t n, double theta);
uint64_t sp__ranks_next(const struct sp__ranks *z, struct sp__rng *rng);
