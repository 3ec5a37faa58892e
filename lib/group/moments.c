/* SPDX-License-Identifier: MIT */
/* Sums of squares and products (moments.h). */
#include <math.h>
#include <string.h>
#include "group/moments.h"

#define UNIT SP__UNITS
#define PRODUCT_END ((sp__int128)1 << 120) /* squares of less have 240 bits */

__extension__ typedef unsigned __int128 wide128;

/* Adds v to the limbs from number i on. */
static void add_at(struct sp__wide *w, unsigned i, uint64_t v)
{
	for (; i < 4 && v; i++)
		v = __builtin_add_overflow(w->limbs[i], v, &w->limbs[i]);
}

static void negate(struct sp__wide *w)
{
	for (unsigned i = 0; i < 4; i++)
		w->limbs[i] = ~w->limbs[i];
	add_at(w, 0, 1);
}

void sp__wide_add(struct sp__wide *w, const struct sp__wide *more)
{
	for (unsigned i = 0; i < 4; i++)
		add_at(w, i, more->limbs[i]);
}

void sp__wide_add_product(struct sp__wide *w, sp__int128 a, sp__int128 b)
{
	const bool minus = (a < 0) != (b < 0);
	const wide128 x = a < 0 ? -(wide128)a : (wide128)a, y = b < 0 ? -(wide128)b : (wide128)b;
	struct sp__wide p = { { 0 } };

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned k = 0; k < 2; k++) {
			wide128 part = (wide128)(uint64_t)(x >> 64 * i) * (uint64_t)(y >> 64 * k);

			add_at(&p, i + k, (uint64_t)part);
			add_at(&p, i + k + 1, (uint64_t)(part >> 64));
		}
	}
	if (minus)
		negate(&p);
	sp__wide_add(w, &p);
}

/* Adds a * b. */
static void add_product(struct sp__exactsum *s, double a, double b)
{
	const double high = a * b;

	sp__exactsum_add(s, high);
	if (isfinite(high))
		sp__exactsum_add(s, fma(a, b, -high));
}

/* Squares of numbers from here on are added scaled. */
#define LARGE 0x1p300
#define SCALE_LIMBS 22 /* of the number: a division by 2^704 */
#define SCALE (32 * SCALE_LIMBS)
/* So are those of numbers below this; squares of others have all their bits. */
#define SMALL 0x1p-300
#define UP_LIMBS 18 /* of the number: a multiplication by 2^576 */
#define UP (32 * UP_LIMBS)

void sp__reals_add(struct sp__exactsum *reals, double x)
{
	const double size = fabs(x), down = size >= LARGE ? ldexp(x, -SCALE) : 0,
		     up = size < SMALL ? ldexp(x, UP) : 0;

	sp__exactsum_add(&reals[SP__REAL_X], x);
	if (size >= LARGE)
		add_product(&reals[SP__REAL_LARGE], down, down);
	else if (size < SMALL)
		add_product(&reals[SP__REAL_SMALL], up, up);
	else
		add_product(&reals[SP__REAL_XX], x, x);
}

void sp__reals_add_pair(struct sp__exactsum *reals, double x, double y)
{
	sp__exactsum_add(&reals[SP__REAL_X], x);
	add_product(&reals[SP__REAL_XX], x, x);
	sp__exactsum_add(&reals[SP__REAL_Y], y);
	add_product(&reals[SP__REAL_YY], y, y);
	add_product(&reals[SP__REAL_XY], x, y);
}

/* A number as a sum of f64, of which each is half a unit in the last place of the one before. */
#define PARTS 4

struct parts {
	double at[PARTS];
};

static struct parts divide_up(struct sp__exactsum s)
{
	struct parts p;

	for (unsigned i = 0; i < PARTS; i++) {
		p.at[i] = sp__exactsum_divide(&s, 1);
		sp__exactsum_add(&s, -p.at[i]);
	}
	return p;
}

static void add_scaled(struct sp__exactsum *s, const struct sp__exactsum *reals, double scale)
{
	const struct parts p = divide_up(*reals);

	for (unsigned i = 0; i < PARTS; i++)
		add_product(s, p.at[i], scale);
}

static void add_limb(struct sp__exactsum *s, uint64_t v, int exponent, double sign)
{
	sp__exactsum_add(s, sign * ldexp((double)(uint32_t)v, exponent));
	sp__exactsum_add(s, sign * ldexp((double)(uint32_t)(v >> 32), exponent + 32));
}

