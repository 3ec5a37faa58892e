/* SPDX-License-Identifier: MIT */
/*
 * Computes the offsets of requests, and judges steady states (walk.h).
 */
#include <math.h>
#include <string.h>
#include <spindle/bench.h>
#include "bench/walk.h"

/*
 * A steady state: the window is the last N rounds.  Its spread (maximum minus minimum) must be at
 * most 20 % of its mean.  The rise or fall of the least-squares line from the first round to the
 * last must be at most 10 % of the mean.  If x counts from the middle of the window, the slope of
 * the line is sum(x * y) / sum(x * x), where sum(x * x) = N (N^2 - 1) / 12.
 *
 * Rejected: a limit for the spread alone.  A device that slows down slightly in each round stays
 * below it.
 */

#define N SP_BENCH_STEADY_WINDOW
#define RANGE_MAX 0.2
#define SLOPE_MAX 0.1

static void judge(struct sp_bench_steady *s)
{
	double least = s->window[0].iops, greatest = least, sum = 0, xy = 0;

	for (int i = 0; i < N; i++) {
		double y = s->window[i].iops;

		least = fmin(least, y);
		greatest = fmax(greatest, y);
		sum += y;
		xy += (i - (N - 1) / 2.0) * y;
	}
	s->iops = sum / N;
	s->range = (greatest - least) / s->iops; /* NaN if nothing completed */
	s->slope = xy / (N * (N * N - 1) / 12.0) * (N - 1) / s->iops;
	s->reached = s->range <= RANGE_MAX && fabs(s->slope) <= SLOPE_MAX;
}

void sp__steady_add(struct sp_bench_steady *s, struct sp_bench_round round)
{
	if (s->nwindow == N)
		memmove(&s->window[0], &s->window[1], (N - 1) * sizeof(s->window[0]));
	else
		s->nwindow++;
	s->window[s->nwindow - 1] = round;
	s->rounds++;
	if (s->nwindow == N)
		judge(s);
}

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
