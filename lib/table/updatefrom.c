/* SPDX-License-Identifier: MIT */
/*
 * Updates records by a file of keys and new values.
 *
 * All of the file is read first: each key once, and a row of new values for each.  Then the column
 * of the keys is read once, and each record whose value is a key gets the row of that key.
 *
 * Memory: keys have at most half of it, and rows and texts together, too.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "columns/vector.h"
#include "columns/schema_text.h"
#include "columns/source.h"
#include "rec/fields.h"
#include "rec/key.h"
#include "table/change/choose.h"
#include "table/change/newvalues.h"
#include "table/state.h"

#define SHOWN 40 /* bytes of a field in a message */

struct from {
	struct sp__tablefile *file;
	struct sp_table_stats *stats;
	struct sp_errinfo *err;
	const char *by, *index, *input;
	struct sp_run_opts run; /* options of the environment for reading */
	struct sp__env env;
	struct sp__columnsource source;
	struct sp_recfmt format;
	struct sp__cut cut;
	struct sp__fields fields;
	struct sp__bytes plain;		   /* a field without quotes */
	uint64_t line;			   /* line of the record */
	uint32_t n;			   /* fields of a record */
	uint32_t key;			   /* number of the key's field */
	struct sp__update_column *columns; /* columns of the other fields, in their order */
	uint32_t row_bytes, max_text;
	struct sp__key_set keys;
	/* Rows of new values; texts are at an offset in texts until all rows are known. */
	struct sp__bytes rows, texts;
	struct sp__tableupdate update;
};

/* Returns the number of the line, with the blank ones that have been skipped. */
static uint64_t line_of(const struct from *f)
{
	return f->line + (f->source.scan ? sp__scan_blank_lines(f->source.scan) : 0);
}

static int wrong(const struct from *f, const char *reason)
{
	return sp__errf(f->err, SP_EFORMAT, "update", f->input, -1, "line %" PRIu64 ": %s",
			line_of(f), reason);
}

/* Says in which line an error is. */
static int wrong_value(const struct from *f, int rc, const struct sp_errinfo *own)
{
	return sp__errf(f->err, rc == SP_ESYNTAX ? SP_EFORMAT : rc, "update", f->input, -1,
			"line %" PRIu64 ": %s", line_of(f),
			own->text[0] ? own->text : sp_strerror(rc));
}

static int no_memory(const struct from *f)
{
	return sp__err(f->err, -ENOMEM, "allocate", NULL, -1);
}

/* True if a field is the spelling of NULL. */
static bool is_null(const struct from *f, const struct sp__slice *field)
{
	const char *spelling = f->file->schema.style.null_text;

	return spelling ? field->n == strlen(spelling) && !memcmp(field->p, spelling, field->n)
			: !field->n;
}

/* Takes a field without its quotes, valid until the next call.  *null: it is NULL. */
static int take_field(struct from *f, const struct sp__slice *field, struct sp__slice *text,
		      bool *null)
{
	const unsigned char *end;

	*text = *field;
	*null = is_null(f, field);
	if (*null || f->format.kind != SP_REC_CSV || !field->n || field->p[0] != '"')
		return 0;
	if (sp__bytes_reserve(&f->plain, field->n + 1, &f->env.budget))
		return no_memory(f);
	end = sp__csv_unquote(field->p, field->p + field->n, (unsigned char *)f->plain.data);
	text->p = f->plain.data;
	text->n = (size_t)((const char *)end - f->plain.data);
	return 0;
}

/* Finds the fields of a line, without its end and the empty one behind a trailing separator. */
static int split(struct from *f, const char *line, size_t bytes)
{
	if (f->file->schema.style.cr && f->format.kind != SP_REC_CSV)
		bytes -= bytes && line[bytes - 1] == '\r';
	if (sp__fields_split(&f->cut, line, bytes, &f->fields))
		return no_memory(f);
	if (f->file->schema.style.trailing_separator && f->fields.n &&
	    !f->fields.at[f->fields.n - 1].n)
		f->fields.n--;
	return 0;
}

