/* SPDX-License-Identifier: MIT */
/*
 * Finds, adds and checks columns; codes a schema as bytes.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/coder.h"
#include "base/edits.h"
#include "columns/schema.h"

/* The fewest bytes of a column: its name's length, kind, decimals, bytes and two flags. */
#define COLUMN_BYTES 48

#define FORMAT_JSON (SP_REC_FIXED + 1) /* number of the format in the file */

/* Codes a dictionary: the number of words, then each as its length (4 bytes) and its bytes. */
static void code_words(struct sp__coder *c, struct sp__dictionary *d, uint32_t max_words,
		       bool *budget_exceeded)
{
	uint32_t n = d->n;

	sp__code_max(c, &n, max_words);
	for (uint32_t i = 1; !c->failed && i <= n; i++) {
		struct sp__slice word = { 0 };
		uint32_t bytes, code = 0;
		int rc;

		if (!c->reading)
			word = sp__dictionary_word(d, i);
		bytes = (uint32_t)word.n;
		sp__code_u32(c, &bytes);
		if (!c->reading) {
			sp__code_bytes(c, (void *)(uintptr_t)word.p, bytes);
			continue;
		}
		c->failed |= bytes > c->bytes - c->at;
		if (c->failed)
			return;
		rc = sp__dictionary_add(d, (const char *)c->from + c->at, bytes, max_words, &code);
		*budget_exceeded |= rc == SP_EBUDGET;
		sp__coder_lack(c, rc == -ENOMEM || rc == SP_EBUDGET);
		c->failed |= rc || code != i;
		c->at += bytes;
	}
}

static void code_type(struct sp__coder *c, struct sp__value_type *t)
{
	uint32_t kind = (uint8_t)t->kind, decimals = t->decimals;

	sp__code_max(c, &kind, INT8_MAX);
	sp__code_max(c, &decimals, SP__DEC_PLACES);
	sp__code_max(c, &t->bytes, SP__CHAR_MAX);
	t->kind = (char)kind;
	t->decimals = (uint8_t)decimals;
	c->failed |= !sp__value_type_possible(t);
}

static void code_column(struct sp__coder *c, struct sp__column *column, bool json,
			bool *budget_exceeded)
{
	sp__code_text(c, &column->name);
	if (!c->failed)
		c->failed = !column->name || strlen(column->name) > SP__COLUMN_NAME_MAX;
	code_type(c, &column->type);
	sp__code_flag(c, &column->not_null);
	sp__code_flag(c, &column->bounds);
	c->failed |= column->bounds && !sp__column_type_bounded(&column->type);
	if (json)
		sp__code_flag(c, &column->json);
	if (!c->failed && column->type.kind == 'w')
		code_words(c, &column->words,
			   column->type.bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS,
			   budget_exceeded);
}

static void code_style(struct sp__coder *c, struct sp__columns_style *s)
{
	uint32_t format = s->json ? FORMAT_JSON : s->format;
	uint32_t quoting = s->quoting, separator = (uint8_t)s->separator;

	sp__code_max(c, &format, FORMAT_JSON);
	sp__code_max(c, &quoting, SP__QUOTES_ALL);
	sp__code_max(c, &separator, UINT8_MAX);
	s->json = format == FORMAT_JSON;
	s->format = s->json ? SP_REC_LINE : (enum sp_recfmt_kind)format;
	s->quoting = (enum sp__columns_quoting)quoting;
	s->separator = (char)separator;
	sp__code_flag(c, &s->header);
	sp__code_flag(c, &s->trailing_separator);
	sp__code_flag(c, &s->cr);
	sp__code_flag(c, &s->no_final_newline);
	sp__code_text(c, &s->null_text);
}

void sp__schema_code(struct sp__coder *c, struct sp__schema *s)
{
	size_t n = s->n;

	code_style(c, &s->style);
	sp__code_length(c, &n, &s->columns, sizeof(*s->columns), COLUMN_BYTES);
	s->n = (uint32_t)n;
	c->failed |= n > SP__COLUMNS_MAX;
	for (size_t i = 0; !c->failed && i < n; i++) {
		s->columns[i].words.budget = s->budget;
		code_column(c, &s->columns[i], s->style.json, &s->budget_exceeded);
	}
	for (size_t i = 0; s->arrow && !c->failed && i < n; i++) {
		const char *kept;

		sp__code_text(c, &s->columns[i].arrow);
		kept = s->columns[i].arrow;
		c->failed |= kept && strlen(kept) > SP__COLUMN_ARROW_MAX;
	}
}

void sp__schema_free(struct sp__schema *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		free(s->columns[i].name);
		sp__dictionary_free(&s->columns[i].words);
		free(s->columns[i].arrow);
	}
	free(s->columns);
	free(s->style.null_text);
	*s = (struct sp__schema){ 0 };
}

int sp__schema_add(struct sp__schema *s, const char *name, size_t n,
		   const struct sp__value_type *type)
{
	char *copy;

	if (s->n == SP__COLUMNS_MAX || n > SP__COLUMN_NAME_MAX)
		return -E2BIG;
	copy = strndup(name, n);
	if (!copy || !SP__ARRAY_GROW_BY_ONE(s->columns, s->n)) {
		free(copy);
		return -ENOMEM;
	}
	s->columns[s->n++] = (struct sp__column){ .name = copy, .type = *type };
	return 0;
}

int sp__schema_find(const struct sp__schema *s, const char *name, size_t n)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (strlen(s->columns[i].name) == n && !memcmp(s->columns[i].name, name, n))
			return (int)i;
	return -1;
}

const char *sp__schema_nearest(const struct sp__schema *s, const char *name, size_t n)
{
	const char *nearest = NULL;
	unsigned fewest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const char *other = s->columns[i].name;
		unsigned edits = sp__edits(name, n, other, strlen(other));

		if (!nearest || edits < fewest) {
			nearest = other;
			fewest = edits;
		}
	}
	return nearest;
}

/* Names of columns, sorted; of equal names the number of the column decides. */
static int by_name(const void *a, const void *b)
{
	const struct sp__column *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : (*x > *y) - (*x < *y);
}

int sp__schema_repeated(const struct sp__schema *s)
{
	const struct sp__column *sorted[SP__COLUMNS_MAX], *first = NULL;

	for (uint32_t i = 0; i < s->n; i++)
		sorted[i] = &s->columns[i];
	qsort(sorted, s->n, sizeof(*sorted), by_name);
	for (uint32_t i = 1; i < s->n; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name) && (!first || sorted[i] < first))
			first = sorted[i];
	return first ? (int)(first - s->columns) : -1;
}

bool sp__column_type_bounded(const struct sp__value_type *type)
{
	return type->kind != 't' && type->kind != 'w' && type->bytes <= 8;
}

double sp__column_printed_bytes(const struct sp__column *c)
{
	const struct sp__value_type *type = &c->type;

	switch (type->kind) {
	case 'f':
		return type->bytes == 8 ? 19 : 10;
	case 'D':
		return 11;
	case 'T':
		return 20 + type->decimals;
	case 'c':
		return type->bytes + 1;
	case 't':
		return 1;
	case 'w':
		return c->words.n ? 1 + sp__dictionary_bytes(&c->words) / (double)c->words.n : 8;
	default: /* two digits for each byte */
		return 2 * type->bytes + 2;
	}
}

double sp__columns_printed_bytes(const struct sp__schema *s, const bool *columns)
{
	double bytes = 0;

	for (uint32_t i = 0; i < s->n; i++)
		if (columns[i])
			bytes += sp__column_printed_bytes(&s->columns[i]);
	return bytes;
}
