/* SPDX-License-Identifier: MIT */
/*
 * Values of tables against independent ways: all values of 8 and 16 bits against snprintf(), random
 * spellings against digit by digit arithmetic, times against timegm(); random values come back; a
 * wider type holds what it must.
 */
#include <math.h>
#include <string.h>
#include <time.h>
#include "base/decimal.h"
#include "base/rng.h"
#include "rec/value.h"
#include "tap.h"

#define TEXT 300

static int64_t stored(const struct sp__value_type *t, const uint8_t *v)
{
	int8_t i1;
	int16_t i2;
	int32_t i4;
	int64_t i8;
	bool is_unsigned = t->kind == 'u';

	memcpy(&i1, v, sizeof(i1));
	memcpy(&i2, v, sizeof(i2));
	memcpy(&i4, v, sizeof(i4));
	memcpy(&i8, v, sizeof(i8));
	switch (t->bytes) {
	case 1:
		return is_unsigned ? (uint8_t)i1 : i1;
	case 2:
		return is_unsigned ? (uint16_t)i2 : i2;
	case 4:
		return is_unsigned ? (int64_t)(uint32_t)i4 : i4;
	default:
		return i8;
	}
}

/* The ends of a type, as numbers. */
static void ends(const struct sp__value_type *t, sp__int128 *min, sp__int128 *max)
{
	sp__int128 all = (sp__int128)1 << 8 * t->bytes;

	*min = t->kind == 'u' ? 0 : -(all / 2 - 1);
	*max = t->kind == 'u' ? all - 2 : all / 2 - 1;
}

static enum sp__value_fit fit_of(const struct sp__value_type *t, sp__int128 v)
{
	sp__int128 min, max;

	ends(t, &min, &max);
	if (v >= min && v <= max)
		return SP__VALUE_OK;
	return v == (t->kind == 'u' ? max + 1 : min - 1) ? SP__VALUE_RESERVED : SP__VALUE_RANGE;
}

static void print_scaled(char text[TEXT], long v, unsigned places)
{
	long one = 1, magnitude = labs(v);

	for (unsigned i = 0; i < places; i++)
		one *= 10;
	if (places)
		snprintf(text, TEXT, "%s%ld.%0*ld", v < 0 ? "-" : "", magnitude / one,
			 (int)places % 20, magnitude % one);
	else
		snprintf(text, TEXT, "%ld", v);
}

/* Returns the number of values from -70000 to 70000 that are wrong in a type. */
static unsigned wrong_values(const struct sp__value_type *t)
{
	char text[TEXT], got[TEXT];
	unsigned wrong = 0;
	uint8_t v[8];

	for (long i = -70000; i <= 70000; i++) {
		enum sp__value_fit want = fit_of(t, i);
		bool canonical = true;
		size_t n;

		print_scaled(text, i, t->decimals);
		n = strlen(text);
		wrong += sp__value_take(t, text, n, v, &canonical) != want || !canonical;
		if (want == SP__VALUE_OK)
			wrong += stored(t, v) != i || sp__value_write(t, v, got) != n ||
				 memcmp(got, text, n) != 0;
	}
	return wrong;
}

static void check_all(void)
{
	unsigned wrong = 0;

	for (uint32_t bytes = 1; bytes <= 2; bytes++) {
		wrong += wrong_values(&(struct sp__value_type){ 'u', 0, bytes });
		wrong += wrong_values(&(struct sp__value_type){ 'i', 0, bytes });
		for (uint8_t places = 1; places <= 6; places++)
			wrong += wrong_values(&(struct sp__value_type){ 'd', places, bytes });
	}
	ok(!wrong, "all values of 8 and 16 bits are read, written or refused");
}

/* A number digit by digit. */
struct spelled {
	char text[TEXT];
	sp__int128 units; /* without trailing zeros of its decimals */
	unsigned places;
	bool canonical_of_places[20]; /* with this number of places */
};

