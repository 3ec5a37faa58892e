/* SPDX-License-Identifier: MIT */
/*
 * Infers types of columns (infer.h).
 *
 * Algorithm: a set of possible types shrinks.  A number is scanned once for all types of numbers;
 * most numbers with at most 15 digits need no further test to be a canonical f64.  A column's words
 * are collected from the start, also if they are numbers, because a later field can exclude all
 * other types.
 *
 * Invariants: facts are maxima, sums and sets, so the order of fields does not change them; only
 * codes of words depend on it.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/minmax.h"
#include "base/floats.h"
#include "columns/infer.h"
#include "rec/calendar.h"
#include "rec/numeral.h"
#include "rec/value.h"

/* Kinds of types; of these NUMBER, REAL and MOMENT in any spelling. */
enum {
	NUMBER = 1, /* decimals */
	FLOAT = 2,
	DATE = 4,
	TIME = 8,
	WORDS = 16,
	CHARS = 32,
	REAL = 64,     /* numbers that f64 holds */
	NUMERAL = 128, /* numbers of any length */
	MOMENT = 256,  /* dates and times */
	DIGITS = 512,  /* digits alone */
};

/* Properties of fields. */
enum {
	SPELLED = 1, /* a number is not canonical */
	MIXED = 2,   /* places differ */
	ZEROS = 4,   /* a number begins with a zero that it does not need */
	FIGURES = 8, /* a number has digits: it is not nan or inf */
	TEXTS = 16,  /* a text of JSON */
};

#define NO_PLACES 0xFF	 /* no number and no time yet */
#define WORD_OVERHEAD 24 /* bytes of memory for each word, in addition to its text */
#define WORD_USES 4	 /* fields per word from which on a dictionary is chosen */
#define CHARS_MAX 255
#define F64_EXACT UINT64_C(1000000000000000) /* integers below it have at most 15 digits */

int sp__inference_init(struct sp__inference *f, uint32_t n, uint64_t words_bytes,
		       struct sp__budget *budget)
{
	*f = (struct sp__inference){ 0 };
	return n ? sp__inference_grow(f, n, words_bytes, budget) : 0;
}

int sp__inference_grow(struct sp__inference *f, uint32_t n, uint64_t words_bytes,
		       struct sp__budget *budget)
{
	if (!SP__ARRAY_GROW(f->columns, f->capacity, n))
		return -ENOMEM;
	for (uint32_t i = f->n; i < n; i++)
		f->columns[i] = (struct sp__infer){
			.possible = NUMBER | FLOAT | DATE | TIME | WORDS | CHARS | REAL | NUMERAL |
				    MOMENT | DIGITS,
			.places = NO_PLACES,
			.bytes_min = SIZE_MAX,
			.words.budget = budget,
		};
	f->n = n;
	f->words_bytes = words_bytes / n;
	return 0;
}

void sp__inference_free(struct sp__inference *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		sp__dictionary_free(&f->columns[i].words);
	free(f->columns);
	*f = (struct sp__inference){ 0 };
}

static void exclude(struct sp__infer *c, unsigned kinds)
{
	c->possible &= ~kinds;
}

static void note_places(struct sp__infer *c, uint8_t places)
{
	if (c->places == NO_PLACES)
		c->places = places;
	if (c->places != places)
		c->seen |= MIXED;
	c->places_max = sp__max(c->places_max, places);
}

/* True if a canonical number is a canonical f64 without further test. */
static bool is_short_float(const struct sp__numeral *v)
{
	return v->units < F64_EXACT && (!v->places || v->units % 10) &&
	       (v->places <= 4 || v->units >= sp__value_power(v->places - 4));
}

static bool is_float(const struct sp__slice *field)
{
	uint8_t value[sizeof(double)];
	bool canonical = true;

	return sp__value_take(&sp__value_types[SP__VALUE_F64], field->p, field->n, value,
			      &canonical) == SP__VALUE_OK &&
	       canonical;
}

static void note_decimal(struct sp__infer *c, const struct sp__numeral *v)
{
	uint64_t *max = v->minus ? &c->negative_max : &c->positive_max;

	*max = sp__max(*max, v->units);
	c->units_max[v->places] = sp__max(c->units_max[v->places], v->units);
	note_places(c, (uint8_t)v->places);
}

