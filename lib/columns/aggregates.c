/* SPDX-License-Identifier: MIT */
/*
 * Parses aggregates, keeps their states, and prints their results.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/floats.h"
#include "columns/aggregates_impl.h"
#include "columns/schema_text.h"
#include "expr/token.h"
#include "rec/value.h"

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

static struct sp__slice text_end(const struct sp__column_sum *s, const struct sp__column *c,
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
	const struct sp__column *c;
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

#define SHOWN 40 /* bytes of a user's word in a message */

static const char *const functions[] = { [SP__AGGREGATE_COUNT] = "count",
					 [SP__AGGREGATE_SUM] = "sum",
					 [SP__AGGREGATE_AVG] = "avg",
					 [SP__AGGREGATE_MIN] = "min",
					 [SP__AGGREGATE_MAX] = "max" };
#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

struct parser {
	struct sp__aggregates *a;
	const char *text, *p;
	char *name; /* memory for the name of a column */
	struct sp_errinfo *err;
};

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "aggregate", NULL, -1);
}

static int wrong(struct parser *p, const char *at, const char *reason)
{
	return sp__errf(p->err, SP_ESYNTAX, "aggregate", NULL, -1, "character %zu of '%.*s': %s",
			(size_t)(at - p->text) + 1, SHOWN, p->text, reason);
}

static void skip_blanks(struct parser *p)
{
	p->p += strspn(p->p, " \t");
}

/* Takes a function's name, and the parenthesis after it. */
static int take_function(struct parser *p, enum sp__aggregate_function *function)
{
	const char *at = p->p, *nearest = functions[0];
	const size_t n = strcspn(at, " \t(),\"");
	unsigned fewest = UINT32_MAX;

	for (unsigned i = 0; i < FUNCTIONS; i++) {
		const unsigned edits = sp__edits(at, n, functions[i], strlen(functions[i]));

		if (strlen(functions[i]) == n && !strncasecmp(functions[i], at, n)) {
			*function = (enum sp__aggregate_function)i;
			p->p += n;
			skip_blanks(p);
			return *p->p++ == '('
				       ? 0
				       : wrong(p, p->p - 1, "'(' is expected after a function");
		}
		nearest = edits < fewest ? functions[i] : nearest;
		fewest = edits < fewest ? edits : fewest;
	}
	if (!n)
		return wrong(p, at, "a function is expected: count, sum, avg, min or max");
	return sp__errf(p->err, SP_ESYNTAX, "aggregate", NULL, -1,
			"there is no function '%.*s'; the nearest name is '%s'",
			(int)sp__min(n, SHOWN), at, nearest);
}

/* Takes a column and the closing parenthesis.  Returns its number; -1: none; SP_ESYNTAX. */
static int take_column(struct parser *p)
{
	const char *at = p->p;
	size_t n;

	if (*at == '"') {
		p->p += sp__unquote(at, p->name, &n);
		if (p->p == at)
			return wrong(p, at, "the double quote is not closed");
	} else {
		n = strcspn(at, "(),\"");
		memcpy(p->name, at, n);
		p->p += n;
		while (n && (p->name[n - 1] == ' ' || p->name[n - 1] == '\t'))
			n--;
	}
	skip_blanks(p);
	if (*p->p != ')')
		return wrong(p, p->p, "')' is expected");
	p->p++;
	return n ? sp__names_column(p->a->schema, p->name, n, p->err) : -1;
}

static int not_numbers(struct parser *p, enum sp__aggregate_function function,
		       const struct sp__column *c)
{
	char type[SP__VALUE_TYPE_TEXT];
	const size_t n = sp__value_type_print(&c->type, type);

	return sp__errf(p->err, SP_ESYNTAX, "aggregate", NULL, -1,
			"%s needs a column of numbers, but the type of '%.*s' is %.*s",
			functions[function], SHOWN, c->name, (int)n, type);
}

/* Returns the number of a column among those that are aggregated; UINT32_MAX: no memory. */
static uint32_t note_column(struct sp__aggregates *a, uint32_t column,
			    enum sp__aggregate_function function)
{
	uint32_t i = 0;

	while (i < a->ncolumns && a->columns[i].column != column)
		i++;
	if (i == a->ncolumns) {
		if (!SP__ARRAY_GROW_BY_ONE(a->columns, a->ncolumns))
			return UINT32_MAX;
		a->columns[a->ncolumns++] = (struct sp__aggregate_column){ .column = column };
	}
	a->columns[i].sum |= function == SP__AGGREGATE_SUM || function == SP__AGGREGATE_AVG;
	a->columns[i].ends |= function == SP__AGGREGATE_MIN || function == SP__AGGREGATE_MAX;
	return i;
}

