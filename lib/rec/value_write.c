/* SPDX-License-Identifier: MIT */
/* Writes and compares values of tables, and knows their NULL (value.h). */
#include <math.h>
#include <string.h>
#include "base/minmax.h"
#include "base/put.h"
#include "base/shortest.h"
#include "rec/calendar.h"
#include "rec/value.h"
#include "rec/value_impl.h"

bool sp__value_null(const struct sp__value_type *t, const void *value)
{
	if (t->kind == 'c')
		return sp__text_null(value, 1);
	return sp__value_bits(t, value) == sp__value_null_bits(t);
}

void sp__value_set_null(const struct sp__value_type *t, void *value)
{
	if (t->kind == 'c') {
		memset(value, 0, t->bytes);
		*(uint8_t *)value = SP__TEXT_NULL;
		return;
	}
	sp__value_put(value, sp__value_null_bits(t), t->bytes);
}

enum sp__value_fit sp__value_check(const struct sp__value_type *t, const void *value)
{
	int64_t v;

	if (sp__value_null(t, value))
		return SP__VALUE_RESERVED;
	if (t->kind != 'D' && t->kind != 'T')
		return SP__VALUE_OK;
	v = sp__value_signed(t, value);
	if (t->kind == 'D')
		return v < SP__DATE_MIN || v > SP__DATE_MAX ? SP__VALUE_RANGE : SP__VALUE_OK;
	return v < SP__TIME_MIN || v > SP__TIME_MAX ? SP__VALUE_RANGE : SP__VALUE_OK;
}

/* Writes exactly n digits, n <= 18. */
static char *put_places(char *p, uint64_t v, unsigned n)
{
	if (n > 8) {
		p = put_places(p, v / 100000000, n - 8);
		return sp__put_fixed8(p, (uint32_t)(v % 100000000));
	}
	return sp__put_digits(p, (uint32_t)v, n);
}

/* Writes units < 10^8 with 1 to 7 places: the point is moved into their word of digits. */
static char *put_short(char *p, uint32_t units, unsigned places)
{
	uint64_t digits = sp__digits8(units), before;
	unsigned zeros = (unsigned)__builtin_ctzll(digits | UINT64_C(1) << 8 * (7 - places)) / 8;
	unsigned whole = 8 - zeros - places;

	before = (UINT64_C(1) << 8 * whole) - 1;
	digits = (digits | SP__ZEROS) >> 8 * zeros;
	sp__put_word(p, (digits & before) | (uint64_t)'.' << 8 * whole | (digits & ~before) << 8);
	p[8] = (char)(digits >> 56);
	return p + whole + 1 + places;
}

static char *put_signed(char *p, int64_t v, unsigned places)
{
	uint64_t units = v < 0 ? -(uint64_t)v : (uint64_t)v, one;

	if (v < 0)
		*p++ = '-';
	if (!places)
		return sp__put_u64(p, units);
	if (units < 100000000 && places < 8)
		return put_short(p, (uint32_t)units, places);
	one = sp__value_power(places);
	p = sp__put_u64(p, units / one);
	*p++ = '.';
	return put_places(p, units % one, places);
}

static char *put_float(char *p, const struct sp__value_type *t, const void *value)
{
	double wide;
	float narrow;

	if (t->bytes == sizeof(double)) {
		memcpy(&wide, value, sizeof(wide));
		return sp__shortest_f64(p, wide);
	}
	memcpy(&narrow, value, sizeof(narrow));
	return sp__shortest_f32(p, narrow);
}

static size_t text_bytes(const char *text, size_t n)
{
	while (n && !text[n - 1])
		n--;
	return n;
}

size_t sp__value_write(const struct sp__value_type *t, const void *value, char *text)
{
	size_t n;

	switch (t->kind) {
	case 'i':
	case 'd':
		return (size_t)(put_signed(text, sp__value_signed(t, value), t->decimals) - text);
	case 'u':
		return (size_t)(sp__put_u64(text, sp__value_bits(t, value)) - text);
	case 'f':
		return (size_t)(put_float(text, t, value) - text);
	case 'D':
		return (size_t)(sp__date_print(text, (int32_t)sp__value_signed(t, value)) - text);
	case 'T':
		return (size_t)(sp__time_print(text, sp__value_signed(t, value), t->decimals) -
				text);
	default:
		n = text_bytes(value, t->bytes);
		memcpy(text, value, n);
		return n;
	}
}

static double load_float(const struct sp__value_type *t, const void *value)
{
	double wide;
	float narrow;

	if (t->bytes == sizeof(double)) {
		memcpy(&wide, value, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, value, sizeof(narrow));
	return narrow;
}

double sp__value_number(const struct sp__value_type *t, const void *value)
{
	if (t->kind == 'f')
		return load_float(t, value);
	return t->kind == 'u' ? (double)sp__value_bits(t, value)
			      : (double)sp__value_signed(t, value);
}

static int compare_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return SP__ORDER(a, b);
}

int sp__value_compare(const struct sp__value_type *t, const void *a, const void *b)
{
	switch (t->kind) {
	case 'c':
		return memcmp(a, b, t->bytes);
	case 'f':
		return compare_floats(load_float(t, a), load_float(t, b));
	case 'u':
	case 'w':
		return SP__ORDER(sp__value_bits(t, a), sp__value_bits(t, b));
	default:
		return SP__ORDER(sp__value_signed(t, a), sp__value_signed(t, b));
	}
}