/* Notes the form of a number of this text. */
static void note_form(struct sp__infer *c, const struct sp__slice *s, const struct sp__numeral *v)
{
	const size_t sign = *s->p == '-' || *s->p == '+';
	const char *p = s->p + sign;

	c->seen |= FIGURES;
	if (s->n - sign > 1 && *p == '0' && p[1] != '.')
		c->seen |= ZEROS;
	if (sign || v->places || s->p[s->n - 1] == '.')
		exclude(c, DIGITS);
}

static void test_number(struct sp__infer *c, const struct sp__slice *field)
{
	const struct sp__slice s = sp__value_trim(field->p, field->n);
	struct sp__numeral v;
	bool scanned = sp__numeral_scan(s.p, s.n, &v), canonical, decimal;
	double unused;

	decimal = scanned && !v.large && v.places <= SP__DEC_PLACES;
	canonical = decimal && v.canonical && s.n == field->n;
	if (scanned)
		note_form(c, &s, &v);
	else
		exclude(c, NUMBER | DIGITS);
	if (decimal)
		note_decimal(c, &v);
	else
		exclude(c, NUMBER);
	if (!canonical)
		c->seen |= SPELLED;
	if ((c->possible & FLOAT) && !(canonical && is_short_float(&v)) && !is_float(field))
		exclude(c, FLOAT);
	if ((c->possible & REAL) && !(decimal && v.units < F64_EXACT) &&
	    !sp__value_f64_holds(s.p, s.n))
		exclude(c, REAL);
	if (!scanned && sp__read_f64(s.p, s.n, &unused) == -EINVAL)
		exclude(c, REAL | NUMERAL);
	else if (!scanned && s.p[s.n - 1] >= '0' && s.p[s.n - 1] <= '9')
		c->seen |= FIGURES;
}

static void test_calendar(struct sp__infer *c, const struct sp__slice *field)
{
	bool canonical = true;
	unsigned decimals;
	int32_t days;
	int64_t us;

	if (sp__date_parse(field->p, field->n, &days)) {
		exclude(c, TIME);
	} else if (sp__value_moment(field->p, field->n, &us, &decimals, &canonical)) {
		exclude(c, canonical ? DATE : DATE | TIME);
		note_places(c, (uint8_t)decimals);
	} else {
		exclude(c, DATE | TIME | MOMENT);
	}
}

/* Adds a word unless the words need more than their share of memory. */
static int add_word(struct sp__infer *c, const struct sp__slice *word, uint64_t max_bytes)
{
	uint32_t code;
	int rc = -ENOSPC;

	if (sp__dictionary_find(&c->words, word->p, word->n))
		return 0;
	if (sp__dictionary_bytes(&c->words) + word->n +
		    (c->words.n + 1) * (uint64_t)WORD_OVERHEAD <=
	    max_bytes)
		rc = sp__dictionary_add(&c->words, word->p, word->n, SP__DICT16_WORDS, &code);
	if (!rc || rc == -ENOMEM)
		return rc;
	exclude(c, WORDS);
	sp__dictionary_free(&c->words);
	return 0;
}

int sp__inference_add(struct sp__inference *f, uint32_t column, const struct sp__slice *field)
{
	struct sp__infer *c = &f->columns[column];

	c->values++;
	c->bytes_min = sp__min(c->bytes_min, field->n);
	c->bytes_max = sp__max(c->bytes_max, field->n);
	if (c->possible & NUMERAL)
		test_number(c, field);
	if (c->possible & MOMENT)
		test_calendar(c, field);
	if (!field->n || !field->p[field->n - 1])
		exclude(c, CHARS);
	return c->possible & WORDS ? add_word(c, field, f->words_bytes) : 0;
}

int sp__inference_add_text(struct sp__inference *f, uint32_t column, const struct sp__slice *text)
{
	struct sp__infer *c = &f->columns[column];

	c->seen |= TEXTS;
	exclude(c, NUMBER | FLOAT | REAL | NUMERAL | DIGITS);
	return sp__inference_add(f, column, text);
}

bool sp__inference_texts(const struct sp__inference *f, uint32_t column)
{
	return f->columns[column].seen & TEXTS;
}

void sp__inference_add_blank(struct sp__inference *f, uint32_t column)
{
	f->columns[column].blanks++;
}

/* Finds the narrowest type of exact numbers.  False: there is none. */
static bool number_type(const struct sp__infer *c, struct sp__value_type *t)
{
	for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
		*t = (struct sp__value_type){ c->places ? 'd' : 'i', c->places, bytes };
		if (sp__max(c->positive_max, c->negative_max) < sp__value_null_bits(t))
			return true;
		t->kind = 'u';
		if (!c->places && !c->negative_max && c->positive_max < sp__value_null_bits(t))
			return true;
	}
	return false;
}

