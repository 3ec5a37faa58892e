/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads a schema.
 */
#include <stdlib.h>
#include "table/schema/code.h"

/* The fewest bytes of a column: its name's length, kind, decimals, bytes and two flags. */
#define COLUMN_BYTES 48

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
	c->failed |= !sp__table_type_possible(t);
}

static void code_column(struct sp__coder *c, struct sp__table_column *column, bool *budget_exceeded)
{
	sp__code_text(c, &column->name);
	if (!c->failed)
		c->failed = !column->name || strlen(column->name) > SP__COLUMN_NAME_MAX;
	code_type(c, &column->type);
	sp__code_flag(c, &column->not_null);
	sp__code_flag(c, &column->bounds);
	c->failed |= column->bounds && !sp__table_type_bounded(&column->type);
	if (!c->failed && column->type.kind == 'w')
		code_words(c, &column->words,
			   column->type.bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS,
			   budget_exceeded);
}

static void code_style(struct sp__coder *c, struct sp__table_style *s)
{
	uint32_t format = s->format, quoting = s->quoting, separator = (uint8_t)s->separator;

	sp__code_max(c, &format, SP_TABLE_FIXED);
	sp__code_max(c, &quoting, SP__QUOTES_ALL);
	sp__code_max(c, &separator, UINT8_MAX);
	s->format = (enum sp_table_format)format;
	s->quoting = (enum sp__table_quoting)quoting;
	s->separator = (char)separator;
	sp__code_flag(c, &s->header);
	sp__code_flag(c, &s->trailing_separator);
	sp__code_flag(c, &s->cr);
	sp__code_flag(c, &s->no_final_newline);
	sp__code_text(c, &s->null_text);
}

void sp__table_schema_code(struct sp__coder *c, struct sp__table_schema *s)
{
	size_t n = s->n;

	code_style(c, &s->style);
	sp__code_length(c, &n, &s->columns, sizeof(*s->columns), COLUMN_BYTES);
	s->n = (uint32_t)n;
	c->failed |= n > SP__COLUMNS_MAX;
	for (size_t i = 0; !c->failed && i < n; i++) {
		s->columns[i].words.budget = s->budget;
		code_column(c, &s->columns[i], &s->budget_exceeded);
	}
	for (size_t i = 0; s->arrow && !c->failed && i < n; i++) {
		const char *kept;

		sp__code_text(c, &s->columns[i].arrow);
		kept = s->columns[i].arrow;
		c->failed |= kept && strlen(kept) > SP__COLUMN_ARROW_MAX;
	}
}
