/* SPDX-License-Identifier: MIT */
/*
 * Collects facts on the fields of a sample, and decides on names, types and style by them.
 *
 * A trailing separator is assumed if the header ends with one, if the columns are described and the
 * records have one empty field more, or, in lines without a header, if the last field of all
 * records of the sample is empty.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "columns/vector.h"
#include "columns/fieldends.h"
#include "columns/infer.h"
#include "columns/resolve.h"
#include "columns/schema.h"
#include "rec/key.h"

#define ENDS 8192

void sp__sample_free(struct sp__sample *s)
{
	free(s->ends.ends);
	free(s->quotes);
	sp__inference_free(&s->inference);
	sp__bytes_release(&s->unquoted, NULL);
	sp__members_free(&s->members);
	sp__member_reader_free(&s->reader);
}

/* Counts the fields of the record that begins at text, whose terminator is part of it. */
static uint32_t count_fields(const struct sp__sample *s, const char *text, size_t bytes)
{
	const char *end = text + bytes - 1, *p = text;
	uint32_t n = 1;

	for (;; p++, n++) {
		p = s->csv ? sp__csv_field_end(p, end, s->separator)
			   : sp__find_byte(p, end, s->separator);
		if (p == end)
			return n;
	}
}

static int no_memory(const struct sp__sample *s)
{
	return sp__err(s->err, -ENOMEM, "allocate", NULL, -1);
}

/* Learns the number of fields from the first record. */
static int begin(struct sp__sample *s, const char *text, uint32_t bytes)
{
	const struct sp_recfmt format = { .kind = s->csv ? SP_REC_CSV : SP_REC_LINE,
					  .eol = '\n',
					  .separator = s->separator };
	size_t n = (size_t)(sp__rec_end(&format, text, bytes) - text);

	s->fields = count_fields(s, text, n);
	s->cr = n > 1 && text[n - 2] == '\r';
	n -= 1 + s->cr;
	s->last_empty = n && text[n - 1] == s->separator;
	s->ends.max_ends = s->fields > ENDS ? s->fields : ENDS;
	s->ends.ends = calloc(s->ends.max_ends + 1 + SP__FIELDENDS_SLACK, sizeof(*s->ends.ends));
	s->quotes = calloc(s->fields, sizeof(*s->quotes));
	if (!s->ends.ends || !s->quotes ||
	    sp__inference_init(&s->inference, s->fields, s->words_bytes, s->budget))
		return no_memory(s);
	s->inference.exact = s->exact;
	return 0;
}

/* True if the text would be NULL without quotes. */
static bool is_null(const struct sp__sample *s, const struct sp__slice *field)
{
	return field->n == strlen(s->null_text) && !memcmp(field->p, s->null_text, field->n);
}

/* Removes the quotes of a field, and notes whether it needs them. */
static int unquote(struct sp__sample *s, uint32_t column, struct sp__slice *field)
{
	struct sp__sample_quotes *q = &s->quotes[column];
	char *to;

	if (sp__bytes_reserve(&s->unquoted, field->n, NULL))
		return no_memory(s);
	to = s->unquoted.data;
	field->n = (size_t)((char *)sp__csv_unquote(field->p, field->p + field->n,
						    (unsigned char *)to) -
			    to);
	field->p = to;
	q->needless += !is_null(s, field) && !memchr(to, s->separator, field->n) &&
		       !memchr(to, '"', field->n) && !memchr(to, '\n', field->n) &&
		       !memchr(to, '\r', field->n);
	return 0;
}

/* True if a field that is not NULL is so but for its quotes. */
static bool is_blank(const struct sp__sample *s, const struct sp__slice *field, bool quoted)
{
	if (!s->csv)
		return false;
	return quoted ? is_null(s, field) : !field->n && !strcmp(s->null_text, SP__NULL_QUOTED);
}

static int add_field(struct sp__sample *s, uint32_t column, struct sp__slice field)
{
	const bool null = is_null(s, &field);
	const bool quoted = s->csv && field.n && *field.p == '"' && !null;
	int rc = quoted ? unquote(s, column, &field) : 0;

	s->quotes[column].quoted += quoted;
	s->quotes[column].none += field.n && !quoted && !null;
	if (rc || null)
		return rc;
	if (is_blank(s, &field, quoted))
		sp__inference_add_blank(&s->inference, column);
	else if (sp__inference_add(&s->inference, column, &field))
		return no_memory(s);
	return 0;
}

