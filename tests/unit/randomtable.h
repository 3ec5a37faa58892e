/* SPDX-License-Identifier: MIT */
/*
 * Random tables in random layouts, whose values follow from record and column: for tests of
 * writing and reading.
 */
#ifndef RANDOMTABLE_H
#define RANDOMTABLE_H

#include <string.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "table/write/writer.h"

#define COLUMNS_MAX 12

static const char *const type_names[] = { "i8",	      "i16",	 "i32",	 "i64",	 "u8",
					  "u16",      "u32",	 "u64",	 "f32",	 "f64",
					  "date",     "char(3)", "time", "text", "dec16(2)",
					  "char(40)", "dict8",	 "text" };
#define TYPES (sizeof(type_names) / sizeof(*type_names))

struct table {
	struct sp__schema schema; /* until the table is created */
	struct sp__table_layout layout;
	struct sp__tablefile file;
	struct sp__tablewriter writer;
	uint64_t records;
};

static struct sp__rng rng;

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

/* The value of a column of a record: the same in each call. */
static void value_of(const struct sp__value_type *t, uint64_t record, uint32_t column, uint8_t *to)
{
	uint64_t h = sp__mix64(record * 64 + column);

	for (uint32_t i = 0; i < t->bytes; i++)
		to[i] = (uint8_t)(h >> i % 8 * 8 ^ i);
	if (t->kind == 'c')
		to[0] = 'a' + to[0] % 26;
	if (t->kind == 'D' || t->kind == 'T') {
		uint64_t v = h % 2000000; /* in the range of dates */

		memcpy(to, &v, t->bytes);
	}
	if (h % 11 == 0)
		sp__value_set_null(t, to);
}

static struct sp__text_ref text_of(uint64_t record, uint32_t column, uint32_t max)
{
	uint64_t h = sp__mix64(record * 64 + column);

	return (struct sp__text_ref){ (uint32_t)(h % 1000),
				      h % 7 ? (uint32_t)((h >> 32) % max) : SP__TEXT_REF_NULL };
}

static void make_schema(struct sp__schema *s, uint32_t n)
{
	char name[16];

	*s = (struct sp__schema){ 0 };
	for (uint32_t i = 0; i < n; i++) {
		const char *type_name = type_names[below(TYPES)];
		struct sp__value_type t;

		snprintf(name, sizeof(name), "c%u", i + 1);
		if (sp__value_type_parse(&t, type_name, strlen(type_name)) ||
		    sp__schema_add(s, name, strlen(name), &t))
			abort();
		s->columns[i].bounds = sp__column_type_bounded(&t);
	}
}

static void make_layout(struct table *t)
{
	unsigned form = (unsigned)below(4);
	uint32_t together[COLUMNS_MAX];
	struct sp__layout_opts o = { .form = &sp__layout_forms[form],
				     .cell_bytes = UINT32_C(1024) << below(4),
				     .strip_bytes = 4096u << below(6) };

	for (uint32_t i = 0; i < COLUMNS_MAX; i++)
		together[i] = (uint32_t)below(3);
	if (!o.form->one_group && below(2))
		o.together = together;
	if (below(2))
		o.page_records = (uint32_t)(1 + below(300));
	if (sp__layout_make(&t->layout, &t->schema, &o, NULL))
		abort();
}

static void open_table(struct table *t, uint64_t memory)
{
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = 4 << 20;
	run.parallel = 1;
	if (sp__tablefile_create(&t->file, "write.tmp", &run, &t->schema, &t->layout, NULL, NULL,
				 NULL) ||
	    sp__tablewriter_open(&t->writer, &t->file, memory, NULL))
		abort();
}

static void close_table(struct table *t)
{
	sp__tablewriter_close(&t->writer);
	(void)sp__tablefile_close(&t->file);
}

static char texts[4096];

/* Puts records in portions of random sizes. */
static void put_records(struct table *t, uint64_t records, uint32_t text_max)
{
	static uint8_t values[COLUMNS_MAX][1000 * 40];
	static struct sp__text_ref refs[COLUMNS_MAX][1000];
	struct sp__column_values columns[COLUMNS_MAX];

	t->records = records;
	for (uint64_t first = 0, n; first < records; first += n) {
		n = sp__min(records - first, 1 + below(1000));
		for (uint32_t c = 0; c < t->file.schema.n; c++) {
			const struct sp__value_type *type = &t->file.schema.columns[c].type;

			columns[c] = (struct sp__column_values){ values[c], refs[c], texts };
			for (uint64_t i = 0; i < n; i++) {
				value_of(type, first + i, c, values[c] + i * type->bytes);
				refs[c][i] = text_of(first + i, c, text_max);
			}
		}
		if (sp__tablewriter_put(&t->writer, n, columns))
			abort();
	}
	if (sp__tablewriter_finish(&t->writer))
		abort();
}

#endif