static void random_spelling(struct sp__rng *rng, struct spelled *s)
{
	unsigned whole = (unsigned)sp__rng_below(rng, 22), zeros = 0;
	unsigned fraction = sp__rng_below(rng, 2) ? (unsigned)sp__rng_below(rng, 12) : 0;
	bool minus = !sp__rng_below(rng, 3), plus = !minus && !sp__rng_below(rng, 8);
	char *p = s->text;

	whole = whole + fraction ? whole : 1;
	*s = (struct spelled){ 0 };
	if (minus || plus)
		*p++ = minus ? '-' : '+';
	for (; zeros < 30 && !sp__rng_below(rng, 8); zeros++)
		*p++ = '0';
	for (unsigned i = 0; i < whole; i++, p++) {
		*p = (char)('0' + sp__rng_below(rng, 10));
		s->units = s->units * 10 + (*p - '0');
	}
	if (whole + zeros > 1)
		plus = plus || s->text[minus || plus] == '0';
	plus = plus || !(whole + zeros);
	if (fraction)
		*p++ = '.';
	for (unsigned i = 0; i < fraction; i++, p++) {
		*p = (char)('0' + (sp__rng_below(rng, 3) ? sp__rng_below(rng, 10) : 0));
		s->units = s->units * 10 + (*p - '0');
	}
	s->canonical_of_places[fraction] = !plus && !(minus && !s->units);
	for (s->places = fraction; s->places && s->units % 10 == 0; s->places--)
		s->units /= 10;
	s->units = minus ? -s->units : s->units;
}

/* Returns the fit of a spelled number, and its units in the type. */
static enum sp__value_fit fit_of_spelled(const struct sp__value_type *t, const struct spelled *s,
					 sp__int128 *units)
{
	const sp__int128 limit = (sp__int128)1 << 65;

	*units = s->units;
	if (s->places > t->decimals)
		return SP__VALUE_RANGE;
	for (unsigned i = s->places; i < t->decimals; i++)
		if (*units<limit && * units> - limit)
			*units *= 10;
	return fit_of(t, *units);
}

static struct sp__value_type random_exact(struct sp__rng *rng)
{
	struct sp__value_type t = { "iud"[sp__rng_below(rng, 3)], 0, 1u << sp__rng_below(rng, 4) };

	t.decimals = t.kind == 'd' ? (uint8_t)sp__rng_below(rng, SP__DEC_PLACES + 1) : 0;
	return t;
}

static void check_spellings(void)
{
	struct sp__rng rng = { 1 };
	unsigned wrong = 0, of_fit[4] = { 0 };

	for (int i = 0; i < 500000; i++) {
		struct sp__value_type t = random_exact(&rng);
		enum sp__value_fit want, fit;
		bool canonical = true;
		struct spelled s;
		sp__int128 units;
		uint8_t v[8];

		random_spelling(&rng, &s);
		want = fit_of_spelled(&t, &s, &units);
		fit = sp__value_take(&t, s.text, strlen(s.text), v, &canonical);
		of_fit[fit]++;
		if (fit == want && (fit || (stored(&t, v) == (int64_t)units &&
					    canonical == s.canonical_of_places[t.decimals])))
			continue;
		if (!wrong++)
			diag("%s as %c%u(%u)", s.text, t.kind, t.bytes, t.decimals);
	}
	ok(!wrong, "random spellings are read as digit by digit");
	ok(of_fit[SP__VALUE_OK] > 10000 && of_fit[SP__VALUE_RANGE] > 10000,
	   "many of them fit, many do not");
}

static void check_times(void)
{
	const struct sp__value_type time_type = { 'T', 6, 8 }, date_type = { 'D', 0, 4 };
	struct sp__rng rng = { 2 };
	unsigned wrong = 0;

	for (int i = 0; i < 100000; i++) {
		struct tm tm = { .tm_year = (int)sp__rng_below(&rng, 10000) - 1900,
				 .tm_mon = (int)sp__rng_below(&rng, 12),
				 .tm_mday = 1 + (int)sp__rng_below(&rng, 28),
				 .tm_hour = (int)sp__rng_below(&rng, 24),
				 .tm_min = (int)sp__rng_below(&rng, 60),
				 .tm_sec = (int)sp__rng_below(&rng, 60) };
		int us = (int)sp__rng_below(&rng, 1000000);
		int64_t s, v = 0;
		int32_t day = 0;
		char text[TEXT];

		snprintf(text, sizeof(text), "%04d-%02d-%02d %02d:%02d:%02d.%06d",
			 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
			 tm.tm_sec, us);
		s = timegm(&tm);
		wrong += sp__value_read(&time_type, text, strlen(text), &v) != SP__VALUE_OK ||
			 v != s * 1000000 + us;
		wrong += sp__value_read(&date_type, text, 10, &day) != SP__VALUE_OK ||
			 day * INT64_C(86400) != s - tm.tm_hour * 3600 - tm.tm_min * 60 - tm.tm_sec;
	}
	ok(!wrong, "random times are those of timegm()");
}

