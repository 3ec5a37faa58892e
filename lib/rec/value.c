/* SPDX-License-Identifier: MIT */
/*
 * Parses, prints and adds values of cubes; parses, prints and widens types of values (value.h).
 */
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/decimal.h"
#include "base/minmax.h"
#include "base/put.h"
#include "rec/calendar.h"
#include "rec/numeral.h"
#include "rec/value.h"

struct named {
	const char *name;
	struct sp__value_type type;
	uint32_t min, max; /* range of the number in parentheses; max 0: there is none */
	bool optional;
};

#define TYPE_ROW(id, name, kind, bytes)                                                            \
	{                                                                                          \
		name, { kind, 0, bytes }, 0, 0, false                                              \
	}
static const struct named types[] = {
	SP__VALUE_TYPES(TYPE_ROW),
	{ "dec8", { 'd', 0, 1 }, 0, SP__DEC_PLACES, false },
	{ "dec16", { 'd', 0, 2 }, 0, SP__DEC_PLACES, false },
	{ "dec32", { 'd', 0, 4 }, 0, SP__DEC_PLACES, false },
	{ "dec64", { 'd', 0, 8 }, 0, SP__DEC_PLACES, false },
	{ "dec", { 'd', 0, 8 }, 0, SP__DEC_PLACES, false },
	{ "date", { 'D', 0, 4 }, 0, 0, false },
	{ "time", { 'T', 0, 8 }, 0, SP__TIME_DECIMALS, true },
	{ "char", { 'c', 0, 0 }, 1, SP__CHAR_MAX, false },
	{ "text", { 't', 0, 4 }, 0, 0, false },
	{ "dict8", { 'w', 0, 1 }, 0, 0, false },
	{ "dict16", { 'w', 0, 2 }, 0, 0, false },
};
#define TYPES (sizeof(types) / sizeof(*types))

static void set_argument(struct sp__value_type *t, uint32_t argument)
{
	if (t->kind == 'c')
		t->bytes = argument;
	else
		t->decimals = (uint8_t)argument;
}

/* False: the text is not (NUMBER) with an allowed number. */
static bool parse_argument(const struct named *row, const char *p, size_t n, uint32_t *argument)
{
	struct sp__numeral v;

	if (n < 3 || *p != '(' || p[n - 1] != ')' || !sp__numeral_scan(p + 1, n - 2, &v))
		return false;
	*argument = (uint32_t)v.units;
	return v.canonical && !v.places && !v.minus && !v.large && v.units >= row->min &&
	       v.units <= row->max;
}

int sp__value_type_parse(struct sp__value_type *t, const char *name, size_t n)
{
	const char *open = memchr(name, '(', n);
	size_t bytes = open ? (size_t)(open - name) : n;
	uint32_t argument = 0;

	for (const struct named *row = types; row < types + TYPES; row++) {
		if (row->type.kind == 'V' || strlen(row->name) != bytes ||
		    memcmp(row->name, name, bytes) != 0)
			continue;
		if (open ? !row->max || !parse_argument(row, open, n - bytes, &argument)
			 : row->max && !row->optional)
			return SP_ESYNTAX;
		*t = row->type;
		if (row->max)
			set_argument(t, argument);
		return 0;
	}
	return SP_ESYNTAX;
}

/* Returns the first row of a type; NULL: none. */
static const struct named *row_of(const struct sp__value_type *t)
{
	for (const struct named *row = types; row < types + TYPES; row++)
		if (row->type.kind == t->kind && (t->kind == 'c' || row->type.bytes == t->bytes))
			return row;
	return NULL;
}

static uint32_t argument_of(const struct sp__value_type *t)
{
	return t->kind == 'c' ? t->bytes : t->decimals;
}

bool sp__value_type_possible(const struct sp__value_type *t)
{
	const struct named *row = row_of(t);
	const uint32_t argument = argument_of(t);

	return row && t->kind != 'V' && argument >= row->min && argument <= row->max &&
	       (t->kind != 'c' || !t->decimals);
}

size_t sp__value_type_print(const struct sp__value_type *t, char text[SP__VALUE_TYPE_TEXT])
{
	const struct named *row = row_of(t);
	uint32_t argument = argument_of(t);
	char *p = stpcpy(text, row->name);

	if (row->max && !(row->optional && !argument)) {
		*p++ = '(';
		p = sp__put_below_1e8(p, argument);
		*p++ = ')';
	}
	return (size_t)(p - text);
}

bool sp__value_type_same(const struct sp__value_type *a, const struct sp__value_type *b)
{
	return a->kind == b->kind && a->bytes == b->bytes && a->decimals == b->decimals;
}

static bool is_exact(char kind)
{
	return kind == 'i' || kind == 'u' || kind == 'd';
}

/* Returns the greatest value, in units of 10^-places. */
static sp__int128 greatest(const struct sp__value_type *t, unsigned places)
{
	return (sp__int128)(sp__value_null_bits(t) - 1) * sp__value_power(places - t->decimals);
}

static bool holds(const struct sp__value_type *t, const char *text, size_t n)
{
	uint8_t v[sizeof(uint64_t)];

	return sp__value_read(t, text, n, v) == SP__VALUE_OK;
}

/* Returns the decimal places that the number in the text needs; 0 if it is none. */
static unsigned places_of(const char *text, size_t n)
{
	struct sp__numeral v;

	if (!sp__numeral_scan(text, n, &v))
		return 0;
	for (; v.places && text[n - 1] == '0'; n--)
		v.places--;
	return v.places;
}

/* Finds the smallest exact type that holds the values of an exact type t, and the text. */
static bool wider_exact(struct sp__value_type *to, const struct sp__value_type *t, const char *text,
			size_t n)
{
	unsigned places = (unsigned)sp__max(t->decimals, places_of(text, n));
	const char *kinds = t->kind == 'd' || places ? "d" : t->kind == 'u' ? "ui" : "i";

	for (uint32_t bytes = 1; bytes <= 8 && places <= SP__DEC_PLACES; bytes *= 2)
		for (const char *kind = kinds; *kind; kind++) {
			*to = (struct sp__value_type){ *kind, (uint8_t)places, bytes };
			if (greatest(to, places) >= greatest(t, places) && holds(to, text, n))
				return true;
		}
	return false;
}

static bool wider_time(struct sp__value_type *to, const struct sp__value_type *t, const char *text,
		       size_t n)
{
	*to = (struct sp__value_type){ 'T', t->decimals, 8 };
	for (; to->decimals <= SP__TIME_DECIMALS; to->decimals++)
		if (holds(to, text, n))
			return true;
	return false;
}

struct sp__value_type sp__value_type_wider(const struct sp__value_type *t, const char *text,
					   size_t n)
{
	const struct sp__value_type f64 = sp__value_types[SP__VALUE_F64];
	struct sp__value_type to;

	if (is_exact(t->kind) && wider_exact(&to, t, text, n))
		return to;
	if ((t->kind == 'D' || t->kind == 'T') && wider_time(&to, t, text, n))
		return to;
	if ((t->kind == 'f' || (is_exact(t->kind) && t->kind != 'd')) && t->bytes <= 4 &&
	    holds(&f64, text, n))
		return f64;
	if (t->kind == 'c' && n > t->bytes && n <= SP__CHAR_MAX && text[n - 1] &&
	    !sp__text_null(text, n))
		return (struct sp__value_type){ 'c', 0, (uint32_t)n };
	if (t->kind == 'w' && t->bytes == 1)
		return (struct sp__value_type){ 'w', 0, 2 };
	return (struct sp__value_type){ 't', 0, 4 };
}

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
