/* SPDX-License-Identifier: MIT */
/* Prints the values of rows, record by record (output.h). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/vector.h"
#include "rec/json.h"
#include "rec/key.h"
#include "table/read/output.h"

/* Refuses two columns of one name, of which a reader of JSON would see the last one only. */
static int check_names(const struct sp__table_output *o, struct sp_errinfo *err)
{
	uint64_t seen[SP__BITS_WORDS(SP__COLUMNS_MAX)] = { 0 };
	int repeated = sp__schema_repeated(o->schema);

	for (uint32_t i = 0; repeated < 0 && i < o->n; i++) {
		if (sp__bits_has(seen, o->columns[i]))
			repeated = (int)o->columns[i];
		sp__bits_add(seen, o->columns[i]);
	}
	if (repeated < 0)
		return 0;
	return sp__errf(err, SP_EUNSUP, "scan", NULL, -1,
			"column '%.64s' is there twice, which objects of JSON cannot have: name it "
			"once, or choose --format=csv",
			o->schema->columns[repeated].name);
}

/* Writes the names of the columns as members begin. */
static int open_names(struct sp__table_output *o, struct sp_errinfo *err)
{
	int rc = check_names(o, err);

	if (rc)
		return rc;
	o->name_ends = malloc((o->n ? o->n : 1) * sizeof(*o->name_ends));
	for (uint32_t i = 0; o->name_ends && i < o->n; i++) {
		const char *name = o->schema->columns[o->columns[i]].name;
		const size_t n = strlen(name);
		char *to;

		if (sp__bytes_reserve(&o->names, o->names.bytes + SP__JSON_TEXT(n) + 2, NULL))
			return sp__err(err, -ENOMEM, "allocate", NULL, -1);
		to = o->names.data + o->names.bytes;
		*to++ = i ? ',' : '{';
		to = sp__json_put_text(to, name, n);
		if (!to)
			return sp__errf(err, SP_EUNSUP, "scan", NULL, -1,
					"the name of column %" PRIu32 ", '%.64s', is not UTF-8, so "
					"JSON cannot have it: choose --format=csv",
					o->columns[i] + 1, name);
		*to++ = ':';
		o->names.bytes = (size_t)(to - o->names.data);
		o->name_ends[i] = o->names.bytes;
	}
	return o->name_ends ? 0 : sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

int sp__output_open(struct sp__table_output *o, const struct sp__schema *schema,
		    enum sp_table_format format, uint32_t *columns, uint32_t n,
		    struct sp_errinfo *err)
{
	const struct sp__columns_style *style = &schema->style;
	const enum sp_table_format loaded =
		style->json ? SP_TABLE_JSON : (enum sp_table_format)style->format;
	const bool as_loaded = format == SP_TABLE_AS_LOADED || format == loaded;

	format = as_loaded ? loaded : format;
	*o = (struct sp__table_output){ .schema = schema,
					.json = format == SP_TABLE_JSON,
					.format = format == SP_TABLE_JSON
							  ? SP_REC_LINE
							  : (enum sp_recfmt_kind)format,
					.null_text = style->null_text ? style->null_text : "",
					.columns = columns,
					.n = n,
					.unterminated = UINT64_MAX };
	o->null_bytes = strlen(o->null_text);
	o->separator = as_loaded ? style->separator : format == SP_TABLE_CSV ? ',' : '\t';
	o->header = (style->header || style->json) && !o->json;
	o->quoting = as_loaded ? style->quoting : SP__QUOTES_NEEDED;
	o->trailing_separator = as_loaded && style->trailing_separator;
	o->cr = as_loaded && style->cr;
	o->fits_line = o->format != SP_REC_LINE || o->json ||
		       (style->format == SP_REC_LINE && !style->json);
	o->fixed_bytes = 3; /* a carriage return, a newline, a separator */
	for (uint32_t i = 0; i < n; i++) {
		const struct sp__value_type *t = &schema->columns[columns[i]].type;

		o->fixed_bytes += sp__max(t->bytes, SP__VALUE_SPACE) + o->null_bytes + 3;
		if (o->format == SP_REC_FIXED && (t->kind == 't' || t->kind == 'w'))
			return sp__errf(err, SP_EUNSUP, "scan", NULL, -1,
					"column %s has texts, which have no fixed length",
					schema->columns[columns[i]].name);
	}
	return o->json ? open_names(o, err) : 0;
}

void sp__output_close(struct sp__table_output *o)
{
	free(o->columns);
	free(o->name_ends);
	sp__bytes_release(&o->names, NULL);
	*o = (struct sp__table_output){ 0 };
}

double sp__output_record_bytes(const struct sp__table_output *o)
{
	double bytes = 0;

	for (uint32_t k = 0; k < o->n; k++)
		bytes += sp__column_printed_bytes(&o->schema->columns[o->columns[k]]);
	return bytes;
}

/* True if CSV needs quotes around a text. */
static bool needs_quotes(const struct sp__table_output *o, const char *text, size_t bytes)
{
	if (bytes == o->null_bytes && !memcmp(text, o->null_text, bytes))
		return true;
	for (size_t i = 0; i < bytes; i++)
		if (text[i] == o->separator || text[i] == '"' || text[i] == '\n' || text[i] == '\r')
			return true;
	return false;
}

/* Prints a text of a column or a name.  quotes: a text of CSV has them anyway. */
static char *put_text(const struct sp__table_output *o, char *p, const char *text, size_t bytes,
		      bool quotes)
{
	if (!bytes && !strcmp(o->null_text, SP__NULL_QUOTED))
		return p; /* in quotes it would be NULL */
	if (o->format == SP_REC_CSV && (quotes || needs_quotes(o, text, bytes)))
		return sp__csv_put_quoted(p, text, bytes);
	if (bytes)
		memcpy(p, text, bytes);
	return p + bytes;
}

static char *put_null(const struct sp__table_output *o, char *p)
{
	memcpy(p, o->null_text, o->null_bytes);
	return p + o->null_bytes;
}

static char *put_value(const struct sp__table_output *o, char *p, uint32_t column,
		       const struct sp__vector *v, uint32_t i)
{
	const struct sp__value_type *t = &o->schema->columns[column].type;
	const uint8_t *at = sp__vector_at(v, i);

	if (o->format == SP_REC_FIXED) {
		memcpy(p, at, t->bytes);
		return p + t->bytes;
	}
	if (sp__type_is_text(t)) {
		struct sp__slice s = sp__column_text(&o->schema->columns[column], v, i);

		return s.p ? put_text(o, p, s.p, s.n, o->quoting != SP__QUOTES_NEEDED)
			   : put_null(o, p);
	}
	if (sp__value_null(t, at))
		return put_null(o, p);
	if (o->format == SP_REC_CSV && o->quoting == SP__QUOTES_ALL) {
		*p = '"';
		p += 1 + sp__value_write(t, at, p + 1);
		*p++ = '"';
		return p;
	}
	return p + sp__value_write(t, at, p);
}

/*
 * Prints a value as one of JSON: a number as it is, a text in quotes, and so are nan, inf, dates
 * and times.  NULL: it is a text that JSON cannot have.
 */
static char *put_json(const struct sp__table_output *o, char *p, uint32_t column,
		      const struct sp__vector *v, uint32_t i)
{
	const struct sp__column *c = &o->schema->columns[column];
	const uint8_t *at = sp__vector_at(v, i);
	const bool is_text = sp__type_is_text(&c->type);
	char value[SP__VALUE_SPACE];
	struct sp__slice s = { NULL, 0 };
	bool bare;

	if (is_text) {
		s = sp__column_text(c, v, i);
	} else if (!sp__value_null(&c->type, at)) {
		s.p = value;
		s.n = sp__value_write(&c->type, at, value);
	}
	bare = !s.p || (is_text ? c->json : sp__json_is_number(s.p, s.n));
	if (!s.p)
		s = (struct sp__slice){ "null", 4 };
	if (!bare)
		return sp__json_put_text(p, s.p, s.n);
	memcpy(p, s.p, s.n);
	return p + s.n;
}

static char *end_record(const struct sp__table_output *o, char *p)
{
	if (o->format == SP_REC_FIXED)
		return p;
	if (!o->trailing_separator)
		p--;
	if (o->cr)
		*p++ = '\r';
	*p++ = '\n';
	return p;
}

int sp__output_header(const struct sp__table_output *o, struct sp__bytes *b,
		      struct sp__budget *budget)
{
	size_t need = 3;
	char *p;

	if (o->discard || !o->header || o->format == SP_REC_FIXED)
		return 0;
	for (uint32_t i = 0; i < o->n; i++)
		need += 2 * strlen(o->schema->columns[o->columns[i]].name) + 3;
	if (sp__bytes_reserve(b, b->bytes + need, budget))
		return -ENOMEM;
	p = b->data + b->bytes;
	for (uint32_t i = 0; i < o->n; i++) {
		const char *name = o->schema->columns[o->columns[i]].name;

		p = put_text(o, p, name, strlen(name), o->quoting == SP__QUOTES_ALL);
		*p++ = o->separator;
	}
	b->bytes = (size_t)(end_record(o, p) - b->data);
	return 0;
}

/* Refuses texts that came from another form than lines, and would look like several fields. */
static int check_line(const struct sp__table_output *o, const struct sp__rows *rows, uint32_t i,
		      struct sp_errinfo *err)
{
	for (uint32_t k = 0; k < o->n; k++) {
		const struct sp__column *c = &o->schema->columns[o->columns[k]];
		struct sp__slice s = { 0 };

		if (sp__type_is_text(&c->type))
			s = sp__column_text(c, &rows->vectors[o->columns[k]], i);
		if (s.n && (memchr(s.p, o->separator, s.n) || memchr(s.p, '\n', s.n)))
			return sp__errf(err, SP_EUNSUP, "scan", NULL, -1,
					"record %" PRIu64 ": column '%.64s' has a text with a "
					"separator or a newline in it, which lines cannot have: "
					"choose --format=csv",
					rows->first + i, c->name);
	}
	return 0;
}

/* Returns the maximum bytes of a record. */
static size_t max_bytes(const struct sp__table_output *o, const struct sp__rows *rows, uint32_t i)
{
	const size_t each = o->json ? SP__JSON_TEXT(1) - SP__JSON_TEXT(0) : 2;
	size_t bytes = o->fixed_bytes + o->names.bytes;

	for (uint32_t k = 0; k < o->n; k++) {
		const struct sp__value_type *t = &o->schema->columns[o->columns[k]].type;

		if (sp__type_is_text(t))
			bytes += each * sp__column_text(&o->schema->columns[o->columns[k]],
							&rows->vectors[o->columns[k]], i)
						.n;
	}
	return bytes;
}

/* Prints a record as an object.  Returns the end of the output; NULL: err has the reason. */
static char *put_object(const struct sp__table_output *o, char *p, const struct sp__rows *rows,
			uint32_t i, struct sp_errinfo *err)
{
	for (uint32_t k = 0; k < o->n; k++) {
		const uint32_t column = o->columns[k];
		const size_t begin = k ? o->name_ends[k - 1] : 0, n = o->name_ends[k] - begin;

		memcpy(p, o->names.data + begin, n);
		p = put_json(o, p + n, column, &rows->vectors[column], i);
		if (p)
			continue;
		(void)sp__errf(err, SP_EUNSUP, "scan", NULL, -1,
			       "record %" PRIu64 ": column '%.64s' has a text that is not UTF-8, "
			       "so JSON cannot have it: choose --format=csv",
			       rows->first + i, o->schema->columns[column].name);
		return NULL;
	}
	*p++ = '}';
	*p++ = '\n';
	return p;
}

/* Prints the values of a record with separators. */
static char *put_fields(const struct sp__table_output *o, char *p, const struct sp__rows *rows,
			uint32_t i)
{
	for (uint32_t k = 0; k < o->n; k++) {
		p = put_value(o, p, o->columns[k], &rows->vectors[o->columns[k]], i);
		if (o->format != SP_REC_FIXED)
			*p++ = o->separator;
	}
	p = end_record(o, p);
	if (rows->first + i == o->unterminated)
		p -= 1 + o->cr;
	return p;
}

int sp__output_rows(const struct sp__table_output *o, const struct sp__rows *rows,
		    const uint32_t *selected, uint32_t n, struct sp__bytes *b,
		    struct sp__budget *budget, struct sp_errinfo *err)
{
	for (uint32_t j = 0; j < n && !o->discard; j++) {
		const uint32_t i = selected ? selected[j] : j;
		const size_t need = b->bytes + max_bytes(o, rows, i);
		int rc = o->fits_line ? 0 : check_line(o, rows, i, err);
		char *p;

		if (rc)
			return rc;
		if (need > b->capacity && sp__bytes_reserve(b, need, budget))
			return -ENOMEM;
		p = b->data + b->bytes;
		p = o->json ? put_object(o, p, rows, i, err) : put_fields(o, p, rows, i);
		if (!p)
			return SP_EUNSUP;
		b->bytes = (size_t)(p - b->data);
	}
	return 0;
}