static int add(struct parser *p, enum sp__aggregate_function function, int column)
{
	const struct sp__column *c = column < 0 ? NULL : &p->a->schema->columns[column];
	struct sp__aggregate next = { .function = function, .of = UINT32_MAX };

	if (c && (function == SP__AGGREGATE_SUM || function == SP__AGGREGATE_AVG) &&
	    !strchr("iudf", c->type.kind))
		return not_numbers(p, function, c);
	if (c && (next.of = note_column(p->a, (uint32_t)column, function)) == UINT32_MAX)
		return no_memory(p->err);
	if (asprintf(&next.name, "%s(%s)", functions[function], c ? c->name : "") < 0)
		return no_memory(p->err);
	if (!SP__ARRAY_GROW_BY_ONE(p->a->list, p->a->n)) {
		free(next.name);
		return no_memory(p->err);
	}
	p->a->list[p->a->n++] = next;
	return 0;
}

static int parse(struct parser *p)
{
	do {
		enum sp__aggregate_function function = SP__AGGREGATE_COUNT;
		const char *at;
		int column, rc;

		skip_blanks(p);
		rc = take_function(p, &function);
		if (rc)
			return rc;
		skip_blanks(p);
		at = p->p;
		column = take_column(p);
		if (column < -1)
			return column;
		if (column < 0 && function != SP__AGGREGATE_COUNT)
			return wrong(p, at, "a column is expected");
		rc = add(p, function, column);
		if (rc)
			return rc;
		skip_blanks(p);
	} while (*p->p == ',' && p->p++);
	return *p->p ? wrong(p, p->p, "',' is expected between functions") : 0;
}

int sp__aggregates_parse(struct sp__aggregates **a, const char *text,
			 const struct sp__schema *schema, struct sp_errinfo *err)
{
	struct parser p = { .text = text, .p = text, .err = err };
	int rc;

	*a = NULL;
	p.a = calloc(1, sizeof(*p.a));
	p.name = malloc(strlen(text) + 1);
	if (p.a)
		p.a->schema = schema;
	rc = p.a && p.name ? parse(&p) : no_memory(err);
	free(p.name);
	if (rc)
		sp__aggregates_free(p.a);
	else
		*a = p.a;
	return rc;
}

void sp__aggregates_free(struct sp__aggregates *a)
{
	for (uint32_t i = 0; a && i < a->n; i++)
		free(a->list[i].name);
	if (a) {
		free(a->list);
		free(a->columns);
	}
	free(a);
}

void sp__aggregates_columns(const struct sp__aggregates *a, bool *columns)
{
	for (uint32_t i = 0; i < a->ncolumns; i++)
		columns[a->columns[i].column] = true;
}

uint32_t sp__aggregates_ncolumns(const struct sp__aggregates *a)
{
	return a->ncolumns;
}

uint32_t sp__aggregates_n(const struct sp__aggregates *a)
{
	return a->n;
}

const char *sp__aggregates_name(const struct sp__aggregates *a, uint32_t i)
{
	return a->list[i].name;
}

static const struct sp__column *column_of(const struct sp__aggregates *a, uint32_t i)
{
	return &a->schema->columns[a->columns[i].column];
}

struct sp__aggregates_state *sp__aggregates_state_new(const struct sp__aggregates *a)
{
	struct sp__aggregates_state *s = calloc(1, sizeof(*s) + a->ncolumns * sizeof(*s->columns));
	bool complete = true;

	if (!s)
		return NULL;
	s->aggregates = a;
	for (uint32_t i = 0; i < a->ncolumns; i++) {
		struct sp__column_sum *c = &s->columns[i];
		const char kind = column_of(a, i)->type.kind;

		if (kind == 'w' && a->columns[i].ends)
			complete &= (c->codes = calloc(sp__code_words(column_of(a, i)->words.n),
						       sizeof(*c->codes))) != NULL;
		if (kind == 'f' && a->columns[i].sum)
			complete &= (c->reals = calloc(1, sizeof(*c->reals))) != NULL;
	}
	if (complete)
		return s;
	sp__aggregates_state_free(s);
	return NULL;
}

void sp__aggregates_state_free(struct sp__aggregates_state *s)
{
	for (uint32_t i = 0; s && i < s->aggregates->ncolumns; i++) {
		free(s->columns[i].codes);
		free(s->columns[i].reals);
		sp__bytes_release(&s->columns[i].min_text, s->budget);
		sp__bytes_release(&s->columns[i].max_text, s->budget);
	}
	free(s);
}

int sp__aggregates_add(struct sp__aggregates_state *s, const struct sp__rows *rows,
		       const uint32_t *selected, uint32_t n, struct sp__budget *budget)
{
	const struct sp__aggregates *a = s->aggregates;
	int rc = 0;

	s->budget = budget;
	s->records += n;
	for (uint32_t i = 0; !rc && i < a->ncolumns; i++)
		rc = sp__column_sum_add(&s->columns[i], &a->columns[i], column_of(a, i),
					&rows->vectors[a->columns[i].column], selected, n, budget);
	return rc;
}

int sp__aggregates_merge(struct sp__aggregates_state *s, const struct sp__aggregates_state *more,
			 struct sp__budget *budget)
{
	const struct sp__aggregates *a = s->aggregates;
	int rc = 0;

	s->budget = budget;
	s->records += more->records;
	for (uint32_t i = 0; !rc && i < a->ncolumns; i++)
		rc = sp__column_sum_merge(&s->columns[i], &a->columns[i], &more->columns[i],
					  column_of(a, i), budget);
	return rc;
}