static struct sp__value_type random_type(struct sp__rng *rng)
{
	switch (sp__rng_below(rng, 6)) {
	case 0:
		return (struct sp__value_type){ 'f', 0, 4u << sp__rng_below(rng, 2) };
	case 1:
		return (struct sp__value_type){ 'D', 0, 4 };
	case 2:
		return (struct sp__value_type){ 'T', 6, 8 };
	case 3:
		return (struct sp__value_type){ 'c', 0, 1 + (uint32_t)sp__rng_below(rng, 8) };
	default:
		return random_exact(rng);
	}
}

/* True if the bits are a value that is not NaN. */
static bool random_value(struct sp__rng *rng, const struct sp__value_type *t, uint8_t v[8])
{
	uint64_t bits = sp__rng_next(rng) >> sp__rng_below(rng, 64);
	double wide = 0;
	float narrow = 0;

	if (sp__rng_below(rng, 2))
		bits = -bits;
	memcpy(v, &bits, 8);
	memcpy(&wide, v, 8);
	memcpy(&narrow, v, 4);
	if (t->kind == 'f')
		return t->bytes == 8 ? !isnan(wide) : !isnan(narrow);
	return sp__value_check(t, v) == SP__VALUE_OK;
}

static void check_round_trips(void)
{
	struct sp__rng rng = { 3 };
	unsigned wrong = 0, values = 0;

	for (int i = 0; i < 500000; i++) {
		struct sp__value_type t = random_type(&rng), again;
		uint8_t v[8], back[8];
		bool canonical = true;
		char text[TEXT];
		size_t n;

		n = sp__value_type_print(&t, text);
		wrong += sp__value_type_parse(&again, text, n) || !sp__value_type_same(&t, &again);
		if (!random_value(&rng, &t, v))
			continue;
		values++;
		n = sp__value_write(&t, v, text);
		wrong += sp__value_take(&t, text, n, back, &canonical) != SP__VALUE_OK ||
			 !canonical || memcmp(v, back, t.bytes) != 0 ||
			 sp__value_compare(&t, v, back) != 0;
	}
	ok(!wrong && values > 100000, "random values come back from their text");
}

/* True if the type reads the greatest and the least value of an exact type. */
static bool holds_ends(const struct sp__value_type *wide, const struct sp__value_type *t)
{
	sp__int128 min, max;
	char text[TEXT];
	uint8_t v[8];
	size_t n;

	ends(t, &min, &max);
	for (int i = 0; i < 2; i++) {
		uint64_t bits = (uint64_t)(i ? max : min);

		memcpy(v, &bits, sizeof(v));
		n = sp__value_write(t, v, text);
		if (sp__value_read(wide, text, n, v))
			return false;
	}
	return true;
}

static void check_wider(void)
{
	struct sp__rng rng = { 4 };
	unsigned wrong = 0, found = 0;

	for (int i = 0; i < 200000; i++) {
		struct sp__value_type t = random_exact(&rng), wide;
		struct spelled s;
		uint8_t v[8];

		random_spelling(&rng, &s);
		if (sp__value_read(&t, s.text, strlen(s.text), v) == SP__VALUE_OK)
			continue;
		wide = sp__value_type_wider(&t, s.text, strlen(s.text));
		if (wide.kind == 't')
			continue;
		found++;
		wrong += sp__value_read(&wide, s.text, strlen(s.text), v) != SP__VALUE_OK ||
			 !holds_ends(&wide, &t);
	}
	ok(!wrong && found > 10000, "a wider type holds the value and all values of the narrower");
}

int main(void)
{
	check_all();
	check_spellings();
	check_times();
	check_round_trips();
	check_wider();
	return done();
}
