/* SPDX-License-Identifier: MIT */
/*
 * Reads windows of all columns ahead, and gives their records to a writer.
 *
 * Values that lie one behind the other are written from where they were read; others are gathered,
 * some records at a time.
 *
 * Memory: half for reading, a third for writing; at most GATHER_BYTES for gathered values.
 */
#include <inttypes.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "run/charge.h"
#include "run/memory.h"
#include "table/change/copy.h"
#include "table/change/retype.h"
#include "table/file/tombstones.h"
#include "table/read/ring.h"
#include "table/write/writer.h"

#define GATHER_BYTES (1 << 18)
#define GATHER_RECORDS 1024
#define SHOWN 40 /* bytes of a value in a message */

struct copy {
	struct sp__window_ring ring;
	struct sp__tablefile *from, *to;
	struct sp__tablewriter writer;
	struct sp_table_stats *stats;
	uint32_t max;		    /* records that are gathered */
	uint32_t *offsets;	    /* of these, in the rows */
	uint8_t **values;	    /* of each column: values of these, */
	struct sp__text_ref **refs; /* or texts, ... */
	struct sp__bytes *texts;    /* ... of values that are converted */
	struct sp__column_values *columns;
};

static char kind_of(const struct sp__tablefile *f, uint32_t column)
{
	return f->schema.columns[column].type.kind;
}

/* Copies the words, or makes the column one of more words if there are as many as possible. */
static int copy_words(const struct sp__table_column *from, struct sp__table_column *to)
{
	const uint32_t n = from->words.n;
	uint32_t code;
	int rc = 0;

	if (to->type.bytes == 1 && n == SP__DICT8_WORDS)
		to->type.bytes = 2;
	else if (to->type.bytes == 2 && n == SP__DICT16_WORDS)
		to->type = (struct sp__value_type){ .kind = 't', .bytes = 4 };
	for (uint32_t i = 1; !rc && to->type.kind == 'w' && i <= n; i++) {
		struct sp__slice word = sp__dictionary_word(&from->words, i);

		rc = sp__dictionary_add(&to->words, word.p, word.n, SP__DICT16_WORDS, &code);
	}
	return rc;
}

int sp__copy_schema(const struct sp__tablefile *from, struct sp__table_schema *to)
{
	const struct sp__table_schema *s = &from->schema;
	int rc = 0;

	*to = (struct sp__table_schema){ .budget = s->budget };
	for (uint32_t i = 0; !rc && i < s->n; i++) {
		const struct sp__table_column *c = &s->columns[i];
		struct sp__table_column *made;

		rc = sp__table_schema_add(to, c->name, strlen(c->name), &c->type);
		if (rc)
			break;
		made = &to->columns[i];
		made->not_null = c->not_null;
		made->bounds = c->bounds;
		if (c->type.kind == 'w')
			rc = copy_words(c, made);
		if (!rc && c->arrow && !(made->arrow = strdup(c->arrow)))
			rc = -ENOMEM;
	}
	to->style = s->style;
	to->style.null_text = s->style.null_text ? strdup(s->style.null_text) : NULL;
	return rc || !s->style.null_text || to->style.null_text ? rc : -ENOMEM;
}

/* Cells are checked, which is all. */
static int work(void *copy, struct sp__window_slot *s)
{
	(void)copy;
	(void)s;
	return 0;
}

/* Chooses records of rows from *at on that are not deleted; moves *at.  Returns their number. */
static int choose(struct copy *c, const struct sp__rows *rows, uint32_t *at)
{
	const bool any = c->from->superblock.deleted;
	uint64_t known = UINT64_MAX; /* byte of the tombstones */
	uint8_t bits = 0;
	uint32_t n = 0;
	int rc = 0;

	for (; !rc && *at < rows->n && n < c->max; ++*at) {
		uint64_t record = rows->first + *at;

		if (any && known != record / 8) {
			known = record / 8;
			rc = sp__tombstones_read(c->from, known * 8, 8, &bits, c->ring.err);
		}
		if (!(bits >> record % 8 & 1))
			c->offsets[n++] = *at;
	}
	return rc ? rc : (int)n;
}

