/* SPDX-License-Identifier: MIT */
/*
 * Reads windows of all columns ahead, and gives their records to a writer.
 *
 * Values that lie one behind the other are written from where they were read; others are gathered,
 * some records at a time.  If all values are constants, no cell is read.
 *
 * Memory: half for reading, a third for writing; at most GATHER_BYTES for gathered values.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/floats.h"
#include "columns/schema.h"
#include "columns/vector.h"
#include "run/charge.h"
#include "run/memory.h"
#include "table/change/copy.h"
#include "table/change/update.h"
#include "table/file/directory.h"
#include "table/read/ring.h"
#include "table/write/writer.h"

/* Values of some records, and why one cannot be converted. */
struct sp__retype {
	const struct sp__column *from;
	struct sp__column *to; /* its dictionary gets new words */
	const struct sp__vector *vector;
	const uint32_t *offsets; /* offsets of the n records in the vector */
	uint32_t n;
	uint8_t *values;	   /* for n values of `to`, ... */
	struct sp__text_ref *refs; /* ... or, of text, n */
	struct sp__bytes *texts;   /* what these refer to */
	uint32_t bad;		   /* number of the record among the n, ... */
	struct sp__slice text;	   /* ... and its text; NULL: the column must not be NULL */
	char space[SP__VALUE_SPACE];
};

#define DATE_BYTES 10

static uint32_t code_at(const uint8_t *at, uint32_t bytes)
{
	return bytes == 1 ? at[0] : at[0] | (uint32_t)at[1] << 8;
}

/* Gets the text of value i.  False: it is NULL. */
static bool text_of(struct sp__retype *r, uint32_t i, struct sp__slice *text)
{
	const struct sp__value_type *t = &r->from->type;
	const uint8_t *at;
	uint32_t code;

	if (t->kind == 't') {
		*text = sp__vector_text(r->vector, r->offsets[i]);
		return !sp__text_null(text->p, text->n);
	}
	at = sp__vector_at(r->vector, r->offsets[i]);
	if (t->kind == 'w') {
		code = code_at(at, t->bytes);
		*text = code ? sp__dictionary_word(&r->from->words, code) : (struct sp__slice){ 0 };
		return code;
	}
	if (sp__value_null(t, at))
		return false;
	if (t->kind == 'c') {
		*text = (struct sp__slice){ (const char *)at, t->bytes };
		while (text->n && !text->p[text->n - 1])
			text->n--;
	} else {
		*text = (struct sp__slice){ r->space, sp__value_write(t, at, r->space) };
	}
	return true;
}

/* True if a float is the number of the text it was read from, and of the old value. */
static bool is_exact(const struct sp__retype *r, const struct sp__slice *text, const uint8_t *value)
{
	char again[SP__VALUE_SPACE];
	double wide, printed;
	float narrow;

	if (r->to->type.bytes == sizeof(double))
		return r->from->type.kind == 'f' || sp__value_f64_holds(text->p, text->n);
	memcpy(&narrow, value, sizeof(narrow));
	if (sp__read_f64(text->p, text->n, &wide) ||
	    sp__read_f64(again, sp__value_write(&r->to->type, value, again), &printed))
		return false;
	if (wide != wide)
		return narrow != narrow;
	return r->from->type.kind == 'f' ? (double)narrow == wide
					 : printed == wide && sp__value_f64_holds(text->p, text->n);
}

/* Returns the bytes of a text that the new type has to hold: of midnight as a date the date. */
static size_t needed(const struct sp__retype *r, const struct sp__slice *text)
{
	size_t n = text->n;

	if (r->from->type.kind != 'T' || r->to->type.kind != 'D')
		return n;
	while (n > DATE_BYTES && strchr(" 0:.", text->p[n - 1]))
		n--;
	return n == DATE_BYTES ? n : text->n;
}

