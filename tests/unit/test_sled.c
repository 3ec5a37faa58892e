/* SPDX-License-Identifier: MIT */
/*
 * The sled of MEMS storage: its times, exactly, and against an integration of its motion.
 */
#include <math.h>
#include "base/rng.h"
#include "dev/sled.h"
#include "tap.h"

#define HALF_M 50e-6
#define ACCELERATION 803.6
#define SPRING 0.75
#define STEP_S 5e-9

/* In um and mm/s, to the right. */
struct path {
	double from, to, v0, v1;
	double us; /* as computed by hand */
};

static const struct path paths[] = {
	{ -50, 50, 0, 0, 554.5 },   { 0, 50, 0, 0, 457.6 },	 { -10, 10, 0, 0, 297.5 },
	{ 0, 0.04, 0, 0, 14.1 },    { -50, -49.96, 0, 0, 21.3 }, { -40, 30, 28, 28, 449.6 },
	{ 0, 0, -28, 28, 69.3 },    { -45, -45, -28, 28, 41.5 }, /* turns where the spring helps */
	{ 45, 45, -28, 28, 205.3 }, { -20, -15, 0, 28, 0 },	 { -20, 35, 28, 0, 0 },
	{ 10, 12, -28, -28, 0 },
};
#define PATHS (sizeof(paths) / sizeof(*paths))

static struct sp__sledpoint point(const struct sp__sled *s, double um, double mm_s)
{
	return (struct sp__sledpoint){ sp__sled_length(s, um * 1e-6),
				       sp__sled_speed(s, mm_s * 1e-3) };
}

static double seek_us(const struct sp__sled *s, const struct path *p, bool mirrored)
{
	double sign = mirrored ? -1 : 1;

	return (double)sp__sled_seek_ns(s, point(s, sign * p->from, sign * p->v0),
					point(s, sign * p->to, sign * p->v1)) *
	       1e-3;
}

/* One step by the midpoint rule. force: 1 or -1. */
static void step(double *x, double *v, int force)
{
	double k = SPRING * ACCELERATION / HALF_M;
	double mid_x = *x + *v * STEP_S / 2;
	double mid_v = *v + (force * ACCELERATION - k * *x) * STEP_S / 2;

	*x += mid_v * STEP_S;
	*v += (force * ACCELERATION - k * mid_x) * STEP_S;
}

/* Accelerates for some steps, and brakes to the speed v1.  Returns all steps; *x: the end. */
static double drive(const struct path *p, unsigned steps, double *x)
{
	double v = p->v0 * 1e-3, v1 = p->v1 * 1e-3, before = v, x_before;
	unsigned n;

	*x = p->from * 1e-6;
	for (n = 0; n < steps; n++)
		step(x, &v, 1);
	x_before = *x;
	before = v;
	for (; v > v1; n++) {
		before = v;
		x_before = *x;
		step(x, &v, -1);
	}
	if (before <= v)
		return n;
	*x = x_before + (*x - x_before) * (before - v1) / (before - v);
	return n - 1 + (before - v1) / (before - v);
}

/* Finds when to brake, so that the path ends where it has to. */
static double integrated_us(const struct path *p)
{
	unsigned lo = 0, hi = 200000;
	double x0, x1, n0, n1, part;

	while (hi - lo > 1) {
		unsigned mid = (lo + hi) / 2;

		drive(p, mid, &x0);
		*(x0 < p->to * 1e-6 ? &lo : &hi) = mid;
	}
	n0 = drive(p, lo, &x0);
	n1 = drive(p, hi, &x1);
	part = (p->to * 1e-6 - x0) / (x1 - x0);
	return (n0 + part * (n1 - n0)) * STEP_S * 1e6;
}

static void check_paths(const struct sp__sled *s)
{
	for (unsigned i = 0; i < PATHS; i++) {
		const struct path *p = &paths[i];
		double us = seek_us(s, p, false);

		if (p->us > 0)
			ok(fabs(us / p->us - 1) < 0.005, "%g to %g um, %g to %g mm/s: %.1f us",
			   p->from, p->to, p->v0, p->v1, us);
		ok(fabs(us - seek_us(s, p, true)) < 0.0015, "%.1f us to the other side, too", us);
		ok(fabs(us - integrated_us(p)) < 0.02, "%.3f us is %.3f us by steps of 5 ns", us,
		   integrated_us(p));
	}
}

