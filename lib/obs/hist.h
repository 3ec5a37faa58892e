/* SPDX-License-Identifier: MIT */
/*
 * Counts durations in a histogram whose quantiles have a relative error of at most 0.8 %.
 *
 * Algorithm: values below 64 have a bucket each.  Above, every power of two is divided into 64
 * buckets of equal width, so a bucket is at most 1/64 (1.6 %) of its values wide.  A quantile is
 * the middle of its bucket, but never outside the minimum and the maximum.  These two and the sum
 * are exact.  Histograms can be added and subtracted.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <stdint.h>

#define SP__HIST_BITS 6
#define SP__HIST_BUCKETS ((64 - SP__HIST_BITS + 1) << SP__HIST_BITS)

struct sp__hist {
	uint64_t count, sum;
	uint64_t min, max; /* undefined while count is 0 */
	uint64_t buckets[SP__HIST_BUCKETS];
};

static inline unsigned sp__hist_bucket(uint64_t value)
{
	unsigned shift;

	if (value < 1u << SP__HIST_BITS)
		return (unsigned)value;
	shift = 63 - SP__HIST_BITS - (unsigned)__builtin_clzll(value);
	return (shift << SP__HIST_BITS) + (unsigned)(value >> shift);
}

static inline void sp__hist_add(struct sp__hist *h, uint64_t value)
{
	if (!h->count || value < h->min)
		h->min = value;
	if (!h->count || value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->buckets[sp__hist_bucket(value)]++;
}

void sp__hist_clear(struct sp__hist *h);
void sp__hist_merge(struct sp__hist *into, const struct sp__hist *from);
/*
 * Computes the values added since an earlier copy; minimum and maximum have the precision of a
 * bucket.
 */
void sp__hist_since(struct sp__hist *diff, const struct sp__hist *now,
		    const struct sp__hist *earlier);
/* Returns the number of values below a limit, within the precision of the bucket of the limit. */
uint64_t sp__hist_below(const struct sp__hist *h, uint64_t limit);
/* Returns the value that a share q (0 to 1) of all values do not exceed, or 0 if there are none. */
uint64_t sp__hist_quantile(const struct sp__hist *h, double q);