/*
 * Returns a sum in units, of exact numbers, which are scaled by 2^exponent, and of reals, which may
 * be NULL.
 */
static struct parts first_moment(sp__int128 units, int exponent, const struct sp__exactsum *reals)
{
	const wide128 m = units < 0 ? -(wide128)units : (wide128)units;
	struct sp__exactsum s = { 0 };

	add_limb(&s, (uint64_t)m, exponent, units < 0 ? -1 : 1);
	add_limb(&s, (uint64_t)(m >> 64), exponent + 64, units < 0 ? -1 : 1);
	if (reals)
		add_scaled(&s, reals, UNIT);
	return divide_up(s);
}

/* The same for a sum of products, in squares of units. */
static struct parts second_moment(struct sp__wide w, int exponent, const struct sp__exactsum *reals)
{
	const bool minus = w.limbs[3] >> 63;
	struct sp__exactsum s = { 0 };

	if (minus)
		negate(&w);
	for (int i = 0; i < 4; i++)
		add_limb(&s, w.limbs[i], exponent + 64 * i, minus ? -1 : 1);
	if (reals)
		add_scaled(&s, reals, (double)UNIT * UNIT);
	return divide_up(s);
}

/* Returns (n ab - a b) / n, in squares of 1. */
static double deviation(uint64_t n, const struct parts *ab, const struct parts *a,
			const struct parts *b)
{
	const double n_parts[2] = { (double)(n >> 32) * 0x1p32, (double)(uint32_t)n };
	struct sp__exactsum s = { 0 };

	for (unsigned i = 0; i < PARTS; i++) {
		add_product(&s, ab->at[i], n_parts[0]);
		add_product(&s, ab->at[i], n_parts[1]);
		for (unsigned k = 0; k < PARTS; k++)
			add_product(&s, -a->at[i], b->at[k]);
	}
	return sp__exactsum_divide(&s, n) / ((double)UNIT * UNIT);
}

/* Multiplies by n.  False: the product has more than 255 bits. */
static bool multiply(struct sp__wide *w, uint64_t n)
{
	const bool minus = w->limbs[3] >> 63;
	uint64_t carry = 0;

	if (minus)
		negate(w);
	for (unsigned i = 0; i < 4; i++) {
		const wide128 p = (wide128)w->limbs[i] * n + carry;

		w->limbs[i] = (uint64_t)p;
		carry = (uint64_t)(p >> 64);
	}
	if (carry || w->limbs[3] >> 63)
		return false;
	if (minus)
		negate(w);
	return true;
}

/* Returns the nearest f64. */
static double wide_f64(struct sp__wide w)
{
	const bool minus = w.limbs[3] >> 63;
	unsigned top = 3;
	wide128 m;
	bool rest = false;
	double x;

	if (minus)
		negate(&w);
	while (top > 1 && !w.limbs[top])
		top--;
	for (unsigned i = 0; i + 1 < top; i++)
		rest |= w.limbs[i] != 0;
	/* What is below counts only where 128 bits are halfway between two f64. */
	m = (wide128)w.limbs[top] << 64 | w.limbs[top - 1];
	x = ldexp((double)(m | rest), 64 * (int)(top - 1));
	return minus ? -x : x;
}

/* Returns (n ab - a b) / n, in squares of 1, of exact numbers; NaN: it has too many bits. */
static double exact_deviation(uint64_t n, struct sp__wide ab, sp__int128 a, sp__int128 b)
{
	struct sp__wide d = { { 0 } };

	if (!multiply(&ab, n) || a >= PRODUCT_END || a <= -PRODUCT_END || b >= PRODUCT_END ||
	    b <= -PRODUCT_END)
		return (double)NAN;
	sp__wide_add_product(&d, a, b);
	negate(&d);
	sp__wide_add(&d, &ab);
	return wide_f64(d) / (double)n / ((double)UNIT * UNIT);
}

/* Divides by 2^(32 limbs); what is below the last limb is lost. */
static struct sp__exactsum scaled_down(const struct sp__exactsum *sum, unsigned limbs)
{
	struct sp__exactsum s = *sum;

	memmove(s.limbs, s.limbs + limbs, sizeof(*s.limbs) * (SP__EXACTSUM_LIMBS - limbs));
	memset(s.limbs + SP__EXACTSUM_LIMBS - limbs, 0, sizeof(*s.limbs) * limbs);
	return s;
}