/* Finds the narrowest decimals with as many places as one of the fields.  False: there are none. */
static bool decimal_type(const struct sp__infer *c, struct sp__value_type *t)
{
	uint64_t whole = 0, units;

	for (unsigned i = 0; i <= SP__DEC_PLACES; i++)
		whole = sp__max(whole, c->units_max[i] / sp__value_power(i));
	if (!c->places_max || whole == UINT64_MAX ||
	    __builtin_mul_overflow(whole + 1, sp__value_power(c->places_max), &units))
		return false;
	for (uint32_t bytes = 1; bytes <= 8; bytes *= 2) {
		*t = (struct sp__value_type){ 'd', c->places_max, bytes };
		if (units <= sp__value_null_bits(t))
			return true;
	}
	return false;
}

/* Finds the type of texts. */
static struct sp__value_type text_type(const struct sp__infer *c, bool whole)
{
	const uint64_t words = c->words.n + (c->blanks > 0), values = c->values + c->blanks;
	unsigned spare = whole ? 1 : 2;

	if (!c->values)
		return (struct sp__value_type){ 't', 0, 4 };
	if ((c->possible & WORDS) && words <= values / WORD_USES) {
		if (words * spare <= SP__DICT8_WORDS)
			return (struct sp__value_type){ 'w', 0, 1 };
		if (words * spare <= SP__DICT16_WORDS)
			return (struct sp__value_type){ 'w', 0, 2 };
	}
	if ((c->possible & CHARS) && !c->blanks && c->bytes_min == c->bytes_max &&
	    c->bytes_max <= CHARS_MAX)
		return (struct sp__value_type){ 'c', 0, (uint32_t)c->bytes_max };
	return (struct sp__value_type){ 't', 0, 4 };
}

/* True if the fields are identifiers, such as 007: digits that are not a number's. */
static bool is_identifier(const struct sp__infer *c)
{
	return (c->possible & DIGITS) && (c->seen & ZEROS) && c->bytes_min == c->bytes_max;
}

/* Finds a type whose values are written as the fields.  False: it is one of texts. */
static bool canonical_type(const struct sp__infer *c, struct sp__value_type *t)
{
	if ((c->possible & NUMBER) && !(c->seen & (SPELLED | MIXED)) && number_type(c, t))
		return true;
	if (c->possible & DATE)
		*t = (struct sp__value_type){ 'D', 0, 4 };
	else if ((c->possible & TIME) && !(c->seen & MIXED))
		*t = (struct sp__value_type){ 'T', c->places, 8 };
	else if (c->possible & FLOAT)
		*t = sp__value_types[SP__VALUE_F64];
	return (c->possible & (DATE | FLOAT)) || ((c->possible & TIME) && !(c->seen & MIXED));
}

/* Finds a type that holds all values.  False: it is one of texts. */
static bool value_type(const struct sp__infer *c, struct sp__value_type *t)
{
	if (c->possible & MOMENT) {
		*t = (struct sp__value_type){ 'T', c->places_max, 8 };
		return true;
	}
	if (!(c->seen & FIGURES) || is_identifier(c))
		return false;
	if ((c->possible & NUMBER) && !(c->seen & MIXED) && number_type(c, t))
		return true;
	if (c->possible & REAL) {
		*t = sp__value_types[SP__VALUE_F64];
		return true;
	}
	return (c->possible & NUMBER) && decimal_type(c, t);
}

struct sp__value_type sp__inference_type(const struct sp__inference *f, uint32_t column, bool whole,
					 enum sp__infer_note *note)
{
	const struct sp__infer *c = &f->columns[column];
	enum sp__infer_note unused;
	struct sp__value_type t;

	note = note ? note : &unused;
	*note = SP__INFER_CANONICAL;
	if (!c->values || (c->blanks && f->exact))
		return text_type(c, whole);
	if (canonical_type(c, &t)) {
		*note = c->blanks ? SP__INFER_RESPELLED : SP__INFER_CANONICAL;
		return t;
	}
	if (!f->exact && !(c->seen & TEXTS) && value_type(c, &t)) {
		*note = SP__INFER_RESPELLED;
		return t;
	}
	if (!f->exact && (c->possible & NUMERAL) && (c->seen & FIGURES) && !is_identifier(c))
		*note = SP__INFER_TOO_LONG;
	return text_type(c, whole);
}
