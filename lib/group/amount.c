/* SPDX-License-Identifier: MIT */
/* Numbers of records (amount.h). */
#include <math.h>
#include <string.h>
#include "base/floats.h"
#include "base/minmax.h"
#include "base/put.h"
#include "group/amount.h"

#define UNIT SP__UNITS
#define QUICK_DIGITS 18			   /* fit into 64 bits */
#define CODE_MIDDLE 0x80		   /* first byte of the code of 0 */
#define CODE_OUTSIDE 17			   /* distance of codes of numbers that have no units */
#define PRODUCT_END ((sp__int128)1 << 120) /* squares of less have 240 bits */
#define UNITS_BITS 90			   /* magnitudes in units are below 2^UNITS_BITS */
#define REAL_BYTES 8
#define AVG_PLACES 6

/* Of exact numbers: 10^18.  So sums of 10^11 numbers have 128 bits. */
#define UNITS_END ((sp__int128)UNIT * UNIT * UNIT)

__extension__ typedef unsigned __int128 wide128;

static const uint64_t powers[SP__DECIMAL_PLACES + 1] = { 1,	    10,	    100,     1000,
							 10000,	    100000, 1000000, 10000000,
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
	x->units = (sp__int128)v * (sp__int128)powers[SP__DECIMAL_PLACES - places];
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
	if (sp__decimal_parse(text, n, &d) && d.units < UNITS_END && d.units > -UNITS_END) {
		x->units = d.units;
		x->places = d.places;
		return true;
	}
	x->is_real = true;
	return !sp__read_f64(text, n, &x->real) && !isnan(x->real);
}

double sp__amount_f64(const struct sp__amount *x)
{
	sp__int128 whole = x->units / UNIT, rest = x->units % UNIT;

	if (x->is_real)
		return x->real;
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
	uint64_t rest = m % UNIT / powers[SP__DECIMAL_PLACES - places];
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
	sp__int128 unit = (sp__int128)powers[SP__DECIMAL_PLACES - r.places], numerator, half;

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

void sp__reals_add(struct sp__exactsum *reals, double x)
{
	sp__exactsum_add(&reals[SP__REAL_X], x);
	add_product(&reals[SP__REAL_XX], x, x);
}

void sp__reals_add_pair(struct sp__exactsum *reals, double x, double y)
{
	sp__reals_add(reals, x);
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

/* Returns a sum in units, of exact numbers and of reals, which may be NULL. */
static struct parts first_moment(sp__int128 units, const struct sp__exactsum *reals)
{
	const wide128 m = units < 0 ? -(wide128)units : (wide128)units;
	struct sp__exactsum s = { 0 };

	add_limb(&s, (uint64_t)m, 0, units < 0 ? -1 : 1);
	add_limb(&s, (uint64_t)(m >> 64), 64, units < 0 ? -1 : 1);
	if (reals)
		add_scaled(&s, reals, UNIT);
	return divide_up(s);
}

/* The same for a sum of products, in squares of units. */
static struct parts second_moment(struct sp__wide w, const struct sp__exactsum *reals)
{
	const bool minus = w.limbs[3] >> 63;
	struct sp__exactsum s = { 0 };

	if (minus)
		negate(&w);
	for (int i = 0; i < 4; i++)
		add_limb(&s, w.limbs[i], 64 * i, minus ? -1 : 1);
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

/* The same by sums of f64, for any numbers. */
static struct sp__deviations real_deviations(const struct sp__group_moments *m,
					     const struct sp__exactsum *reals)
{
#define REAL(i) (reals ? &reals[i] : NULL)
	const struct parts x = first_moment(m->x, REAL(SP__REAL_X)),
			   xx = second_moment(m->xx, REAL(SP__REAL_XX));
	struct sp__deviations d = { .xx = deviation(m->n, &xx, &x, &x) };
	struct parts y, yy, xy;

	if (!m->pairs)
		return d;
	y = first_moment(m->y, REAL(SP__REAL_Y));
	yy = second_moment(m->yy, REAL(SP__REAL_YY));
	xy = second_moment(m->xy, REAL(SP__REAL_XY));
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
	if (reals || isnan(d.xx) || isnan(d.yy) || isnan(d.xy))
		return real_deviations(m, reals);
	return d;
}