/* True if there are numbers whose squares were added scaled. */
static bool has_large(const struct sp__group_moments *m, const struct sp__exactsum *reals)
{
	return reals && !m->pairs && sp__exactsum_divide(&reals[SP__REAL_LARGE], 1) > 0;
}

/* The same of numbers alone, of which some are large. */
static struct sp__deviations large_deviations(const struct sp__group_moments *m,
					      const struct sp__exactsum *reals)
{
	const struct sp__exactsum sum = scaled_down(&reals[SP__REAL_X], SCALE_LIMBS);
	struct sp__exactsum squares = scaled_down(&reals[SP__REAL_XX], 2 * SCALE_LIMBS);
	struct parts x, xx;

	sp__exactsum_merge(&squares, &reals[SP__REAL_LARGE]);
	x = first_moment(m->x, -SCALE, &sum);
	xx = second_moment(m->xx, -2 * SCALE, &squares);
	return (struct sp__deviations){ .xx = deviation(m->n, &xx, &x, &x), .exponent = 2 * SCALE };
}

/* True if all numbers are so small that their squares were added scaled, or 0. */
static bool is_small(const struct sp__group_moments *m, const struct sp__exactsum *reals)
{
	static const struct sp__wide none;

	return reals && !m->pairs && !has_large(m, reals) && !m->x &&
	       !memcmp(&m->xx, &none, sizeof(none)) &&
	       sp__exactsum_divide(&reals[SP__REAL_SMALL], 1) > 0 &&
	       !(fabs(sp__exactsum_divide(&reals[SP__REAL_XX], 1)) > 0);
}

/* The same of these. */
static struct sp__deviations small_deviations(const struct sp__group_moments *m,
					      const struct sp__exactsum *reals)
{
	const struct parts p = divide_up(reals[SP__REAL_X]);
	struct sp__exactsum sum = { 0 };
	struct parts x, xx;

	for (unsigned i = 0; i < PARTS; i++)
		sp__exactsum_add(&sum, ldexp(p.at[i], UP));
	x = first_moment(0, 0, &sum);
	xx = second_moment(m->xx, 0, &reals[SP__REAL_SMALL]);
	return (struct sp__deviations){ .xx = deviation(m->n, &xx, &x, &x), .exponent = -2 * UP };
}

/* Squares of numbers alone that are not large. */
static struct sp__exactsum squares_of(const struct sp__exactsum *reals)
{
	struct sp__exactsum s = scaled_down(&reals[SP__REAL_SMALL], 2 * UP_LIMBS);

	sp__exactsum_merge(&s, &reals[SP__REAL_XX]);
	return s;
}

/* The same by sums of f64, for any numbers. */
static struct sp__deviations real_deviations(const struct sp__group_moments *m,
					     const struct sp__exactsum *reals)
{
#define REAL(i) (reals ? &reals[i] : NULL)
	const bool alone = reals && !m->pairs;
	const struct sp__exactsum squares = alone ? squares_of(reals) : (struct sp__exactsum){ 0 };
	const struct parts x = first_moment(m->x, 0, REAL(SP__REAL_X)),
			   xx = second_moment(m->xx, 0, alone ? &squares : REAL(SP__REAL_XX));
	struct sp__deviations d = { .xx = deviation(m->n, &xx, &x, &x) };
	struct parts y, yy, xy;

	if (!m->pairs)
		return d;
	y = first_moment(m->y, 0, REAL(SP__REAL_Y));
	yy = second_moment(m->yy, 0, REAL(SP__REAL_YY));
	xy = second_moment(m->xy, 0, REAL(SP__REAL_XY));
	d.yy = deviation(m->n, &yy, &y, &y);
	d.xy = deviation(m->n, &xy, &x, &y);
	return d;
#undef REAL
}

struct sp__deviations sp__moments_deviations(const struct sp__group_moments *m,
					     const struct sp__exactsum *reals)
{
	struct sp__deviations d = { .xx = exact_deviation(m->n, m->xx, m->x, m->x) };

	if (m->pairs) {
		d.yy = exact_deviation(m->n, m->yy, m->y, m->y);
		d.xy = exact_deviation(m->n, m->xy, m->x, m->y);
	}
	if (is_small(m, reals))
		return small_deviations(m, reals);
	if (reals || isnan(d.xx) || isnan(d.yy) || isnan(d.xy))
		return has_large(m, reals) ? large_deviations(m, reals) : real_deviations(m, reals);
	return d;
}