/* Gathers texts of n records. */
static void gather_texts(struct copy *c, uint32_t column, const struct sp__vector *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct sp__slice text = sp__vector_text(v, c->offsets[i]);

		c->refs[column][i] =
			(struct sp__text_ref){ (uint32_t)((const char *)text.p - v->text),
					       sp__text_null(text.p, text.n) ? SP__TEXT_REF_NULL
									     : (uint32_t)text.n };
	}
	c->columns[column] = (struct sp__column_values){ .refs = c->refs[column], .base = v->text };
}

/* Describes the value of a record that the new type does not have. */
static int refuse(const struct copy *c, const struct sp__retype *r, uint64_t record, int rc)
{
	char type[SP__VALUE_TYPE_TEXT + 1];

	if (rc != SP_EFORMAT && rc != -ENOSPC)
		return sp__err(c->ring.err, rc, "allocate", NULL, -1);
	type[sp__value_type_print(&r->to->type, type)] = '\0';
	if (!r->text.p)
		return sp__errf(c->ring.err, rc, "convert", c->from->path, -1,
				"record %" PRIu64 ": column '%.64s' is NULL, and must not be",
				record, r->to->name);
	return sp__errf(c->ring.err, rc, "convert", c->from->path, -1,
			"record %" PRIu64 ": column '%.64s': '%.*s' %s %s", record, r->to->name,
			(int)sp__min(r->text.n, SHOWN), r->text.p,
			rc == -ENOSPC ? "is one word too many for" : "is not exactly a value of",
			type);
}

/* Converts the values of n records to another type. */
static int retype(struct copy *c, uint32_t column, const struct sp__rows *rows, uint32_t n)
{
	struct sp__retype r = { .from = &c->from->schema.columns[column],
				.to = &c->to->schema.columns[column],
				.vector = &rows->vectors[column],
				.offsets = c->offsets,
				.n = n,
				.values = c->values[column],
				.refs = c->refs[column],
				.texts = &c->texts[column] };
	int rc = sp__retype(&r);

	c->columns[column] = (struct sp__column_values){ r.values, r.refs, r.texts->data };
	return rc ? refuse(c, &r, rows->first + c->offsets[r.bad], rc) : 0;
}

/* True if values of the column are converted. */
static bool is_retyped(const struct copy *c, uint32_t column)
{
	const struct sp__table_column *from = &c->from->schema.columns[column];
	const struct sp__table_column *to = &c->to->schema.columns[column];

	return !sp__value_type_same(&from->type, &to->type) || from->not_null != to->not_null;
}

