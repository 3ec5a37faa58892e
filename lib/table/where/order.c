/* SPDX-License-Identifier: MIT */
/*
 * Orders numbers of different types exactly: integers and decimals in 128 bits, and a float, which
 * is a number m * 2^e, against a decimal without rounding either.
 */
#include <math.h>
#include "rec/calendar.h"
#include "rec/value_impl.h"
#include "table/where/program.h"

static unsigned places_of(const struct sp__value_type *t)
{
	return t->kind == 'd' ? t->decimals : 0;
}

/* Returns an integer or a decimal in its units; dates and times in microseconds. */
static sp__int128 load(const struct sp__value_type *t, const uint8_t *at)
{
	const uint64_t bits = sp__predicate_load(t, at);

	if (sp__predicate_unsigned(t))
		return bits;
	return (sp__int128)(int64_t)bits * (t->kind == 'D' ? SP__DAY_US : 1);
}

static unsigned order_of(sp__int128 a, sp__int128 b)
{
	return a < b ? SP__ORDER_LESS : a > b ? SP__ORDER_MORE : SP__ORDER_EQUAL;
}

static unsigned reversed(unsigned order)
{
	return order == SP__ORDER_EQUAL ? order : order ^ (SP__ORDER_LESS | SP__ORDER_MORE);
}

/* Orders a number in units of 10^-places, less than 2^64 of them, and a float. */
static unsigned order_mixed(sp__int128 units, unsigned places, double x)
{
	sp__int128 scaled, floor;
	int exponent, shift;

	if (isnan(x) || x >= 0x1p64)
		return SP__ORDER_LESS;
	if (x <= -0x1p64)
		return SP__ORDER_MORE;
	/* x = m * 2^-shift, and scaled = m * 10^places has less than 53 + 60 bits. */
	scaled = (sp__int128)ldexp(frexp(x, &exponent), 53) * (sp__int128)sp__value_power(places);
	shift = 53 - exponent;
	if (shift <= 0)
		return order_of(units, scaled * ((sp__int128)1 << -shift));
	if (shift > 120) /* |x| is less than a unit */
		return order_of(2 * units, (x > 0) - (x < 0));
	floor = scaled >> shift;
	if (units == floor && scaled != floor * ((sp__int128)1 << shift))
		return SP__ORDER_LESS;
	return order_of(units, floor);
}

unsigned sp__predicate_number_order(const struct sp__value_type *x, const uint8_t *a,
				    const struct sp__value_type *y, const uint8_t *b)
{
	const unsigned x_places = places_of(x), y_places = places_of(y);
	sp__int128 v, w;

	if (x->kind == 'f' && y->kind == 'f')
		return sp__predicate_float_order(sp__predicate_load_float(x, a),
						 sp__predicate_load_float(y, b));
	if (y->kind == 'f')
		return order_mixed(load(x, a), x_places, sp__predicate_load_float(y, b));
	if (x->kind == 'f')
		return reversed(order_mixed(load(y, b), y_places, sp__predicate_load_float(x, a)));
	v = load(x, a);
	w = load(y, b);
	if (x_places < y_places)
		v *= (sp__int128)sp__value_power(y_places - x_places);
	else
		w *= (sp__int128)sp__value_power(x_places - y_places);
	return order_of(v, w);
}
