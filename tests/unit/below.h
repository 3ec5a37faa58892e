/* SPDX-License-Identifier: MIT */
/*
 * Random numbers of a test: rng begins with its seed.
 */
#ifndef BELOW_H
#define BELOW_H

#include "base/rng.h"

static struct sp__rng rng;

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

/* The numbers 0 to n - 1, in any order. */
static inline void shuffle(unsigned *order, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		order[i] = i;
	for (unsigned i = n; i-- > 1;) {
		unsigned k = (unsigned)below(i + 1), old = order[i];

		order[i] = order[k];
		order[k] = old;
	}
}

#endif