/* Random ones, which also go to the left: the shorter of a path and its mirror image exists. */
static void check_random(const struct sp__sled *s)
{
	struct sp__rng rng = { 3 };
	double worst = 0;

	for (int i = 0; i < 40; i++) {
		struct path p = { (double)sp__rng_below(&rng, 97000) / 1e3 - 48.5,
				  (double)sp__rng_below(&rng, 97000) / 1e3 - 48.5,
				  28 * ((double)sp__rng_below(&rng, 3) - 1), 0, 0 };
		bool left;

		p.v1 = p.v0 * ((double)sp__rng_below(&rng, 3) - 1);
		left = fabs(p.v0) == fabs(p.v1) ? p.to < p.from : p.to - p.from < p.v0 * 0.15;
		if (fabs(p.to - p.from) < 10)
			continue;
		if (left)
			p = (struct path){ -p.from, -p.to, -p.v0, -p.v1, 0 };
		worst = fmax(worst, fabs(seek_us(s, &p, false) - integrated_us(&p)));
	}
	ok(worst < 0.02, "random paths differ from the integration by at most %.4f us", worst);
}

static void check_mean(const struct sp__sled *s)
{
	struct sp__rng rng = { 1 };
	double sum = 0;

	for (int i = 0; i < 200000; i++) {
		struct path p = { ((double)sp__rng_below(&rng, 2500) + 0.5) * 0.04 - 50,
				  ((double)sp__rng_below(&rng, 2500) + 0.5) * 0.04 - 50, 0, 0, 0 };

		sum += seek_us(s, &p, false);
	}
	ok(fabs(sum / 200000 / 348 - 1) < 0.005, "a random seek takes %.1f us", sum / 200000);
}

/* A longer way never takes less time, on which the bounds of positioning times rely. */
static void check_monotone(const struct sp__sled *s)
{
	unsigned wrong = 0;

	for (int from = -50; from <= 50; from += 5) {
		uint64_t last = 0;

		for (int i = 0; i <= 5000; i++) {
			double to = from + i * 0.02;
			uint64_t ns;

			if (to > 50)
				break;
			ns = sp__sled_seek_ns(s, point(s, from, 0), point(s, to, 0));
			wrong += ns < last;
			last = ns;
		}
	}
	ok(!wrong, "a longer seek never takes less time");
}

static void check_stop(const struct sp__sled *s)
{
	struct sp__sledpoint p = point(s, 0, 28), q = point(s, -30, -28), still = point(s, 7, 0);
	uint64_t reversal_ns = sp__sled_seek_ns(s, p, point(s, 0, -28));
	uint64_t ns = sp__sled_stop(s, &p);

	ok(llabs((long long)(2 * ns) - (long long)reversal_ns) <= 1 && !p.speed && p.at > 0,
	   "stopping takes half of a turn, %.1f us", (double)ns * 1e-3);
	ns = sp__sled_stop(s, &q);
	ok(ns && !q.speed && q.at < point(s, -30, 0).at, "so does stopping to the left");
	ok(!sp__sled_stop(s, &still) && still.at == point(s, 7, 0).at, "a sled at rest stays");
	ok(!sp__sled_seek_ns(s, still, still), "and no way takes no time");
}

/* Equal on all machines: computed with integers. */
static void check_exact(const struct sp__sled *s)
{
	struct sp__rng rng = { 9 };
	uint64_t sum = 0;

	for (int i = 0; i < 100000; i++) {
		struct sp__sledpoint a, b;

		a.at = (int64_t)sp__rng_below(&rng, 1500000000) - 750000000;
		b.at = (int64_t)sp__rng_below(&rng, 1500000000) - 750000000;
		a.speed = (int64_t)sp__rng_below(&rng, 260000000) - 130000000;
		b.speed = (int64_t)sp__rng_below(&rng, 260000000) - 130000000;
		sum = sum * 31 + sp__sled_seek_ns(s, a, b);
	}
	ok(sum == UINT64_C(9972185350348338115),
	   "100,000 paths take the same nanoseconds on all machines: %llu",
	   (unsigned long long)sum);
}

int main(void)
{
	struct sp__sled s;

	sp__sled_init(&s, HALF_M, ACCELERATION, SPRING);
	check_paths(&s);
	check_random(&s);
	check_mean(&s);
	check_monotone(&s);
	check_stop(&s);
	check_exact(&s);
	return done();
}