int sp__sample_add(struct sp__sample *s, const char *text, uint32_t bytes)
{
	int rc = s->fields || !bytes || s->json ? 0 : begin(s, text, bytes);
	const struct sp__fieldends_opts o = { s->separator, s->csv, s->fields };
	uint32_t at = 0;

	if (s->json)
		return sp__sample_add_json(s, text, bytes);
	while (!rc && at < bytes && !s->wrong) {
		const uint32_t *ends = s->ends.ends;

		sp__fieldends_find(&s->ends, &o, text, at, bytes);
		for (uint32_t r = 0; !rc && r < s->ends.records; r++)
			for (uint32_t i = 0; !rc && i < s->fields; i++, ends++) {
				uint32_t from = ends[0] + 1, n = ends[1] - from;

				if (i + 1 == s->fields && (s->csv || s->cr) && n &&
				    text[from + n - 1] == '\r')
					n--;
				rc = add_field(s, i, (struct sp__slice){ text + from, n });
			}
		s->records += s->ends.records;
		s->wrong = s->ends.wrong;
		s->bytes += *ends + 1 - at;
		at = *ends + 1;
		s->wrong_at = at;
	}
	return rc;
}

/*
 * True if all fields of a column are in quotes, but not all of the file: no style would write
 * numbers or dates so, and they are texts.
 */
static bool sample_is_text(const struct sp__sample *s, uint32_t column)
{
	uint64_t none = 0;

	if (s->json)
		return false;
	for (uint32_t i = 0; i < s->fields; i++)
		none += s->quotes[i].none;
	return none && s->quotes[column].needless && !s->quotes[column].none;
}

/* Returns the style of quotes of the first n columns, whose types are known. */
static enum sp__columns_quoting sample_quoting(const struct sp__sample *s,
					       const struct sp__schema *schema)
{
	uint64_t needless = 0, none = 0, texts_none = 0, others_quoted = 0;

	for (uint32_t i = 0; i < schema->n && i < s->fields; i++) {
		const struct sp__sample_quotes *q = &s->quotes[i];
		bool text = sp__type_is_text(&schema->columns[i].type);

		needless += q->needless;
		none += q->none;
		texts_none += text ? q->none : 0;
		others_quoted += text ? 0 : q->needless;
	}
	if (!needless)
		return SP__QUOTES_NEEDED;
	if (!none)
		return SP__QUOTES_ALL;
	return !texts_none && !others_quoted ? SP__QUOTES_TEXT : SP__QUOTES_NEEDED;
}

static int fail(const struct sp__resolve_opts *o, struct sp_errinfo *err, int rc)
{
	return rc == -ENOMEM ? sp__err(err, rc, "allocate", NULL, -1)
			     : sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
					"has more columns than a table can have: %d, or a name "
					"longer than %d bytes",
					SP__COLUMNS_MAX, SP__COLUMN_NAME_MAX);
}

/* Adds a column whose type is not known yet. */
static int add(struct sp__schema *s, const char *name, size_t n)
{
	const struct sp__value_type none = { 0 };
	char number[16];

	if (!n) {
		n = (size_t)snprintf(number, sizeof(number), "c%" PRIu32, s->n + 1);
		name = number;
	}
	return sp__schema_add(s, name, n, &none);
}

/* True if a column has values in the sample. */
static bool has_values(const struct sp__resolve_opts *o, uint32_t column)
{
	return o->sample && column < o->sample->fields &&
	       o->sample->inference.columns[column].values;
}

/*
 * Adds the names of the header; *trailing: a separator follows the last one.  An empty last name is
 * that of a column if this has values.
 */
static int add_header(struct sp__schema *s, const struct sp__resolve_opts *o, bool *trailing)
{
	const bool csv = o->format == SP_REC_CSV;
	const char *p = o->header.data, *end = p + o->header.bytes - 1, *stop;
	char *name = malloc(o->header.bytes);
	int rc = name ? 0 : -ENOMEM;

	end -= end > p && end[-1] == '\r';
	for (; !rc; p = stop + 1) {
		size_t n;

		stop = csv ? sp__csv_field_end(p, end, o->separator)
			   : sp__find_byte(p, end, o->separator);
		n = (size_t)(stop - p);
		*trailing = s->n && !n && stop == end && !has_values(o, s->n);
		if (*trailing)
			break;
		if (csv)
			n = (size_t)((char *)sp__csv_unquote(p, stop, (unsigned char *)name) -
				     name);
		else
			memcpy(name, p, n);
		rc = add(s, name, n);
		if (stop == end)
			break;
	}
	free(name);
	return rc;
}

