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
#include "base/minmax.h"
#include "rec/calendar.h"
#include "rec/numeral.h"
#include "rec/value_impl.h"
#include "table/input/infer.h"

enum { NUMBER = 1, FLOAT = 2, DATE = 4, TIME = 8, WORDS = 16, CHARS = 32 };

#define NO_PLACES 0xFF	 /* no number and no time yet */
#define WORD_OVERHEAD 24 /* bytes of memory for each word, in addition to its text */
#define WORD_USES 4	 /* fields per word from which on a dictionary is chosen */
#define CHARS_MAX 255
#define F64_EXACT UINT64_C(1000000000000000) /* integers below it have at most 15 digits */

int sp__inference_init(struct sp__inference *f, uint32_t n, uint64_t words_bytes,
		       struct sp__budget *budget)
{
	*f = (struct sp__inference){ .n = n, .words_bytes = n ? words_bytes / n : 0 };
	f->columns = calloc(n ? n : 1, sizeof(*f->columns));
	if (!f->columns)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		f->columns[i] = (struct sp__infer){
			.possible = NUMBER | FLOAT | DATE | TIME | WORDS | CHARS,
			.places = NO_PLACES,
			.bytes_min = SIZE_MAX,
			.words.budget = budget,
		};
	return 0;
}

void sp__inference_free(struct sp__inference *f)
{
	for (uint32_t i = 0; f->columns && i < f->n; i++)
		sp__dictionary_free(&f->columns[i].words);
	free(f->columns);
	*f = (struct sp__inference){ 0 };
}

/* False: fields differ in their decimal places. */
static bool agree_on_places(struct sp__infer *c, uint8_t places)
{
	if (c->places == NO_PLACES)
		c->places = places;
	return c->places == places;
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

static void test_number(struct sp__infer *c, const struct sp__slice *field)
{
	struct sp__numeral v;
	bool plain = sp__numeral_scan(field->p, field->n, &v) && v.canonical && !v.large &&
		     v.places <= SP__DEC_PLACES;
	uint64_t *max = v.minus ? &c->negative_max : &c->positive_max;

	if (plain)
		*max = sp__max(*max, v.units);
	if ((c->possible & NUMBER) && !(plain && agree_on_places(c, (uint8_t)v.places)))
		c->possible &= ~(unsigned)NUMBER;
	if ((c->possible & FLOAT) && !(plain && is_short_float(&v)) && !is_float(field))
		c->possible &= ~(unsigned)FLOAT;
}

static void test_calendar(struct sp__infer *c, const struct sp__slice *field)
{
	unsigned decimals;
	int32_t days;
	int64_t us;

	if ((c->possible & DATE) && !sp__date_parse(field->p, field->n, &days))
		c->possible &= ~(unsigned)DATE;
	if ((c->possible & TIME) && !(sp__time_parse(field->p, field->n, &us, &decimals) &&
				      agree_on_places(c, (uint8_t)decimals)))
		c->possible &= ~(unsigned)TIME;
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
	c->possible &= ~(unsigned)WORDS;
	sp__dictionary_free(&c->words);
	return 0;
}

int sp__inference_add(struct sp__inference *f, uint32_t column, const struct sp__slice *field)
{
	struct sp__infer *c = &f->columns[column];

	c->values++;
	c->bytes_min = sp__min(c->bytes_min, field->n);
	c->bytes_max = sp__max(c->bytes_max, field->n);
	if (c->possible & (NUMBER | FLOAT))
		test_number(c, field);
	if (c->possible & (DATE | TIME))
		test_calendar(c, field);
	if (!field->n || !field->p[field->n - 1])
		c->possible &= ~(unsigned)CHARS;
	return c->possible & WORDS ? add_word(c, field, f->words_bytes) : 0;
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

/* Finds the type of texts. */
static struct sp__value_type text_type(const struct sp__infer *c, bool whole)
{
	unsigned spare = whole ? 1 : 2;

	if ((c->possible & WORDS) && c->words.n <= c->values / WORD_USES) {
		if (c->words.n * spare <= SP__DICT8_WORDS)
			return (struct sp__value_type){ 'w', 0, 1 };
		if (c->words.n * spare <= SP__DICT16_WORDS)
			return (struct sp__value_type){ 'w', 0, 2 };
	}
	if ((c->possible & CHARS) && c->bytes_min == c->bytes_max && c->bytes_max <= CHARS_MAX)
		return (struct sp__value_type){ 'c', 0, (uint32_t)c->bytes_max };
	return (struct sp__value_type){ 't', 0, 4 };
}

struct sp__value_type sp__inference_type(const struct sp__inference *f, uint32_t column, bool whole)
{
	const struct sp__infer *c = &f->columns[column];
	struct sp__value_type t;

	if (!c->values)
		return (struct sp__value_type){ 't', 0, 4 };
	if ((c->possible & NUMBER) && number_type(c, &t))
		return t;
	if (c->possible & DATE)
		return (struct sp__value_type){ 'D', 0, 4 };
	if (c->possible & TIME)
		return (struct sp__value_type){ 'T', c->places, 8 };
	return c->possible & FLOAT ? sp__value_types[SP__VALUE_F64] : text_type(c, whole);
}
