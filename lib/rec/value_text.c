/* SPDX-License-Identifier: MIT */
/*
 * Reads values of tables from text, writes and compares them, and knows their NULL (value.h).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/minmax.h"
#include "base/put.h"
#include "base/floats.h"
#include "rec/calendar.h"
#include "rec/numeral.h"
#include "rec/value.h"

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

#define F64_DIGITS 17 /* give each f64 back */
#define DATE_BYTES 10 /* bytes of YYYY-MM-DD */

/*
 * Changes the units of the number in the text to 10^-places.  False: that is not exact, or too
 * large.
 */
static bool rescale(struct sp__numeral *v, const char *text, size_t n, unsigned places)
{
	for (; v->places > places && text[n - 1] == '0'; v->places--) {
		v->units /= 10;
		n--;
	}
	if (v->places > places || (v->large && !sp__numeral_scan(text, n, v)))
		return false;
	return !v->large &&
	       !__builtin_mul_overflow(v->units, sp__value_power(places - v->places), &v->units);
}

static enum sp__value_fit store(const struct sp__value_type *t, const struct sp__numeral *v,
				void *value)
{
	bool is_unsigned = t->kind == 'u';
	uint64_t reserved = sp__value_null_bits(t), units = v->minus ? -v->units : v->units;

	if (v->units >= reserved) {
		return v->units == reserved && v->minus != is_unsigned ? SP__VALUE_RESERVED
								       : SP__VALUE_RANGE;
	}
	if (is_unsigned && v->minus && v->units)
		return SP__VALUE_RANGE;
	sp__value_put(value, units, t->bytes);
	return SP__VALUE_OK;
}

static enum sp__value_fit take_number(const struct sp__value_type *t, const char *text, size_t n,
				      void *value, bool *canonical)
{
	struct sp__numeral v;

	if (!sp__numeral_scan(text, n, &v))
		return SP__VALUE_MALFORMED;
	*canonical = *canonical && v.canonical && v.places == t->decimals;
	if ((v.places != t->decimals || v.large) && !rescale(&v, text, n, t->decimals))
		return SP__VALUE_RANGE;
	return store(t, &v, value);
}

static enum sp__value_fit take_float(const struct sp__value_type *t, const char *text, size_t n,
				     void *value, bool *canonical)
{
	char again[SP__VALUE_SPACE];
	double wide;
	float narrow;
	int rc;

	if (t->bytes == sizeof(wide))
		rc = sp__read_f64(text, n, &wide);
	else
		rc = sp__read_f32(text, n, &narrow);
	if (rc)
		return rc == -ERANGE ? SP__VALUE_RANGE : SP__VALUE_MALFORMED;
	if (t->bytes == sizeof(wide))
		memcpy(value, &wide, sizeof(wide));
	else
		memcpy(value, &narrow, sizeof(narrow));
	*canonical = *canonical && sp__value_write(t, value, again) == n && !memcmp(again, text, n);
	return SP__VALUE_OK;
}

static enum sp__value_fit take_date(const char *text, size_t n, void *value)
{
	int32_t days;

	if (!sp__date_parse(text, n, &days))
		return SP__VALUE_MALFORMED;
	memcpy(value, &days, sizeof(days));
	return SP__VALUE_OK;
}

bool sp__value_moment(const char *text, size_t n, int64_t *us, unsigned *decimals, bool *canonical)
{
	char copy[SP__TIME_TEXT];
	int32_t days;

	if (sp__time_parse(text, n, us, decimals))
		return true;
	*canonical = false;
	*decimals = 0;
	if (sp__date_parse(text, n, &days)) {
		*us = days * INT64_C(86400000000);
		return true;
	}
	n -= n > DATE_BYTES && text[n - 1] == 'Z';
	if (n > sizeof(copy) || n <= DATE_BYTES ||
	    (text[DATE_BYTES] != 'T' && text[DATE_BYTES] != ' '))
		return false;
	memcpy(copy, text, n);
	copy[DATE_BYTES] = ' ';
	return sp__time_parse(copy, n, us, decimals);
}

