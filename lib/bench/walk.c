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

static uint64_t shuffled(struct sp__walk *w, struct sp__rng *rng)
{
	if (w->at == w->units)
		w->at = 0;
	if (!w->at)
		sp__perm_init(&w->perm, w->units, sp__rng_next(rng));
	return sp__perm_at(&w->perm, w->at++);
}

uint64_t sp__walk_next(struct sp__walk *w, bool write, struct sp__rng *rng)
{
	uint64_t *next = write ? &w->write_at : &w->at, unit;

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
	case SP_BENCH_SHUFFLED:
		unit = shuffled(w, rng);
		break;
	default:
		unit = *next;
		*next = unit + 1 < w->units ? unit + 1 : 0;
	}
	return w->begin + unit * w->unit;
}
