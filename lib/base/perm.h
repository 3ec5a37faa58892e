/* SPDX-License-Identifier: MIT */
/*
 * Permutes [0, n) by a seed, without memory: a Feistel network over the next power of two, whose
 * halves can differ by one bit, is applied until the result is below n.  The domain is less than
 * 2n, so the mean is fewer than two steps.
 */
#pragma once

#include <stdint.h>
#include "base/rng.h"

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
