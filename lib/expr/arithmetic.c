/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic with numbers of records (amount.h).
 */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "expr/amount.h"

static bool is_exact(const struct sp__amount *a, const struct sp__amount *b)
{
	return !a->is_real && !b->is_real;
}

static bool set_real(struct sp__amount *r, double x)
{
	*r = (struct sp__amount){ .is_real = true, .real = x };
	return isfinite(x);
}

/* Sets r to exact units, if they are few enough. */
static bool set_units(struct sp__amount *r, sp__int128 units, unsigned places)
{
	if (units >= SP__UNITS_END || units <= -SP__UNITS_END)
		return false;
	*r = (struct sp__amount){ .units = units, .places = places };
	return true;
}

/* Returns the fewest decimal places with which the units are printed whole. */
static unsigned places_of(sp__int128 units)
{
	unsigned places = SP__DECIMAL_PLACES;

	for (; places && units % 10 == 0; places--)
		units /= 10;
	return places;
}

unsigned sp__amount_places(const struct sp__amount *x)
{
	return x->is_real ? 0 : places_of(x->units);
}

struct sp__amount sp__amount_of(int64_t n)
{
	struct sp__amount x;

	if (!set_units(&x, (sp__int128)n * SP__UNITS, 0))
		(void)set_real(&x, (double)n);
	return x;
}

struct sp__amount sp__amount_negate(struct sp__amount x)
{
	if (x.is_real)
		x.real = -x.real;
	else
		x.units = -x.units;
	return x;
}

int sp__amount_order(const struct sp__amount *a, const struct sp__amount *b)
{
	unsigned char codes[2][SP__AMOUNT_CODE];
	size_t n, m;
	int order;

	if (is_exact(a, b))
		return (a->units > b->units) - (a->units < b->units);
	/* An exact number and an f64 are compared by their codes, which are exact. */
	n = sp__amount_encode(a, codes[0]);
	m = sp__amount_encode(b, codes[1]);
	order = memcmp(codes[0], codes[1], sp__min(n, m));
	return order ? order : (n > m) - (n < m);
}

bool sp__amount_add(struct sp__amount *r, const struct sp__amount *a, const struct sp__amount *b)
{
	if (is_exact(a, b) && set_units(r, a->units + b->units, sp__max(a->places, b->places)))
		return true;
	return set_real(r, sp__amount_f64(a) + sp__amount_f64(b));
}

bool sp__amount_subtract(struct sp__amount *r, const struct sp__amount *a,
			 const struct sp__amount *b)
{
	const struct sp__amount minus = sp__amount_negate(*b);

	return sp__amount_add(r, a, &minus);
}

/* Multiplies exact numbers, if the product has few enough digits. */
static bool multiply_exactly(struct sp__amount *r, const struct sp__amount *a,
			     const struct sp__amount *b)
{
	const unsigned pa = places_of(a->units), pb = places_of(b->units);
	const sp__int128 x = a->units / (sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - pa];
	const sp__int128 y = b->units / (sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - pb];
	const unsigned places = sp__min(SP__DECIMAL_PLACES, a->places + b->places);
	sp__int128 product, excess = 1;

	if (__builtin_mul_overflow(x, y, &product))
		return false;
	/* 0.5 * 0.000000002 has 9 decimal places. */
	if (pa + pb > SP__DECIMAL_PLACES)
		excess = (sp__int128)sp__powers_of_ten[pa + pb - SP__DECIMAL_PLACES];
	else if (__builtin_mul_overflow(product,
					(sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - pa - pb],
					&product))
		return false;
	if (product % excess)
		return false;
	product /= excess;
	return set_units(r, product, sp__max(places, places_of(product)));
}

bool sp__amount_multiply(struct sp__amount *r, const struct sp__amount *a,
			 const struct sp__amount *b)
{
	if (is_exact(a, b) && multiply_exactly(r, a, b))
		return true;
	return set_real(r, sp__amount_f64(a) * sp__amount_f64(b));
}

static bool is_zero(const struct sp__amount *x)
{
	/* NOLINTNEXTLINE(clang-diagnostic-float-equal): only 0 cannot divide */
	return x->is_real ? x->real == 0 : !x->units;
}

bool sp__amount_divide(struct sp__amount *r, const struct sp__amount *a, const struct sp__amount *b)
{
	sp__int128 quotient;

	if (is_zero(b))
		return false;
	if (is_exact(a, b) && a->units * SP__UNITS % b->units == 0) {
		quotient = a->units * SP__UNITS / b->units;
		if (set_units(r, quotient, places_of(quotient)))
			return true;
	}
	return set_real(r, sp__amount_f64(a) / sp__amount_f64(b));
}

bool sp__amount_modulo(struct sp__amount *r, const struct sp__amount *a, const struct sp__amount *b)
{
	if (is_zero(b))
		return false;
	if (is_exact(a, b))
		return set_units(r, a->units % b->units, sp__max(a->places, b->places));
	return set_real(r, fmod(sp__amount_f64(a), sp__amount_f64(b)));
}

/* Rounds to an integer. */
static double round_real(double x, enum sp__rounding how)
{
	return how == SP__ROUND_NEAREST ? round(x) : how == SP__ROUND_DOWN ? floor(x) : ceil(x);
}

/* Rounds an f64. */
static struct sp__amount round_f64(double x, int places, enum sp__rounding how)
{
	const double scale = places < 0 ? pow(10, -places) : (double)sp__powers_of_ten[places];
	struct sp__amount r;

	/* A number of this size has no fraction. */
	if (places >= 0 && fabs(x) >= ldexp(1, 53))
		(void)set_real(&r, x);
	else if (places >= 0)
		(void)set_units(&r,
				(sp__int128)round_real(x * scale, how) *
					(sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - places],
				(unsigned)places);
	else
		(void)set_real(&r, round_real(x / scale, how) * scale);
	return r;
}

struct sp__amount sp__amount_round(const struct sp__amount *x, int places, enum sp__rounding how)
{
	const unsigned shown = places < 0 ? 0 : (unsigned)places;
	sp__int128 step = (sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - shown], rest, units;
	struct sp__amount r;

	if (x->is_real)
		return round_f64(x->real, places, how);
	for (int i = places; i < 0; i++)
		step *= 10;
	rest = x->units % step;
	units = x->units - rest;
	if (how == SP__ROUND_NEAREST && 2 * (rest < 0 ? -rest : rest) >= step)
		units += rest < 0 ? -step : step;
	else if (how == SP__ROUND_DOWN && rest < 0)
		units -= step;
	else if (how == SP__ROUND_UP && rest > 0)
		units += step;
	/* 10^18 is not exact. */
	if (!set_units(&r, units, shown))
		(void)set_real(&r, units < 0 ? -1e18 : 1e18);
	return r;
}
