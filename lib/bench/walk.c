/* SPDX-License-Identifier: MIT */
/*
 * Computes the offsets of requests (walk.h).
 */
#include "bench/walk.h"

void sp__walk_init(struct sp__walk *w, const struct sp_bench_class *c, uint64_t begin,
		   uint64_t bytes)
{
	*w = (struct sp__walk){ .pattern = c->pattern, .begin = begin, .unit = c->bytes };
	w->units = bytes / c->bytes;
	w->stride = c->stride_bytes / c->bytes;
	if (w->pattern == SP_BENCH_ZIPF)
		sp__ranks_init(&w->ranks, w->units, c->theta);
}

/* Returns the next unit; each pass begins one unit after the previous pass. */
static uint64_t strided(struct sp__walk *w)
{
	uint64_t unit = w->at;

	w->at += w->stride;
	if (w->at >= w->units) {
		w->lane = (w->lane + 1) % (w->stride < w->units ? w->stride : w->units);
		w->at = w->lane;
	}
	return unit;
}

uint64_t sp__walk_next(struct sp__walk *w, struct sp__rng *rng)
{
	uint64_t unit;

	switch (w->pattern) {
	case SP_BENCH_RANDOM:
		unit = sp__rng_below(rng, w->units);
		break;
	case SP_BENCH_STRIDED:
		unit = strided(w);
		break;
	case SP_BENCH_ZIPF:
		unit = sp__ranks_next(&w->ranks, rng);
		break;
	default:
		unit = w->at;
		w->at = w->at + 1 < w->units ? w->at + 1 : 0;
	}
	return w->begin + unit * w->unit;
}