/* Copies the columns that the user described. */
static int add_described(struct sp__schema *s, const struct sp__schema *described)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < described->n; i++) {
		const struct sp__column *c = &described->columns[i];

		rc = sp__schema_add(s, c->name, strlen(c->name), &c->type);
		if (!rc)
			s->columns[s->n - 1].not_null = c->not_null;
	}
	return rc;
}

/* Adds columns c1, c2, ... as the sample has fields. */
static int add_numbered(struct sp__schema *s, const struct sp__resolve_opts *o)
{
	uint32_t n = o->sample->fields;
	int rc = 0;

	if (o->format == SP_REC_LINE && o->sample->last_empty && n > 1 &&
	    !o->sample->inference.columns[n - 1].values)
		n--;
	while (!rc && s->n < n)
		rc = add(s, NULL, 0);
	return rc;
}

/* Compares the names of the header with those that the user described. */
static int check_names(const struct sp__schema *s, const struct sp__resolve_opts *o,
		       struct sp_errinfo *err)
{
	const struct sp__schema *d = o->described;

	if (s->n != d->n)
		return sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
				"the header has %" PRIu32 " columns, the schema %" PRIu32, s->n,
				d->n);
	for (uint32_t i = 0; i < s->n; i++)
		if (strcmp(s->columns[i].name, d->columns[i].name) != 0)
			return sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
					"column %" PRIu32 " of the header is '%.64s', that of the "
					"schema '%.64s'",
					i + 1, s->columns[i].name, d->columns[i].name);
	return 0;
}

/* Sets the types that the user described, by name. */
static int set_types(struct sp__schema *s, const struct sp__resolve_opts *o, struct sp_errinfo *err)
{
	const struct sp__schema *d = o->described;

	for (uint32_t i = 0; i < d->n; i++) {
		const char *name = d->columns[i].name;
		int at = sp__schema_find(s, name, strlen(name));

		if (at < 0)
			return sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
					"there is no column '%.64s': '%.64s' is the nearest name",
					name, sp__schema_nearest(s, name, strlen(name)));
		s->columns[at].type = d->columns[i].type;
		s->columns[at].not_null = d->columns[i].not_null;
	}
	return 0;
}

/* True if the user described the columns of an input without a header, in their order. */
static bool names_all(const struct sp__schema *s, const struct sp__schema *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (sp__schema_find(s, d->columns[i].name, strlen(d->columns[i].name)) < 0)
			return d->n == s->n;
	return false;
}

/* Makes the columns of an input that has records or a header. */
static int make_columns(struct sp__schema *s, const struct sp__resolve_opts *o, bool *trailing,
			struct sp_errinfo *err)
{
	bool has_header = o->has_header && o->header.bytes;
	int rc = 0;

	if (o->sample && o->sample->json) {
		rc = sp__sample_columns(s, o, err);
		return rc && rc != SP_ESYNTAX ? fail(o, err, rc) : rc;
	}
	if (has_header)
		rc = add_header(s, o, trailing);
	else if (!o->all && o->sample && o->sample->fields)
		rc = add_numbered(s, o);
	if (rc)
		return fail(o, err, rc);
	if (s->n && (has_header || !names_all(s, o->described))) {
		rc = o->all ? check_names(s, o, err) : 0;
		return rc ? rc : set_types(s, o, err);
	}
	sp__schema_free(s);
	rc = add_described(s, o->described);
	return rc ? fail(o, err, rc) : 0;
}

/* True if the last name of the header is empty, after another one. */
static bool ends_with_separator(const struct sp__resolve_opts *o)
{
	size_t n = o->has_header && o->header.bytes ? o->header.bytes - 1 : 0;

	n -= n && o->header.data[n - 1] == '\r';
	return n && o->header.data[n - 1] == o->separator;
}

