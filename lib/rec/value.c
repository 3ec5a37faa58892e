/* SPDX-License-Identifier: MIT */
/* Parses, prints and adds values of cubes (value.h). */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "rec/value_impl.h"

#define ROW(id, name, kind, bytes) [SP__VALUE_##id] = { kind, 0, bytes }
const struct sp__value_type sp__value_types[] = { SP__VALUE_TYPES(ROW) };

static sp__int128 load_integer(const struct sp__value_type *t, const void *from)
{
	return t->kind == 'i' ? (sp__int128)sp__value_signed(t, from)
			      : (sp__int128)sp__value_bits(t, from);
}

/* False: the integer does not fit the type. */
static bool store_integer(const struct sp__value_type *t, sp__int128 v, void *to)
{
	bool is_signed = t->kind == 'i';
	sp__int128 max = ((sp__int128)1 << (t->bytes * 8 - is_signed)) - 1;

	if (v > max || v < (is_signed ? -max - 1 : 0))
		return false;
	memcpy(to, &v, t->bytes);
	return true;
}

/* False: a finite number becomes infinite. */
static bool store_float(const struct sp__value_type *t, double number, void *to)
{
	float narrow;

	if (t->bytes == sizeof(double)) {
		memcpy(to, &number, sizeof(number));
		return true;
	}
	narrow = (float)number;
	memcpy(to, &narrow, sizeof(narrow));
	return isinf(number) || !isinf(narrow);
}

static bool parse_opaque(const struct sp__value_type *t, const char *text, size_t bytes,
			 uint8_t *to)
{
	if (bytes != 2 * (size_t)t->bytes || strspn(text, "0123456789abcdefABCDEF") < bytes)
		return false;
	for (; bytes; bytes -= 2, text += 2)
		*to++ = (uint8_t)strtoul((char[]){ text[0], text[1], 0 }, NULL, 16);
	return true;
}

/* An f32 is not converted by way of f64, which would round it twice. */
static bool parse_float(const struct sp__value_type *t, const char *text, const char *end, void *to)
{
	locale_t locale = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
	char *stop;
	double v;

	errno = 0;
	v = t->bytes == sizeof(float) ? (double)strtof(text, &stop) : strtod(text, &stop);
	uselocale(locale);
	return stop != text && stop == end && !(isinf(v) && errno == ERANGE) &&
	       store_float(t, v, to);
}

static bool parse_integer(const struct sp__value_type *t, const char *text, const char *end,
			  void *to)
{
	sp__int128 v = 0;
	bool minus;

	text += strspn(text, " \t\n\v\f\r");
	minus = *text == '-';
	text += minus || *text == '+';
	if (text >= end || (minus && t->kind == 'u'))
		return false;
	for (; text < end && isdigit((unsigned char)*text) && v <= UINT64_MAX; text++)
		v = v * 10 + (*text - '0');
	return text == end && store_integer(t, minus ? -v : v, to);
}

bool sp__value_parse(const struct sp__value_type *t, const char *text, size_t bytes, void *value)
{
	if (t->kind == 'V')
		return parse_opaque(t, text, bytes, value);
	return t->kind == 'f' ? parse_float(t, text, text + bytes, value)
			      : parse_integer(t, text, text + bytes, value);
}

void sp__value_print(const struct sp__value_type *t, const void *value, char *text)
{
	char number[SP__VALUE_SPACE];
	const uint8_t *bytes = value;
	size_t n;

	for (uint32_t i = 0; t->kind == 'V' && i < t->bytes; i++)
		text += sprintf(text, "%02x", bytes[i]);
	if (t->kind == 'V')
		return;
	n = sp__value_write(t, value, number);
	memcpy(text, number, n);
	text[n] = '\0';
}

bool sp__value_add(const struct sp__value_type *t, void *sum, const void *value)
{
	if (t->kind != 'f')
		return store_integer(t, load_integer(t, sum) + load_integer(t, value), sum);
	store_float(t, sp__value_number(t, sum) + sp__value_number(t, value), sum);
	return true;
}
