/* SPDX-License-Identifier: MIT */
/*
 * Allocates chunks, and maps the codes of their words.
 */
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "columns/textchunk.h"
#include "rec/recfmt.h"

#define ENDS 8192 /* found together, or those of one record */

static uint32_t max_ends(const struct sp__textchunk_opts *o)
{
	return (uint32_t)sp__max(o->fields.fields, ENDS);
}

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + 7) / 8 * 8;
}

/* Returns the bytes of the values of a column. */
static uint64_t column_bytes(const struct sp__textchunk_opts *o, const struct sp__value_type *t)
{
	size_t bytes = t->kind == 't' ? sizeof(struct sp__text_ref) : t->bytes;

	return rounded((uint64_t)o->max_records * bytes);
}

static uint64_t ends_bytes(const struct sp__textchunk_opts *o)
{
	if (o->members)
		return max_ends(o) * sizeof(struct sp__text_ref);
	return rounded((max_ends(o) + 1 + SP__FIELDENDS_SLACK) * sizeof(uint32_t));
}

/* Returns the bytes of the offsets of records, by which the place of a word is found. */
static uint64_t begins_bytes(const struct sp__textchunk_opts *o)
{
	if (o->members)
		return rounded((uint64_t)o->max_records * sizeof(uint32_t));
	for (uint32_t i = 0; i < o->schema->n; i++)
		if (o->schema->columns[i].type.kind == 'w')
			return rounded((uint64_t)o->max_records * sizeof(uint32_t));
	return 0;
}

uint64_t sp__textchunk_memory(const struct sp__textchunk_opts *o)
{
	uint64_t bytes = rounded(o->text_bytes) + ends_bytes(o) + begins_bytes(o);

	for (uint32_t i = 0; i < o->schema->n; i++)
		bytes += column_bytes(o, &o->schema->columns[i].type);
	return bytes;
}

int sp__textchunk_open(struct sp__textchunk *c, const struct sp__textchunk_opts *o)
{
	const uint32_t n = o->schema->n;
	char *at;

	*c = (struct sp__textchunk){ .opts = o, .memory_bytes = sp__textchunk_memory(o) };
	c->columns = calloc(n, sizeof(*c->columns));
	c->values = calloc(n, sizeof(*c->values));
	c->memory = sp__pages_alloc(c->memory_bytes, false);
	if (!c->columns || !c->values || !c->memory)
		return -ENOMEM;
	sp__budget_charge(o->budget, c->memory_bytes);
	c->reader.members = o->members;
	c->text = at = c->memory;
	at += rounded(o->text_bytes);
	c->ends.ends = (uint32_t *)(void *)at;
	c->refs = (struct sp__text_ref *)(void *)at;
	c->ends.max_ends = max_ends(o);
	at += ends_bytes(o);
	if (begins_bytes(o))
		c->begins = (uint32_t *)(void *)at;
	at += begins_bytes(o);
	for (uint32_t i = 0; i < n; i++) {
		struct sp__textchunk_column *column = &c->columns[i];

		column->values = (uint8_t *)at;
		column->refs = (struct sp__text_ref *)(void *)at;
		column->words.budget = o->budget;
		c->values[i] = (struct sp__column_values){ column->values, column->refs, c->text };
		at += column_bytes(o, &o->schema->columns[i].type);
	}
	return 0;
}

void sp__textchunk_close(struct sp__textchunk *c)
{
	for (uint32_t i = 0; c->columns && i < c->opts->schema->n; i++) {
		sp__dictionary_free(&c->columns[i].words);
		free(c->columns[i].codes);
	}
	free(c->columns);
	free(c->values);
	sp__member_reader_free(&c->reader);
	if (c->memory) {
		sp__pages_free(c->memory, c->memory_bytes);
		sp__budget_credit(c->opts->budget, c->memory_bytes);
	}
	*c = (struct sp__textchunk){ 0 };
}

void sp__textchunk_begin(struct sp__textchunk *c, uint32_t bytes)
{
	c->bytes = bytes;
	c->at = c->first = c->records = c->other_ends = 0;
	c->last_other = false;
	c->line = c->blank_lines = c->made_texts = 0;
	c->error = (struct sp__textchunk_error){ 0 };
}

/* Adds the words that are new here to the table's.  Code 0, NULL, stays. */
static int add_words(struct sp__textchunk_column *c, const struct sp__value_type *t,
		     struct sp__dictionary *table)
{
	const uint32_t max = t->bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS;
	int rc = 0;

	if (!c->codes)
		c->codes = calloc(max + 1, sizeof(*c->codes));
	if (!c->codes)
		return -ENOMEM;
	while (!rc && c->mapped < c->words.n) {
		struct sp__slice word = sp__dictionary_word(&c->words, c->mapped + 1);
		uint32_t code = 0;

		rc = sp__dictionary_add(table, word.p, word.n, max, &code);
		if (!rc)
			c->codes[++c->mapped] = (uint16_t)code;
	}
	return rc;
}

static void map_codes(struct sp__textchunk_column *c, const struct sp__value_type *t,
		      uint32_t records)
{
	uint16_t *wide = (uint16_t *)(void *)c->values;

	if (t->bytes == 1)
		for (uint32_t i = 0; i < records; i++)
			c->values[i] = (uint8_t)c->codes[c->values[i]];
	else
		for (uint32_t i = 0; i < records; i++)
			wide[i] = c->codes[wide[i]];
}

/* Describes the first value with a word that the table's dictionary did not take. */
static int refuse_word(struct sp__textchunk *c, uint32_t column, bool narrow, int rc)
{
	const struct sp__textchunk_column *of = &c->columns[column];
	const uint16_t *wide = (const uint16_t *)(const void *)of->values;
	struct sp__slice word = { 0 };
	uint32_t i = 0, begin;

	if (of->mapped < of->words.n)
		word = sp__dictionary_word(&of->words, of->mapped + 1);
	while (i + 1 < c->records && (narrow ? of->values[i] : wide[i]) <= of->mapped)
		i++;
	begin = c->begins[i];
	c->error = (struct sp__textchunk_error){
		.fault = SP__TEXTCHUNK_WORDS,
		.rc = rc,
		.column = column,
		.record = c->first + i,
		.text = word.p,
		.bytes = (uint32_t)word.n,
		.line = c->opts->members ? begin : sp__count_lines(c->text, begin)
	};
	return rc;
}

int sp__textchunk_add_words(struct sp__textchunk *c, struct sp__schema *table)
{
	for (uint32_t i = 0; i < table->n; i++) {
		const struct sp__value_type *t = &table->columns[i].type;
		int rc;

		if (t->kind != 'w' || !c->records)
			continue;
		rc = add_words(&c->columns[i], t, &table->columns[i].words);
		if (rc)
			return refuse_word(c, i, t->bytes == 1, rc);
	}
	return 0;
}

void sp__textchunk_map_words(struct sp__textchunk *c)
{
	const struct sp__schema *s = c->opts->schema;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->columns[i].type.kind == 'w' && c->records)
			map_codes(&c->columns[i], &s->columns[i].type, c->records);
}