static int put_number(struct sp__retype *r, const struct sp__slice *text, uint8_t *to)
{
	const struct sp__value_type *t = &r->to->type;

	if (sp__value_read(t, text->p, needed(r, text), to) != SP__VALUE_OK)
		return SP_EFORMAT;
	return t->kind != 'f' || is_exact(r, text, to) ? 0 : SP_EFORMAT;
}

static int put_text(struct sp__retype *r, uint32_t i, const struct sp__slice *text)
{
	r->refs[i] = (struct sp__text_ref){ (uint32_t)r->texts->bytes, (uint32_t)text->n };
	return sp__text_null(text->p, text->n) ? SP_EFORMAT
					       : sp__bytes_append(r->texts, text->p, text->n, NULL);
}

static int put_word(struct sp__retype *r, const struct sp__slice *text, uint8_t *to)
{
	const uint32_t bytes = r->to->type.bytes;
	const uint32_t max = bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS;
	uint32_t code = sp__dictionary_find(&r->to->words, text->p, text->n);
	int rc = code ? 0 : sp__dictionary_add(&r->to->words, text->p, text->n, max, &code);

	to[0] = (uint8_t)code;
	if (bytes > 1)
		to[1] = (uint8_t)(code >> 8);
	return rc;
}

static int put_null(struct sp__retype *r, uint32_t i, uint8_t *to)
{
	if (r->to->not_null)
		return SP_EFORMAT;
	if (r->to->type.kind == 't')
		r->refs[i] = (struct sp__text_ref){ 0, SP__TEXT_REF_NULL };
	else
		sp__value_set_null(&r->to->type, to);
	return 0;
}

/*
 * Converts n values.  Returns 0; SP_EFORMAT with bad and text set if the type does not have a value
 * exactly; -ENOSPC if the dictionary is full, with the same; SP_EBUDGET or -ENOMEM.
 */
static int sp__retype(struct sp__retype *r)
{
	const struct sp__value_type *t = &r->to->type;
	int rc = 0;

	r->texts->bytes = 0;
	for (uint32_t i = 0; !rc && i < r->n; i++) {
		uint8_t *to = r->values + (size_t)i * t->bytes;
		struct sp__slice text = { 0 };

		if (!text_of(r, i, &text))
			rc = put_null(r, i, to);
		else if (t->kind == 't')
			rc = put_text(r, i, &text);
		else if (t->kind == 'w')
			rc = put_word(r, &text, to);
		else
			rc = put_number(r, &text, to);
		r->bad = i;
		r->text = text;
	}
	return rc;
}

#define GATHER_BYTES (1 << 18)
#define GATHER_RECORDS 1024
#define SHOWN 40 /* bytes of a value in a message */

