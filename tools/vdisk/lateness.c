/* SPDX-License-Identifier: MIT */
/*
 * Counts late answers by size, and computes quantiles.
 */
#include "vdisk.h"

#define SUB 16 /* classes of a power of two */

/* Returns the class of a value; each value below 2 * SUB is its own class. */
static unsigned class_of(uint64_t ns)
{
	unsigned shift = 0;

	while (ns >> shift >= 2 * SUB)
		shift++;
	return shift * SUB + (unsigned)(ns >> shift);
}

/* Returns the largest value of a class. */
static uint64_t top_of(unsigned class)
{
	unsigned shift = class < 2 * SUB ? 0 : class / SUB - 1;

	return ((uint64_t)(class - shift * SUB + 1) << shift) - 1;
}

void lateness_add(struct lateness *l, uint64_t ns)
{
	l->n++;
	l->count[class_of(ns)]++;
	if (ns > l->max_ns)
		l->max_ns = ns;
}

uint64_t lateness_quantile(const struct lateness *l, double share)
{
	uint64_t want = (uint64_t)((double)l->n * share), seen = 0, top;

	for (unsigned i = 0; i < LATENESS_CLASSES; i++) {
		seen += l->count[i];
		if (seen > want || (seen && seen == l->n)) {
			top = top_of(i);
			return top < l->max_ns ? top : l->max_ns;
		}
	}
	return 0;
}