static void gather_values(struct copy *c, uint32_t column, const struct sp__vector *v, uint32_t n)
{
	const uint32_t bytes = c->from->schema.columns[column].type.bytes;
	const bool whole = c->offsets[n - 1] - c->offsets[0] == n - 1;

	c->columns[column] = (struct sp__column_values){ .values = c->values[column] };
	if (whole && v->stride == bytes) {
		c->columns[column].values = sp__vector_at(v, c->offsets[0]);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		memcpy(c->values[column] + (size_t)i * bytes, sp__vector_at(v, c->offsets[i]),
		       bytes);
}

/* Writes the records of rows that are not deleted. */
static int put_rows(struct copy *c, const struct sp__rows *rows)
{
	int rc = 0;

	for (uint32_t at = 0; !rc && at < rows->n;) {
		int n = choose(c, rows, &at);

		if (n <= 0) {
			rc = n;
			continue;
		}
		for (uint32_t i = 0; !rc && i < c->from->schema.n; i++) {
			const struct sp__vector *v = &rows->vectors[i];

			if (is_retyped(c, i))
				rc = retype(c, i, rows, (uint32_t)n);
			else if (kind_of(c->from, i) == 't')
				gather_texts(c, i, v, (uint32_t)n);
			else
				gather_values(c, i, v, (uint32_t)n);
		}
		if (!rc)
			rc = sp__tablewriter_put(&c->writer, (size_t)n, c->columns);
	}
	return rc;
}

static int give(void *copy, struct sp__window_slot *s)
{
	struct copy *c = copy;
	struct sp__rows rows;
	uint64_t records = 0;
	int rc = 0;

	while (!rc && sp__window_next(&s->window, &rows)) {
		rc = put_rows(c, &rows);
		records += rows.n;
	}
	c->stats->records_read += records;
	c->stats->cells_read += s->window.cells_read;
	sp__charge_work(&c->from->env, records, 0, 0);
	sp__charge_values(&c->from->env, records * c->from->schema.n, 0);
	return rc;
}

/* Allocates memory for gathered values. */
static int open_memory(struct copy *c)
{
	const uint32_t n = c->from->schema.n;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += c->from->schema.columns[i].type.bytes + sizeof(struct sp__text_ref);
	c->max = (uint32_t)sp__min(GATHER_BYTES / sp__min(bytes, GATHER_BYTES), GATHER_RECORDS);
	c->offsets = calloc(c->max, sizeof(*c->offsets));
	c->values = calloc(n, sizeof(*c->values));
	c->refs = calloc(n, sizeof(*c->refs));
	c->texts = calloc(n, sizeof(*c->texts));
	c->columns = calloc(n, sizeof(*c->columns));
	if (!c->offsets || !c->values || !c->refs || !c->texts || !c->columns)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		c->values[i] = malloc((size_t)c->max * c->to->schema.columns[i].type.bytes);
		c->refs[i] = kind_of(c->to, i) == 't' ? malloc(c->max * sizeof(**c->refs)) : NULL;
		if (!c->values[i] || (kind_of(c->to, i) == 't' && !c->refs[i]))
			return -ENOMEM;
	}
	return 0;
}

static int run(struct copy *c, bool *all)
{
	const uint64_t memory = sp__working_memory(&c->from->run, c->from->run.memory_bytes);
	int rc = open_memory(c);

	for (uint32_t i = 0; i < c->from->schema.n; i++)
		all[i] = true;
	rc = rc ? sp__err(c->ring.err, rc, "allocate", NULL, -1)
		: sp__tablewriter_open(&c->writer, c->to, memory / 3, c->ring.err);
	if (!rc)
		rc = sp__ring_open(&c->ring, all, NULL, 0);
	if (rc)
		return rc;
	c->ring.ranges.window_bytes /= 3; /* the writer has memory, too */
	if (sp__ranges_open(&c->ring.ranges, SP__RANGES_BYTES))
		return sp__err(c->ring.err, -ENOMEM, "allocate", NULL, -1);
	rc = sp__ring_run(&c->ring);
	return rc ? rc : sp__tablewriter_finish(&c->writer);
}

int sp__copy_records(struct sp__tablefile *from, struct sp__tablefile *to,
		     struct sp_table_stats *stats, struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__ring_fill, work, give };
	struct copy c = { .ring = { .file = from,
				    .ops = &ops,
				    .arg = &c,
				    .err = err,
				    .ranges = { .end = from->superblock.records } },
			  .from = from,
			  .to = to,
			  .stats = stats };
	bool *all = calloc(from->schema.n, sizeof(*all));
	int rc;

	rc = all ? run(&c, all) : sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__ring_close(&c.ring, stats);
	sp__tablewriter_note(&c.writer, &stats->run);
	sp__tablewriter_close(&c.writer);
	for (uint32_t i = 0; i < from->schema.n; i++) {
		free(c.values ? c.values[i] : NULL);
		free(c.refs ? c.refs[i] : NULL);
		if (c.texts)
			sp__bytes_release(&c.texts[i], NULL);
	}
	free(c.texts);
	free(c.values);
	free(c.refs);
	free(c.columns);
	free(c.offsets);
	free(all);
	return rc;
}
