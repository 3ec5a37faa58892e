/* SPDX-License-Identifier: MIT */
/*
 * Draws numbers of a Zipf distribution (rng.h).
 */
#include <math.h>
#include "base/minmax.h"
#include "base/rng.h"

/* Computes the integral of x^-theta; h_inverse() is its inverse. */
static double h(const struct sp__ranks *z, double x)
{
	double e = 1 - z->theta, lx = log(x);

	return fabs(e * lx) < 1e-9 ? lx : expm1(e * lx) / e;
}

static double h_inverse(const struct sp__ranks *z, double y)
{
	double e = 1 - z->theta, t = e * y;

	return fabs(t) < 1e-9 ? exp(y) : exp(log1p(t < -1 ? -1 : t) / e);
}

void sp__ranks_init(struct sp__ranks *z, uint64_t n, double theta)
{
	z->theta = theta;
	z->n = n;
	z->h_first = h(z, 1.5) - 1;
	z->h_last = h(z, (double)n + 0.5);
	z->cut = 2 - h_inverse(z, h(z, 2.5) - pow(2, -theta));
	/* The golden section puts neighbouring ranks far apart. */
	z->spread = (uint64_t)((double)n * 0.6180339887) | 1;
	while (sp__gcd(z->spread, n) != 1)
		z->spread += 2;
}

/* Returns a rank; 0 is the most popular. */
static uint64_t next_rank(const struct sp__ranks *z, struct sp__rng *rng)
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

uint64_t sp__ranks_next(const struct sp__ranks *z, struct sp__rng *rng)
{
	return (uint64_t)((unsigned __int128)next_rank(z, rng) * z->spread % z->n);
}