/* Finds the columns of the header. */
static int take_header(struct from *f)
{
	const struct sp__bytes *h = &f->source.header;
	size_t n = h->bytes - (h->bytes && h->data[h->bytes - 1] == '\n');
	const struct sp__schema *s = &f->file->schema;
	bool found = false;

	f->line = 1;
	n -= n && h->data[n - 1] == '\r';
	if (!n)
		return wrong(f, "a header with the names of columns is missing");
	if (split(f, h->data, n))
		return no_memory(f);
	f->n = (uint32_t)f->fields.n;
	f->columns = calloc(f->n, sizeof(*f->columns));
	if (!f->columns)
		return no_memory(f);
	for (uint32_t i = 0, k = 0; i < f->n; i++) {
		struct sp__slice name;
		bool null;
		int column = take_field(f, &f->fields.at[i], &name, &null);

		if (!column)
			column = sp__names_column(s, name.p, name.n, f->err);
		if (column < 0)
			return column;
		for (uint32_t j = 0; j < k; j++)
			if (f->columns[j].column == (uint32_t)column)
				return wrong(f, "a column is named twice");
		if (!found && !strcmp(s->columns[column].name, f->by)) {
			found = true;
			f->key = i;
			sp__key_set_open(&f->keys, &s->columns[column], &f->file->env.budget);
			continue;
		}
		f->columns[k++] = (struct sp__update_column){ (uint32_t)column, f->row_bytes };
		f->row_bytes += sp__new_value_bytes(&s->columns[column]);
	}
	if (!found)
		return wrong(f, "the header does not have the column of the keys");
	return f->n > 1 ? 0 : wrong(f, "the header has only the column of the keys");
}

static int take_key(struct from *f)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__slice text;
	uint32_t number;
	bool null;
	int rc = take_field(f, &f->fields.at[f->key], &text, &null);

	if (!rc && null)
		return wrong(f, "the key is NULL");
	if (!rc)
		rc = sp__key_set_add(&f->keys, text.p, text.n, &number, &own);
	if (rc > 0)
		return sp__errf(f->err, SP_EFORMAT, "update", f->input, -1,
				"line %" PRIu64 ": the key '%.*s' is there twice", line_of(f),
				(int)sp__min(text.n, SHOWN), text.p);
	return rc ? wrong_value(f, rc, &own) : 0;
}

/* Keeps a text, and stores its offset at *value. */
static int keep_text(struct from *f, uint8_t *value)
{
	struct sp__new_text t;

	memcpy(&t, value, sizeof(t));
	f->max_text = sp__max(f->max_text, t.bytes);
	if (sp__bytes_append(&f->texts, t.text, t.bytes, &f->file->env.budget))
		return no_memory(f);
	t.text = (const char *)(f->texts.bytes - t.bytes);
	memcpy(value, &t, sizeof(t));
	return 0;
}

/* Takes the field of column k into the last row. */
static int take_value(struct from *f, const struct sp__slice *field,
		      const struct sp__update_column *column)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	uint8_t *row = (uint8_t *)f->rows.data + f->rows.bytes - f->row_bytes;
	struct sp__slice text;
	bool null;
	int rc = take_field(f, field, &text, &null);

	if (rc)
		return rc;
	/* As a load reads it: in quotes, too, unless the column is one of texts. */
	null = null || (f->format.kind == SP_REC_CSV && (!text.n || is_null(f, &text)) &&
			!sp__type_is_text(&f->file->schema.columns[column->column].type));
	rc = sp__new_value(f->file, column->column, null ? NULL : text.p, text.n, row + column->at,
			   &own);
	if (rc)
		return wrong_value(f, rc, &own);
	if (f->file->schema.columns[column->column].type.kind == 't')
		rc = keep_text(f, row + column->at);
	return rc;
}

/* Takes key and values of a record. */
static int take_record(struct from *f, const char *line, size_t bytes)
{
	struct sp__budget *budget = &f->file->env.budget;
	int rc = 0;

	rc = split(f, line, bytes);
	if (rc)
		return rc;
	if (f->fields.n != f->n)
		return wrong(f, f->fields.n < f->n ? "too few fields" : "too many fields");
	if (f->rows.bytes + f->row_bytes + f->texts.bytes > budget->limit_bytes / 2)
		return sp__errf(f->err, SP_EBUDGET, "update", f->input, -1,
				"more than %u records: give more memory", f->keys.n);
	if (sp__bytes_reserve(&f->rows, f->rows.bytes + f->row_bytes, budget))
		return no_memory(f);
	f->rows.bytes += f->row_bytes;
	rc = take_key(f);
	for (uint32_t i = 0, k = 0; !rc && i < f->n; i++)
		if (i != f->key)
			rc = take_value(f, &f->fields.at[i], &f->columns[k++]);
	return rc;
}

static int take_batch(struct from *f, const struct sp_batch *batch)
{
	const char *at = batch->data, *end = at + batch->bytes, *next;
	size_t bytes;
	int rc = 0;

	for (; !rc && at < end; at = next) {
		next = sp__record_next(&f->format, at, end, &bytes);
		rc = take_record(f, at, bytes);
		for (const char *p = at; (p = memchr(p, '\n', (size_t)(next - p))); p++)
			f->line++;
	}
	return rc;
}

