/* SPDX-License-Identifier: MIT */
/*
 * Prints the results of aggregates.
 */
#include <math.h>
#include <string.h>
#include "base/shortest.h"
#include "rec/value_impl.h"
#include "table/where/aggregates_impl.h"

__extension__ typedef unsigned __int128 wide;

#define AVG_PLACES 6
#define NUMBER_TEXT 64 /* bytes of a printed number of 128 bits */

/* Prints a number in units of 10^-places.  Returns its length. */
static size_t print_units(sp__int128 v, unsigned places, char text[NUMBER_TEXT])
{
	char digits[NUMBER_TEXT];
	wide m = v < 0 ? -(wide)v : (wide)v;
	size_t n = 0, length = 0;

	for (; m || n <= places; m /= 10)
		digits[n++] = (char)('0' + m % 10);
	if (v < 0)
		text[length++] = '-';
	for (size_t i = n; i--;) {
		text[length++] = digits[i];
		if (i && i == places)
			text[length++] = '.';
	}
	return length;
}

/* Returns the sum divided by n, in units that are 10^AVG_PLACES times smaller. */
static sp__int128 average(sp__int128 sum, uint64_t n)
{
	const sp__int128 power = (sp__int128)sp__value_power(AVG_PLACES);
	const wide m = sum < 0 ? -(wide)sum : (wide)sum;
	const wide rest = m % n * (wide)power; /* less than 2^64 * 2^20 */
	const sp__int128 units = (sp__int128)(m / n) * power + (sp__int128)((2 * rest + n) / 2 / n);

	return sum < 0 ? -units : units;
}

static size_t print_sum(const struct sp__column_sum *s, const struct sp__value_type *t, bool avg,
			char text[NUMBER_TEXT])
{
	const unsigned places = t->kind == 'd' ? t->decimals : 0;
	double x;

	if (t->kind == 'f') {
		x = sp__exactsum_divide(s->reals, avg ? s->n : 1);
		return (size_t)(sp__shortest_f64(text, x) - text);
	}
	if (avg)
		return print_units(average(s->sum, s->n), places + AVG_PLACES, text);
	return print_units(s->sum, places, text);
}

/* Prints the smallest or the largest number, date or time. */
static size_t print_end(const struct sp__column_sum *s, const struct sp__value_type *t, bool max,
			char text[NUMBER_TEXT])
{
	double x = max ? s->max_real : s->min_real;
	uint8_t value[8];
	float narrow;

	if (t->kind != 'f') {
		sp__value_put(value, max ? s->max : s->min, t->bytes);
		return sp__value_write(t, value, text);
	}
	if (max ? s->nans : s->nans == s->n)
		x = (double)NAN;
	narrow = (float)x;
	memcpy(value, t->bytes == sizeof(x) ? (void *)&x : (void *)&narrow, t->bytes);
	return sp__value_write(t, value, text);
}

/* Returns the smallest or the largest word that occurs. */
static struct sp__slice word_end(const struct sp__column_sum *s, const struct sp__dictionary *words,
				 bool max)
{
	const unsigned order = max ? SP__ORDER_MORE : SP__ORDER_LESS;
	struct sp__slice end = { 0 };

	for (uint32_t code = 1; code <= words->n; code++) {
		const struct sp__slice word = sp__dictionary_word(words, code);

		if (!(s->codes[code / 64] >> code % 64 & 1))
			continue;
		if (!end.p || sp__predicate_text_order(word.p, word.n, end.p, end.n) == order)
			end = word;
	}
	return end;
}

static struct sp__slice text_end(const struct sp__column_sum *s, const struct sp__table_column *c,
				 bool max)
{
	const struct sp__bytes *text = max ? &s->max_text : &s->min_text;

	if (c->type.kind == 'w')
		return word_end(s, &c->words, max);
	return (struct sp__slice){ text->data, text->bytes };
}

int sp__aggregates_result(const struct sp__aggregates_state *s, uint32_t i, struct sp__bytes *text,
			  bool *is_null, bool *is_text)
{
	const struct sp__aggregates *a = s->aggregates;
	const enum sp__aggregate_function function = a->list[i].function;
	const uint32_t number_of = a->list[i].of;
	const struct sp__column_sum *of = number_of == UINT32_MAX ? NULL : &s->columns[number_of];
	const bool max = function == SP__AGGREGATE_MAX;
	const struct sp__table_column *c;
	char number[NUMBER_TEXT];
	struct sp__slice end;
	size_t n;

	*is_null = *is_text = false;
	if (function == SP__AGGREGATE_COUNT) {
		n = print_units((sp__int128)(of ? of->n : s->records), 0, number);
		return sp__bytes_append(text, number, n, NULL);
	}
	c = &a->schema->columns[a->columns[number_of].column];
	*is_text = sp__type_is_text(&c->type);
	*is_null = !of->n;
	if (*is_null)
		return 0;
	if (*is_text) {
		end = text_end(of, c, max);
		return end.n ? sp__bytes_append(text, end.p, end.n, NULL) : 0;
	}
	if (function == SP__AGGREGATE_MIN || max)
		n = print_end(of, &c->type, max, number);
	else
		n = print_sum(of, &c->type, function == SP__AGGREGATE_AVG, number);
	return sp__bytes_append(text, number, n, NULL);
}
