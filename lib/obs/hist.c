/* SPDX-License-Identifier: MIT */
/*
 * Counts durations in buckets, and computes quantiles of them.
 */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "obs/hist.h"

#define PER_OCTAVE (1u << SP__HIST_BITS)

static uint64_t lowest(unsigned bucket)
{
	unsigned shift = bucket >> SP__HIST_BITS;

	if (shift <= 1)
		return bucket;
	return (uint64_t)(PER_OCTAVE + (bucket & (PER_OCTAVE - 1))) << (shift - 1);
}

static uint64_t width(unsigned bucket)
{
	unsigned shift = bucket >> SP__HIST_BITS;

	return shift <= 1 ? 1 : (uint64_t)1 << (shift - 1);
}

void sp__hist_clear(struct sp__hist *h)
{
	memset(h, 0, sizeof(*h));
}

void sp__hist_merge(struct sp__hist *into, const struct sp__hist *from)
{
	if (!from->count)
		return;
	if (!into->count || from->min < into->min)
		into->min = from->min;
	if (!into->count || from->max > into->max)
		into->max = from->max;
	into->count += from->count;
	into->sum += from->sum;
	for (unsigned i = 0; i < SP__HIST_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

void sp__hist_since(struct sp__hist *diff, const struct sp__hist *now,
		    const struct sp__hist *earlier)
{
	diff->count = now->count - earlier->count;
	diff->sum = now->sum - earlier->sum;
	diff->min = diff->max = 0;
	if (!diff->count) {
		memset(diff->buckets, 0, sizeof(diff->buckets));
		return;
	}
	diff->min = UINT64_MAX;
	for (unsigned i = 0; i < SP__HIST_BUCKETS; i++) {
		diff->buckets[i] = now->buckets[i] - earlier->buckets[i];
		if (!diff->buckets[i])
			continue;
		diff->min = sp__min(diff->min, lowest(i));
		diff->max = lowest(i) + width(i) - 1;
	}
	diff->min = sp__max(diff->min, now->min);
	diff->max = sp__min(diff->max, now->max);
}

uint64_t sp__hist_quantile(const struct sp__hist *h, double q)
{
	double rank = ceil(q * (double)h->count);
	uint64_t want = rank < 1 ? 1 : (uint64_t)rank, seen = 0, value;
	unsigned i;

	if (!h->count)
		return 0;
	if (want >= h->count)
		return h->max;
	for (i = 0; i < SP__HIST_BUCKETS - 1; i++) {
		seen += h->buckets[i];
		if (seen >= want)
			break;
	}
	value = lowest(i) + (width(i) - 1) / 2;
	return sp__min(sp__max(value, h->min), h->max);
}

uint64_t sp__hist_below(const struct sp__hist *h, uint64_t limit)
{
	unsigned end = sp__hist_bucket(limit);
	uint64_t n = 0;

	for (unsigned i = 0; i < end; i++)
		n += h->buckets[i];
	return n;
}