/* Returns 0 or -ENOMEM. */
static int set_style(struct sp__resolved *r, const struct sp__resolve_opts *o, bool trailing)
{
	const struct sp__sample *a = o->sample;
	struct sp__columns_style *style = &r->schema.style;
	const uint32_t n = r->schema.n;

	r->last_named = ends_with_separator(o) && !trailing;
	style->format = o->format;
	style->separator = o->separator;
	style->header = o->has_header;
	style->json = a && a->json;
	if (o->has_header && o->header.bytes > 1)
		style->cr = o->header.data[o->header.bytes - 2] == '\r';
	if (a && a->fields && !a->json) {
		/* A single record perhaps has no end. */
		style->cr = a->cr || (style->cr && a->records == 1);
		trailing = a->fields == n + 1 && a->last_empty;
		style->quoting = sample_quoting(a, &r->schema);
	}
	style->trailing_separator = trailing;
	r->fields = n + trailing;
	style->null_text = o->null_text && *o->null_text ? strdup(o->null_text) : NULL;
	return o->null_text && *o->null_text && !style->null_text ? -ENOMEM : 0;
}

void sp__resolved_free(struct sp__resolved *r)
{
	sp__schema_free(&r->schema);
	free(r->checks);
	free(r->notes);
	free(r->inferred);
	r->inferred = NULL;
	r->checks = NULL;
	r->notes = NULL;
}

/* Returns the check of a column whose type was inferred from a part of the records. */
static enum sp__textchunk_check check_of(const struct sp__resolve_opts *o, uint32_t column,
					 const struct sp__value_type *t, enum sp__infer_note note)
{
	if (!o->sample->inference.columns[column].values)
		return SP__CHECK_UNSEEN;
	if (sp__type_is_text(t))
		return SP__CHECK_NONE;
	if (o->exact || sp__inference_texts(&o->sample->inference, column))
		return SP__CHECK_EXACT;
	return note == SP__INFER_CANONICAL && o->again ? SP__CHECK_CANONICAL : SP__CHECK_VALUE;
}

/* Returns the field of the sample that has the values of a column. */
static uint32_t field_of(const struct sp__resolve_opts *o, uint32_t column, const char *name)
{
	return o->sample->json ? sp__members_find(&o->sample->members, name, strlen(name)) : column;
}

static struct sp__value_type infer(struct sp__resolved *r, const struct sp__resolve_opts *o,
				   uint32_t column)
{
	const struct sp__value_type text = { 't', 0, 4 };
	struct sp__column *c = &r->schema.columns[column];
	const struct sp__sample *a = o->sample;
	const uint32_t field = a ? field_of(o, column, c->name) : 0;
	struct sp__value_type t;

	if (!a || field >= a->fields)
		return text;
	t = sp__inference_type(&a->inference, field, o->whole, &r->notes[column]);
	if (t.kind != 'w' && t.kind != 'c' && sample_is_text(a, field)) {
		r->notes[column] = SP__INFER_CANONICAL;
		t = text;
	}
	if (!o->whole)
		r->checks[column] = check_of(o, field, &t, r->notes[column]);
	c->json = a->json && sp__type_is_text(&t) && a->inference.columns[field].values &&
		  !sp__inference_texts(&a->inference, field);
	return t;
}

int sp__resolve(struct sp__resolved *r, const struct sp__resolve_opts *o, struct sp_errinfo *err)
{
	struct sp__schema *s = &r->schema;
	bool trailing = false;
	int rc, repeated;

	*r = (struct sp__resolved){ 0 };
	rc = make_columns(s, o, &trailing, err);
	if (!rc && !s->n)
		rc = sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
			      "is empty: name the columns and their types (--types, --schema)");
	if (rc)
		return rc;
	repeated = sp__schema_repeated(s);
	if (repeated >= 0)
		return sp__errf(err, SP_ESYNTAX, "load", o->input, -1,
				"two columns have the name '%.64s'", s->columns[repeated].name);
	r->checks = calloc(s->n, sizeof(*r->checks));
	r->notes = calloc(s->n, sizeof(*r->notes));
	r->inferred = calloc(s->n, sizeof(*r->inferred));
	if (!r->checks || !r->notes || !r->inferred)
		return fail(o, err, -ENOMEM);
	for (uint32_t i = 0; i < s->n; i++) {
		struct sp__column *c = &s->columns[i];

		r->inferred[i] = !c->type.kind;
		if (!c->type.kind)
			c->type = infer(r, o, i);
		c->bounds = sp__column_type_bounded(&c->type);
	}
	rc = set_style(r, o, trailing);
	return rc ? fail(o, err, rc) : 0;
}
