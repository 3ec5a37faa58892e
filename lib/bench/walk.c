/* SPDX-License-Identifier: MIT */
/*
 * Computes the offsets of requests (walk.h).
 */
#include <math.h>
#include "base/minmax.h"
#include "bench/walk.h"

/* Computes the integral of x^-theta; h_inverse() is its inverse. */
static double h(const struct sp__walk_zipf *z, double x)
{
	double e = 1 - z->theta, lx = log(x);

	return fabs(e * lx) < 1e-9 ? lx : expm1(e * lx) / e;
}

static double h_inverse(const struct sp__walk_zipf *z, double y)
{
	double e = 1 - z->theta, t = e * y;

	return fabs(t) < 1e-9 ? exp(y) : exp(log1p(t < -1 ? -1 : t) / e);
}

static void zipf_init(struct sp__walk_zipf *z, uint64_t n, double theta)
{
	z->theta = theta;
	z->n = n;
	z->h_first = h(z, 1.5) - 1;
	z->h_last = h(z, (double)n + 0.5);
	z->cut = 2 - h_inverse(z, h(z, 2.5) - pow(2, -theta));
}

/* Returns a rank; 0 is the most popular. */
static uint64_t zipf_next(const struct sp__walk_zipf *z, struct sp__rng *rng)
{
	for (;;) {
		double u = z->h_last + sp__rng_real(rng) * (z->h_first - z->h_last);
		double x = h_inverse(z, u), k = floor(x + 0.5);

		if (k < 1)
			k = 1;
		else if (k > (double)z->n)
			k = (double)z->n;
		if (k - x <= z->cut || u >= h(z, k + 0.5) - pow(k, -z->theta))
			return (uint64_t)k - 1;
	}
}

void sp__walk_init(struct sp__walk *w, const struct sp_bench_class *c, uint64_t begin,
		   uint64_t bytes)
{
	*w = (struct sp__walk){ .pattern = c->pattern, .begin = begin, .unit = c->bytes };
	w->units = bytes / c->bytes;
	w->stride = c->stride_bytes / c->bytes;
	if (w->pattern != SP_BENCH_ZIPF)
		return;
	zipf_init(&w->zipf, w->units, c->theta);
	/* The golden section puts neighbouring ranks far apart. */
	w->spread = (uint64_t)((double)w->units * 0.6180339887) | 1;
	while (sp__gcd(w->spread, w->units) != 1)
		w->spread += 2;
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
		unit = (uint64_t)((unsigned __int128)zipf_next(&w->zipf, rng) * w->spread %
				  w->units);
		break;
	default:
		unit = w->at;
		w->at = w->at + 1 < w->units ? w->at + 1 : 0;
	}
	return w->begin + unit * w->unit;
}