/* Reads all records. */
static int read_all(struct from *f)
{
	struct sp_batch batch;
	int rc = sp__columnsource_next(&f->source, &batch);
	int header = rc < 0 ? rc : take_header(f);

	f->line = 2;
	while (!header && rc == SP_READY) {
		rc = take_batch(f, &batch);
		if (!rc)
			rc = sp__columnsource_next(&f->source, &batch);
	}
	return header ? header : rc;
}

/* Makes addresses of the offsets of texts. */
static void place_texts(struct from *f)
{
	for (uint32_t k = 0; k + 1 < f->n; k++) {
		const struct sp__update_column *c = &f->columns[k];

		if (f->file->schema.columns[c->column].type.kind != 't')
			continue;
		for (uint32_t i = 0; i < f->keys.n; i++) {
			char *value = f->rows.data + (size_t)i * f->row_bytes + c->at;
			struct sp__new_text t;

			memcpy(&t, value, sizeof(t));
			t.text = f->texts.data + (uintptr_t)t.text;
			memcpy(value, &t, sizeof(t));
		}
	}
}

static int put(void *from, uint64_t record, uint32_t key)
{
	struct from *f = from;

	return sp__tableupdate_put(&f->update, record,
				   (const uint8_t *)f->rows.data + (size_t)key * f->row_bytes);
}

static int change(struct from *f)
{
	struct sp__chosen_by choice = { .keys = &f->keys,
					.column = (uint32_t)(f->keys.column -
							     f->file->schema.columns),
					.index = f->index,
					.put = put,
					.arg = f };
	int rc = sp__tableupdate_open(&f->update, f->file, f->columns, f->n - 1,
				      f->file->superblock.records, f->max_text, f->err);

	if (!rc)
		rc = sp__table_max_lookups(f->file, choice.column, &choice.max_lookups, f->err);
	if (!rc)
		rc = sp__choose_records(f->file, &choice, f->stats, f->err);
	return rc ? rc : sp__tableupdate_finish(&f->update);
}

static int open_source(struct from *f)
{
	const struct sp__columns_style *style = &f->file->schema.style;
	const bool csv = style->format != SP_REC_LINE || style->json;
	const char separator =
		style->format == SP_REC_FIXED || style->json ? ',' : style->separator;
	struct sp__columnsource_opts o = { .inputs = &f->input, .n = 1, .header = true };
	int rc;

	f->format = (struct sp_recfmt){ .kind = csv ? SP_REC_CSV : SP_REC_LINE,
					.eol = '\n',
					.separator = separator };
	o.format = f->format;
	sp__cut_init(&f->cut, &separator, 1, csv);
	f->run = f->file->run;
	f->run.volume = NULL;
	f->run.trace_path = f->run.trace_tasks_path = NULL;
	rc = sp__env_open(&f->env, &f->run, f->err);
	return rc ? rc : sp__columnsource_open(&f->source, &o, &f->env, f->err);
}

static int close_all(struct from *f)
{
	struct sp__budget *budget = &f->file->env.budget;

	sp__tableupdate_close(&f->update);
	sp__columnsource_close(&f->source);
	sp__key_set_close(&f->keys);
	sp__bytes_release(&f->plain, &f->env.budget);
	sp__bytes_release(&f->rows, budget);
	sp__bytes_release(&f->texts, budget);
	free(f->fields.at);
	free(f->columns);
	return sp__env_close(&f->env);
}

int sp_table_update_from(struct sp_table *t, const char *by, const char *index, const char *input,
			 sp_table_sink absent, void *absent_arg, struct sp_table_stats *stats,
			 struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct from f = { .file = &t->file,
			  .stats = stats ? stats : &unused,
			  .err = err ? err : &own,
			  .by = by,
			  .index = index,
			  .input = input };
	int rc = sp__table_begin_change(t, true, f.stats, f.err), closed;

	if (rc)
		return rc;
	rc = open_source(&f);
	if (!rc)
		rc = read_all(&f);
	place_texts(&f);
	if (!rc)
		rc = change(&f);
	if (!rc) {
		f.stats->keys = f.keys.n;
		rc = sp__key_set_report(&f.keys, &f.stats->keys_found, absent, absent_arg);
	}
	f.stats->records_written = f.stats->records_matched;
	f.stats->input_bytes = f.source.bytes;
	f.stats->blank_lines = f.source.blank_lines;
	f.stats->cells_read += t->file.cells_read;
	sp__table_note_change(&t->file, f.stats);
	sp__tablefile_note(&t->file, &f.stats->run);
	sp__tableupdate_note(&f.update, f.stats);
	closed = close_all(&f);
	return sp__table_end_change(t, rc ? rc : closed);
}