static enum sp__value_fit take_time(const struct sp__value_type *t, const char *text, size_t n,
				    void *value, bool *canonical)
{
	unsigned decimals;
	int64_t us;

	if (!sp__value_moment(text, n, &us, &decimals, canonical))
		return SP__VALUE_MALFORMED;
	*canonical = *canonical && decimals == t->decimals;
	if (us % (int64_t)sp__value_power(SP__TIME_DECIMALS - t->decimals))
		return SP__VALUE_RANGE;
	memcpy(value, &us, sizeof(us));
	return SP__VALUE_OK;
}

static enum sp__value_fit take_char(const struct sp__value_type *t, const char *text, size_t n,
				    void *value)
{
	if (sp__text_null(text, n))
		return SP__VALUE_RESERVED;
	if (n && !text[n - 1])
		return SP__VALUE_MALFORMED;
	if (n > t->bytes)
		return SP__VALUE_RANGE;
	memcpy(value, text, n);
	memset((char *)value + n, 0, t->bytes - n);
	return SP__VALUE_OK;
}

static enum sp__value_fit take(const struct sp__value_type *t, const char *text, size_t n,
			       void *value, bool *canonical)
{
	switch (t->kind) {
	case 'f':
		return take_float(t, text, n, value, canonical);
	case 'D':
		return take_date(text, n, value);
	case 'T':
		return take_time(t, text, n, value, canonical);
	case 'c':
		return take_char(t, text, n, value);
	default:
		return take_number(t, text, n, value, canonical);
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct sp__slice sp__value_trim(const char *text, size_t n)
{
	while (n && is_blank(*text)) {
		text++;
		n--;
	}
	while (n && is_blank(text[n - 1]))
		n--;
	return (struct sp__slice){ text, n };
}

/* Copies the digits of a number from the first to the last that is not 0.  False: too many. */
static bool copy_digits(const struct sp__slice *s, char digits[F64_DIGITS + 1], size_t *n)
{
	size_t zeros = 0;

	*n = 0;
	for (const char *p = s->p, *end = p + s->n; p < end && (*p | 32) != 'e'; p++) {
		if (*p < '0' || *p > '9' || (*p == '0' && !*n))
			continue;
		if (*p == '0') {
			zeros++;
			continue;
		}
		if (*n + zeros >= F64_DIGITS)
			return false;
		memset(digits + *n, '0', zeros);
		*n += zeros;
		digits[(*n)++] = *p;
		zeros = 0;
	}
	return true;
}

bool sp__value_f64_holds(const char *text, size_t n)
{
	const struct sp__slice s = sp__value_trim(text, n);
	char digits[F64_DIGITS + 1], printed[SP__VALUE_SPACE];
	const char *p = printed;
	size_t count;
	double v;

	if (sp__read_f64(s.p, s.n, &v) || !copy_digits(&s, digits, &count))
		return false;
	if (count)
		snprintf(printed, sizeof(printed), "%.*e", (int)count - 1, v);
	for (size_t i = 0; i < count; p++) { /* the point depends on the locale */
		if (*p < '0' || *p > '9')
			continue;
		if (*p != digits[i++])
			return false;
	}
	return true;
}

enum sp__value_fit sp__value_take(const struct sp__value_type *t, const char *text, size_t n,
				  void *value, bool *canonical)
{
	enum sp__value_fit fit = take(t, text, n, value, canonical);
	struct sp__slice trimmed;

	if (fit != SP__VALUE_MALFORMED || t->kind == 'c')
		return fit;
	trimmed = sp__value_trim(text, n);
	if (trimmed.n == n)
		return fit;
	*canonical = false;
	return take(t, trimmed.p, trimmed.n, value, canonical);
}
