/* SPDX-License-Identifier: MIT */
/* Numbers of records (amount.h). */
#include <math.h>
#include <string.h>
#include "base/floats.h"
#include "base/minmax.h"
#include "base/put.h"
#include "expr/amount.h"

#define UNIT SP__UNITS
#define QUICK_DIGITS 18	 /* fit into 64 bits */
#define CODE_MIDDLE 0x80 /* first byte of the code of 0 */
#define CODE_OUTSIDE 17	 /* distance of codes of numbers that have no units */
#define UNITS_BITS 90	 /* magnitudes in units are below 2^UNITS_BITS */
#define REAL_BYTES 8
#define EXACT_UNITS ((sp__int128)1 << 53) /* an f64 has all integers up to it */
#define AVG_PLACES 6

__extension__ typedef unsigned __int128 wide128;

const uint64_t sp__powers_of_ten[SP__DECIMAL_PLACES + 1] = { 1,		10,	100,	 1000,
							     10000,	100000, 1000000, 10000000,
							     100000000, UNIT };

/* Reads a number of few digits.  False: another text. */
static bool parse_quickly(const char *p, const char *end, struct sp__amount *x)
{
	const bool minus = p < end && *p == '-';
	uint64_t v = 0;
	unsigned digits = 0, places = 0;

	if (end - p > QUICK_DIGITS)
		return false;
	p += minus || (p < end && *p == '+');
	for (; p < end && (unsigned)(*p - '0') < 10; p++, digits++)
		v = v * 10 + (unsigned)(*p - '0');
	if (p < end && *p == '.')
		for (p++; p < end && (unsigned)(*p - '0') < 10; p++, digits++, places++)
			v = v * 10 + (unsigned)(*p - '0');
	if (p < end || !digits || places > SP__DECIMAL_PLACES)
		return false;
	x->units = (sp__int128)v * (sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - places];
	x->units = minus ? -x->units : x->units;
	x->places = places;
	x->is_real = false;
	return true;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

bool sp__amount_parse(const char *text, size_t n, struct sp__amount *x)
{
	struct sp__decimal d;

	if (parse_quickly(text, text + n, x))
		return true;
	for (; n && blank(*text); n--)
		text++;
	while (n && blank(text[n - 1]))
		n--;
	*x = (struct sp__amount){ 0 };
	if (sp__decimal_parse(text, n, &d) && d.units < SP__UNITS_END && d.units > -SP__UNITS_END) {
		x->units = d.units;
		x->places = d.places;
		return true;
	}
	x->is_real = true;
	return !sp__read_f64(text, n, &x->real) && !isnan(x->real);
}

double sp__amount_f64(const struct sp__amount *x)
{
	sp__int128 whole, rest;

	if (x->is_real)
		return x->real;
	/* The quotient of exact numbers is rounded once. */
	if (x->units <= EXACT_UNITS && x->units >= -EXACT_UNITS)
		return (double)(int64_t)x->units / UNIT;
	whole = x->units / UNIT;
	rest = x->units % UNIT;
	/* Both are exact up to 2^53, so the result is rounded once for all usual numbers. */
	return rest ? (double)x->units / UNIT : (double)whole;
}

/* Writes the last n bytes of v, the highest first, each xor mask. */
static void put_bytes(unsigned char *to, wide128 v, unsigned n, unsigned char mask)
{
	for (unsigned i = n; i--; v >>= 8)
		to[i] = (unsigned char)v ^ mask;
}

static wide128 take_bytes(const unsigned char *from, size_t n, unsigned char mask)
{
	wide128 v = 0;

	for (size_t i = 0; i < n; i++)
		v = v << 8 | (unsigned char)(from[i] ^ mask);
	return v;
}

static uint64_t ordered_bits(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double from_ordered_bits(uint64_t bits)
{
	double x;

	bits = bits >> 63 ? bits & ~(UINT64_C(1) << 63) : ~bits;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

static size_t encode_units(sp__int128 units, unsigned char *code)
{
	const wide128 m = units < 0 ? -(wide128)units : (wide128)units;
	unsigned n = 0;

	while (n < sizeof(m) && m >> (8 * n))
		n++;
	code[0] = (unsigned char)(units < 0 ? CODE_MIDDLE - n : CODE_MIDDLE + n);
	put_bytes(code + 1, m, n, units < 0 ? 0xFF : 0);
	return 1 + n;
}

/* Returns the largest number of units that is at most x; *exact: it is x. */
static sp__int128 floor_units(double x, bool *exact)
{
	const double product = x * UNIT, low = fma(x, UNIT, -product), whole = floor(product);

	*exact = false;
	if (whole < product) /* by more than low */
		return (sp__int128)whole;
	*exact = floor(low) >= low;
	return (sp__int128)whole + (sp__int128)floor(low);
}

size_t sp__amount_encode(const struct sp__amount *x, unsigned char *code)
{
	size_t n = 1;
	bool exact;

	if (!x->is_real)
		return encode_units(x->units, code);
	if (fabs(x->real) < ldexp(1, UNITS_BITS) / UNIT) {
		n = encode_units(floor_units(x->real, &exact), code);
		if (exact)
			return n;
	} else {
		code[0] = x->real < 0 ? CODE_MIDDLE - CODE_OUTSIDE : CODE_MIDDLE + CODE_OUTSIDE;
	}
	put_bytes(code + n, ordered_bits(x->real), REAL_BYTES, 0);
	return n + REAL_BYTES;
}

bool sp__amount_decode(const unsigned char *code, size_t n, struct sp__amount *x)
{
	const bool minus = n && code[0] < CODE_MIDDLE;
	unsigned bytes;

	*x = (struct sp__amount){ 0 };
	if (!n)
		return false;
	bytes = minus ? CODE_MIDDLE - code[0] : code[0] - CODE_MIDDLE;
	if (bytes < CODE_OUTSIDE && n == 1 + (size_t)bytes) {
		x->units = (sp__int128)take_bytes(code + 1, bytes, minus ? 0xFF : 0);
		x->units = minus ? -x->units : x->units;
		return true;
	}
	bytes = bytes == CODE_OUTSIDE ? 0 : bytes;
	if (bytes > CODE_OUTSIDE || n != 1 + (size_t)bytes + REAL_BYTES)
		return false;
	x->is_real = true;
	x->real = from_ordered_bits((uint64_t)take_bytes(code + 1 + bytes, REAL_BYTES, 0));
	return true;
}

/* Prints magnitudes in units that fit into 64 bits. */
static size_t print_quickly(bool minus, uint64_t m, unsigned places, char *text)
{
	uint64_t rest = m % UNIT / sp__powers_of_ten[SP__DECIMAL_PLACES - places];
	char *p = text;

	if (minus)
		*p++ = '-';
	p = sp__put_u64(p, m / UNIT);
	if (!places)
		return (size_t)(p - text);
	*p++ = '.';
	for (unsigned i = places; i--; rest /= 10)
		p[i] = (char)('0' + rest % 10);
	return (size_t)(p - text) + places;
}

size_t sp__amount_print(const struct sp__amount *x, char *text)
{
	const wide128 m = x->units < 0 ? -(wide128)x->units : (wide128)x->units;
	const struct sp__decimal d = { x->units, x->places };

	if (!x->is_real && m <= UINT64_MAX)
		return print_quickly(x->units < 0, (uint64_t)m, x->places, text);
	if (x->is_real)
		return (size_t)(sp__shortest_f64(text, x->real + 0.0) - text);
	return sp__decimal_print(&d, text);
}

struct sp__amount sp__amount_between(const struct sp__amount *a, const struct sp__amount *b,
				     uint64_t part, uint64_t whole)
{
	struct sp__amount r = { .places = sp__max(AVG_PLACES, sp__max(a->places, b->places)) };
	sp__int128 unit = (sp__int128)sp__powers_of_ten[SP__DECIMAL_PLACES - r.places], numerator,
		   half;

	if (!part)
		return *a;
	if (a->is_real || b->is_real) {
		r.is_real = true;
		r.real = sp__amount_f64(a) +
			 (sp__amount_f64(b) - sp__amount_f64(a)) * ((double)part / (double)whole);
		return r;
	}
	/* Below 2^90 * 10^9. */
	numerator = a->units * (sp__int128)(whole - part) + b->units * (sp__int128)part;
	half = unit * (sp__int128)whole / 2;
	numerator += numerator < 0 ? -half : half;
	r.units = numerator / (unit * (sp__int128)whole) * unit;
	return r;
}