struct copy {
	struct sp__window_ring ring;
	struct sp__tablefile *from, *to;
	const struct sp__copy_sources *sources;
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

/* Returns the column of the old table whose values a column gets, or SP__COPY_CONSTANT. */
static uint32_t source_of(const struct copy *c, uint32_t column)
{
	return c->sources->columns ? c->sources->columns[column] : column;
}

/* Copies the words; grow: makes a column with as many as possible one of more words. */
static int copy_words(const struct sp__column *from, struct sp__column *to, bool grow)
{
	const uint32_t n = from->words.n;
	uint32_t code;
	int rc = 0;

	if (grow && to->type.bytes == 1 && n == SP__DICT8_WORDS)
		to->type.bytes = 2;
	else if (grow && to->type.bytes == 2 && n == SP__DICT16_WORDS)
		to->type = (struct sp__value_type){ .kind = 't', .bytes = 4 };
	for (uint32_t i = 1; !rc && to->type.kind == 'w' && i <= n; i++) {
		struct sp__slice word = sp__dictionary_word(&from->words, i);

		rc = sp__dictionary_add(&to->words, word.p, word.n, SP__DICT16_WORDS, &code);
	}
	return rc;
}

int sp__copy_schema(const struct sp__tablefile *from, struct sp__schema *to, bool grow)
{
	const struct sp__schema *s = &from->schema;
	int rc = 0;

	*to = (struct sp__schema){ .budget = s->budget };
	for (uint32_t i = 0; !rc && i < s->n; i++) {
		const struct sp__column *c = &s->columns[i];
		struct sp__column *made;

		rc = sp__schema_add(to, c->name, strlen(c->name), &c->type);
		if (rc)
			break;
		made = &to->columns[i];
		made->not_null = c->not_null;
		made->bounds = c->bounds;
		made->json = c->json;
		if (c->type.kind == 'w')
			rc = copy_words(c, made, grow);
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

/* Chooses records of rows from *at on, not deleted ones; moves *at.  Returns their number. */
static int choose(struct copy *c, const struct sp__rows *rows, uint32_t *at)
{
	const bool any = c->from->superblock.deleted && !c->sources->deleted;
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
	/* Nobody can see or change this value: say how it goes away. */
	if (c->sources->deleted && !sp__tombstones_exists(c->from, record, NULL))
		return sp__errf(c->ring.err, rc, "convert", c->from->path, -1,
				"record %" PRIu64 ", which is deleted: its value of column "
				"'%.64s' is not one of %s: copy the table with xtable convert, "
				"and alter the copy",
				record, r->to->name, type);
	if (!r->text.p)
		return sp__errf(c->ring.err, rc, "convert", c->from->path, -1,
				"record %" PRIu64 ": column '%.64s' is NULL, and must not be",
				record, r->to->name);
	return sp__errf(c->ring.err, rc, "convert", c->from->path, -1,
			"record %" PRIu64 ": column '%.64s': '%.*s' %s %s", record, r->to->name,
			(int)sp__min(r->text.n, SHOWN), r->text.p,
			rc == -ENOSPC ? "exceeds the capacity of the dictionary of"
				      : "is not exactly a value of",
			type);
}

/* Converts the values of n records to another type. */
static int retype(struct copy *c, uint32_t column, const struct sp__rows *rows, uint32_t n)
{
	const uint32_t source = source_of(c, column);
	struct sp__retype r = { .from = &c->from->schema.columns[source],
				.to = &c->to->schema.columns[column],
				.vector = &rows->vectors[source],
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
	const struct sp__column *from = &c->from->schema.columns[source_of(c, column)];
	const struct sp__column *to = &c->to->schema.columns[column];

	return !sp__value_type_same(&from->type, &to->type) || from->not_null != to->not_null;
}

static void gather_values(struct copy *c, uint32_t column, const struct sp__vector *v, uint32_t n)
{
	const uint32_t bytes = c->to->schema.columns[column].type.bytes;
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

/* Makes n values of a column whose value is the same in all records. */
static void repeat_value(struct copy *c, uint32_t column, uint32_t n)
{
	const uint8_t *value = c->sources->constants[column];
	const uint32_t bytes = c->to->schema.columns[column].type.bytes;
	struct sp__new_text text;

	if (kind_of(c->to, column) != 't') {
		for (uint32_t i = 0; i < n; i++)
			memcpy(c->values[column] + (size_t)i * bytes, value, bytes);
		c->columns[column] = (struct sp__column_values){ .values = c->values[column] };
		return;
	}
	memcpy(&text, value, sizeof(text));
	for (uint32_t i = 0; i < n; i++)
		c->refs[column][i] = (struct sp__text_ref){ 0, sp__text_null(text.text, text.bytes)
								       ? SP__TEXT_REF_NULL
								       : text.bytes };
	c->columns[column] =
		(struct sp__column_values){ .refs = c->refs[column], .base = text.text };
}

/* Writes the n records that were chosen of rows; rows: NULL if no column is read. */
static int put_chosen(struct copy *c, const struct sp__rows *rows, uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < c->to->schema.n; i++) {
		const uint32_t source = source_of(c, i);

		if (source == SP__COPY_CONSTANT)
			repeat_value(c, i, n);
		else if (is_retyped(c, i))
			rc = retype(c, i, rows, n);
		else if (kind_of(c->to, i) == 't')
			gather_texts(c, i, &rows->vectors[source], n);
		else
			gather_values(c, i, &rows->vectors[source], n);
	}
	return rc ? rc : sp__tablewriter_put(&c->writer, n, c->columns);
}

/* Writes the records of rows. */
static int put_rows(struct copy *c, const struct sp__rows *rows)
{
	int rc = 0;

	for (uint32_t at = 0; !rc && at < rows->n;) {
		int n = choose(c, rows, &at);

		rc = n > 0 ? put_chosen(c, rows, (uint32_t)n) : n;
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
	sp__charge_values(&c->from->env, records * c->to->schema.n, 0);
	return rc;
}

/* Allocates memory for gathered values. */
static int open_memory(struct copy *c)
{
	const uint32_t n = c->to->schema.n;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += c->to->schema.columns[i].type.bytes + sizeof(struct sp__text_ref);
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

/* Writes all records of values that are constants. */
static int put_constants(struct copy *c)
{
	const uint64_t records = c->from->superblock.records;
	int rc = 0;

	for (uint64_t at = 0; !rc && at < records;) {
		const uint32_t n = (uint32_t)sp__min(records - at, c->max);

		rc = put_chosen(c, NULL, n);
		at += n;
		sp__charge_work(&c->from->env, n, 0, 0);
		sp__tablefile_tell(c->from, at);
	}
	return rc;
}

/* Reads the columns `used`. */
static int read_columns(struct copy *c, const bool *used)
{
	int rc = sp__ring_open(&c->ring, used, NULL, 0);

	if (rc)
		return rc;
	c->ring.ranges.window_bytes /= 3; /* the writer has memory, too */
	if (sp__ranges_open(&c->ring.ranges, SP__RANGES_BYTES))
		return sp__err(c->ring.err, -ENOMEM, "allocate", NULL, -1);
	return sp__ring_run(&c->ring);
}

static int run(struct copy *c, bool *used)
{
	const uint64_t memory = sp__working_memory(&c->from->run, c->from->run.memory_bytes);
	bool any = false;
	int rc = open_memory(c);

	for (uint32_t i = 0; i < c->to->schema.n; i++)
		if (source_of(c, i) != SP__COPY_CONSTANT)
			any = used[source_of(c, i)] = true;
	rc = rc ? sp__err(c->ring.err, rc, "allocate", NULL, -1)
		: sp__tablewriter_open(&c->writer, c->to, memory / 3, c->ring.err);
	if (!rc)
		rc = any ? read_columns(c, used) : put_constants(c);
	return rc ? rc : sp__tablewriter_finish(&c->writer);
}

static void close_copy(struct copy *c, struct sp_table_stats *stats)
{
	sp__ring_close(&c->ring, stats);
	sp__tablewriter_note(&c->writer, &stats->run);
	sp__tablewriter_close(&c->writer);
	for (uint32_t i = 0; i < c->to->schema.n; i++) {
		free(c->values ? c->values[i] : NULL);
		free(c->refs ? c->refs[i] : NULL);
		if (c->texts)
			sp__bytes_release(&c->texts[i], NULL);
	}
	free(c->texts);
	free(c->values);
	free(c->refs);
	free(c->columns);
	free(c->offsets);
}

int sp__copy_records(struct sp__tablefile *from, struct sp__tablefile *to,
		     const struct sp__copy_sources *sources, struct sp_table_stats *stats,
		     struct sp_errinfo *err)
{
	static const struct sp__window_ring_ops ops = { sp__ring_fill, work, give };
	static const struct sp__copy_sources all;
	struct copy c = { .ring = { .file = from,
				    .ops = &ops,
				    .arg = &c,
				    .err = err,
				    .ranges = { .end = from->superblock.records } },
			  .from = from,
			  .to = to,
			  .sources = sources ? sources : &all,
			  .stats = stats };
	bool *used = calloc(from->schema.n, sizeof(*used));
	int rc = used ? run(&c, used) : sp__err(err, -ENOMEM, "allocate", NULL, -1);

	close_copy(&c, stats);
	free(used);
	return rc;
}
