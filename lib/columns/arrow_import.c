/* SPDX-License-Identifier: MIT */
/*
 * Reads the arrays of a record batch.
 *
 * A value is one of the column's array, or of its dictionary, which each batch brings along.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/utf8.h"
#include "columns/arrow_arrays.h"
#include "columns/arrow_import.h"

#define TEXTS_BYTES (16 << 20) /* maximum text of a portion, unless one text has more */
#define EXTENSION "ARROW:extension:name"

static int bad_type(const struct ArrowSchema *s, const struct ArrowSchema *source,
		    struct sp_errinfo *err)
{
	const char *noun = sp__arrow_noun(source->format);

	return sp__errf(err, SP_EUNSUP, "load", NULL, -1,
			"column %.64s has Arrow's type %.40s%s%.60s%s%s, which tables do not have; "
			"cast it to another type",
			s->name ? s->name : "", noun, *noun ? " ('" : "'", source->format,
			*noun ? "')" : "'", source == s ? "" : " in a dictionary");
}

/*
 * Finds the name of an extension type in metadata: the number of pairs, and for each the lengths of
 * key and value, in 4 bytes, before them.
 */
static struct sp__slice extension(const char *metadata)
{
	const char *at = metadata;
	struct sp__slice pair[2];
	int32_t n = 0, bytes;

	if (at)
		memcpy(&n, at, sizeof(n));
	at += n > 0 ? sizeof(n) : 0;
	for (; n > 0; n--) {
		for (int k = 0; k < 2; k++) {
			memcpy(&bytes, at, sizeof(bytes));
			if (bytes < 0)
				return (struct sp__slice){ NULL, 0 };
			pair[k] = (struct sp__slice){ at + sizeof(bytes), (size_t)bytes };
			at = pair[k].p + bytes;
		}
		if (pair[0].n == strlen(EXTENSION) && !memcmp(pair[0].p, EXTENSION, pair[0].n))
			return pair[1];
	}
	return (struct sp__slice){ NULL, 0 };
}

static int open_column(struct sp__import *m, uint32_t i, struct sp_errinfo *err)
{
	struct sp__import_column *c = &m->columns[i];
	const struct ArrowSchema *s = m->schema.children ? m->schema.children[i] : NULL;
	struct sp__slice name;

	if (!s || !s->format || (s->dictionary && !s->dictionary->format))
		return sp__errf(err, SP_EFORMAT, "load", NULL, -1,
				"column %u of the stream has no format", i + 1);
	c->schema = s;
	c->source = s->dictionary ? s->dictionary : s;
	name = extension(s->metadata);
	if (s->n_children || c->source->n_children || c->source->dictionary ||
	    !sp__arrow_format(c->source->format, &c->format))
		return bad_type(s, c->source, err);
	/* The text of an extension type is its value; bytes and numbers alone say less. */
	if (name.p && !c->format.is_utf8)
		return sp__errf(
			err, SP_EUNSUP, "load", NULL, -1,
			"column %.64s has the extension type %.*s of Arrow, which tables do "
			"not have; cast it to another type",
			s->name ? s->name : "", name.n > 64 ? 64 : (int)name.n, name.p);
	if (s->dictionary && !sp__arrow_codes(s->format, &c->codes))
		return sp__errf(err, SP_EFORMAT, "load", NULL, -1,
				"column %.64s has a dictionary whose numbers have the type '%.40s'",
				s->name ? s->name : "", s->format);
	return 0;
}

/* Returns an error of the stream with its reason. */
static int stream_failed(struct ArrowArrayStream *stream, int rc, struct sp_errinfo *err)
{
	const char *reason = stream->get_last_error(stream);

	return sp__errf(err, -abs(rc), "read", NULL, -1, "the stream failed: %.200s",
			reason ? reason : "no reason is known");
}

int sp__import_open(struct sp__import *m, struct ArrowArrayStream *stream, struct sp_errinfo *err)
{
	int rc = stream->get_schema(stream, &m->schema);

	if (rc) {
		m->schema.release = NULL;
		return stream_failed(stream, rc, err);
	}
	if (!m->schema.format || strcmp(m->schema.format, "+s") != 0)
		return sp__errf(err, SP_EUNSUP, "load", NULL, -1,
				"the stream has values of Arrow's type '%.60s', not records",
				m->schema.format ? m->schema.format : "");
	if (m->schema.n_children < 1 || m->schema.n_children > SP__COLUMNS_MAX)
		return sp__errf(err, SP_EUNSUP, "load", NULL, -1,
				"the stream has %lld columns; a table has 1 to %d",
				(long long)m->schema.n_children, SP__COLUMNS_MAX);
	m->n = (uint32_t)m->schema.n_children;
	m->columns = calloc(m->n, sizeof(*m->columns));
	m->list = calloc(m->n, sizeof(*m->list));
	if (!m->columns || !m->list)
		return sp__err(err, -ENOMEM, "load", NULL, -1);
	for (uint32_t i = 0; !rc && i < m->n; i++)
		rc = open_column(m, i, err);
	return rc;
}

int sp__import_next(struct ArrowArrayStream *stream, struct ArrowArray *batch,
		    struct sp_errinfo *err)
{
	int rc = stream->get_next(stream, batch);

	if (!rc)
		return 0;
	batch->release = NULL;
	return stream_failed(stream, rc, err);
}

void sp__import_close(struct sp__import *m)
{
	for (uint32_t i = 0; m->columns && i < m->n; i++) {
		sp__bytes_release(&m->columns[i].values, NULL);
		sp__bytes_release(&m->columns[i].texts, NULL);
	}
	free(m->columns);
	free(m->list);
	if (m->schema.release)
		m->schema.release(&m->schema);
	*m = (struct sp__import){ 0 };
}

static const char *name_of(const struct sp__import_column *c)
{
	return c->schema->name ? c->schema->name : "";
}

int sp__import_schema(struct sp__import *m, struct sp__schema *s, struct sp_errinfo *err)
{
	for (uint32_t i = 0; i < m->n; i++) {
		const struct sp__arrow_format *f = &m->columns[i].format;
		const char *name = name_of(&m->columns[i]);
		int rc = sp__schema_add(s, name, strlen(name), &f->type);

		if (rc == -E2BIG)
			return sp__errf(err, SP_EUNSUP, "load", NULL, -1,
					"the name of column %u has %zu bytes: the maximum is %d",
					i + 1, strlen(name), SP__COLUMN_NAME_MAX);
		if (!rc && f->kept && !(s->columns[i].arrow = strdup(f->kept)))
			rc = -ENOMEM;
		if (rc)
			return sp__err(err, rc, "load", NULL, -1);
		s->columns[i].bounds = sp__column_type_bounded(&f->type);
		m->columns[i].any_null = false;
	}
	return 0;
}

static int bad_array(const char *name, const char *reason, struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "load", NULL, -1,
			"column %.64s: an array of the stream is wrong: %s", name, reason);
}

int sp__import_check(const struct sp__import *m, const struct ArrowArray *batch,
		     struct sp_errinfo *err)
{
	const char *wrong = sp__arrow_batch_wrong(batch, m->n);

	if (wrong)
		return sp__errf(err, SP_EFORMAT, "load", NULL, -1,
				"a record batch of the stream is wrong: %s", wrong);
	for (uint32_t k = 0; !wrong && k < m->n; k++) {
		const struct sp__import_column *c = &m->columns[k];
		const struct ArrowArray *a = batch->children[k];
		const bool coded = c->schema->dictionary;

		wrong = sp__arrow_array_wrong(a, coded ? &c->codes : &c->format,
					      batch->offset + batch->length);
		if (!wrong && coded != !!a->dictionary)
			wrong = coded ? "its dictionary is missing" : "it has a dictionary";
		if (!wrong && coded)
			wrong = sp__arrow_array_wrong(a->dictionary, &c->format, 0);
		if (!wrong && coded && a->dictionary->dictionary)
			wrong = "its dictionary has a dictionary";
		if (wrong)
			return bad_array(name_of(c), wrong, err);
	}
	return 0;
}

/* Makes the column's type wider, or fails. */
static int widen(struct sp__import_column *c, uint64_t record, struct sp_errinfo *err)
{
	char type[SP__VALUE_TYPE_TEXT + 1];

	if (sp__arrow_wider(c->source->format, &c->format))
		return SP__IMPORT_WIDER;
	type[sp__value_type_print(&c->format.type, type)] = '\0';
	return sp__errf(err, SP_EUNSUP, "load", NULL, -1,
			"column %.64s, record %llu: the value of Arrow's type '%.40s' is outside "
			"of %s, or stands for NULL there, and no type is wider",
			name_of(c), (unsigned long long)record, c->source->format, type);
}

static int bad_text(const struct sp__import_column *c, uint64_t record, const char *reason,
		    struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "load", NULL, -1, "column %.64s, record %llu: %s",
			name_of(c), (unsigned long long)record, reason);
}

/*
 * Finds the value of position *i, in the column's array or its dictionary.  Returns the array; NULL
 * if the value is NULL, or, with *wrong, if the dictionary does not have it.
 */
static const struct ArrowArray *locate(const struct sp__import_column *c,
				       const struct ArrowArray *a, int64_t *i, const char **wrong)
{
	const bool is_unsigned = c->codes.type.kind == 'u';
	int64_t code;

	*wrong = NULL;
	if (c->format.form == SP__ARROW_NULLS || !sp__arrow_valid(a, *i))
		return NULL;
	if (!a->dictionary)
		return a;
	code = sp__arrow_integer(a->buffers[1], *i, c->codes.bytes, is_unsigned);
	a = a->dictionary;
	if (code < 0 || code >= a->length) {
		*wrong = "its number is outside of the dictionary";
		return NULL;
	}
	*i = a->offset + code;
	return sp__arrow_valid(a, *i) ? a : NULL;
}

static int numbers(struct sp__import_column *c, const struct ArrowArray *a, int64_t from,
		   uint32_t n, uint64_t first, struct sp_errinfo *err)
{
	for (uint32_t j = 0; j < n; j++) {
		uint8_t *to = (uint8_t *)c->values.data + (size_t)j * c->format.type.bytes;
		int64_t i = a->offset + from + j;
		const char *wrong;
		const struct ArrowArray *at = locate(c, a, &i, &wrong);

		if (wrong)
			return bad_text(c, first + j, wrong, err);
		if (!at) {
			sp__value_set_null(&c->format.type, to);
			c->any_null = true;
		} else if (!sp__arrow_store(&c->format, at, i, to)) {
			return widen(c, first + j, err);
		}
	}
	return 0;
}

/* Appends a text to those of the portion. */
static int add_text(struct sp__import_column *c, struct sp__slice s, struct sp__text_ref *ref)
{
	const char escape = (char)SP__ARROW_ESCAPE;
	const size_t escaped = c->format.escaped && s.n && *(const uint8_t *)s.p >= 0xFE;

	*ref = (struct sp__text_ref){ (uint32_t)c->texts.bytes, (uint32_t)(s.n + escaped) };
	if (s.n + escaped >= UINT32_MAX - c->texts.bytes ||
	    (escaped && sp__bytes_append(&c->texts, &escape, 1, NULL)))
		return -ENOMEM;
	return sp__bytes_append(&c->texts, s.p, s.n, NULL);
}

/* Stores text i of an array. */
static int text(struct sp__import_column *c, const struct ArrowArray *a, int64_t i, uint64_t record,
		struct sp__text_ref *ref, struct sp_errinfo *err)
{
	struct sp__slice s;
	const char *wrong = sp__arrow_text(a, &c->format, i, &s);

	if (!wrong && c->format.is_utf8 && !sp__is_utf8(s.p, s.n))
		wrong = "the text is not UTF-8: cast the column to binary";
	if (wrong)
		return bad_text(c, record, wrong, err);
	if (!c->format.escaped && sp__text_null(s.p, s.n))
		return widen(c, record, err);
	return add_text(c, s, ref) ? sp__err(err, -ENOMEM, "load", NULL, -1) : 0;
}

static int texts(struct sp__import_column *c, const struct ArrowArray *a, int64_t from, uint32_t *n,
		 uint64_t first, struct sp_errinfo *err)
{
	struct sp__text_ref *refs = (struct sp__text_ref *)(void *)c->values.data;
	int rc = 0;

	c->texts.bytes = 0;
	for (uint32_t j = 0; !rc && j < *n; j++) {
		int64_t i = a->offset + from + j;
		const char *wrong;
		const struct ArrowArray *at = locate(c, a, &i, &wrong);

		refs[j] = (struct sp__text_ref){ 0, SP__TEXT_REF_NULL };
		if (wrong)
			return bad_text(c, first + j, wrong, err);
		if (at)
			rc = text(c, at, i, first + j, &refs[j], err);
		else
			c->any_null = true;
		if (c->texts.bytes >= TEXTS_BYTES)
			*n = j + 1;
	}
	return rc;
}

int sp__import_records(struct sp__import *m, const struct ArrowArray *batch, int64_t from,
		       uint32_t *n, uint64_t first, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < m->n; k++) {
		struct sp__import_column *c = &m->columns[k];
		const struct ArrowArray *a = batch->children[k];
		const bool text = c->format.type.kind == 't';
		const size_t each = text ? sizeof(struct sp__text_ref) : c->format.type.bytes;

		if (sp__bytes_reserve(&c->values, each * *n, NULL))
			return sp__err(err, -ENOMEM, "load", NULL, -1);
		rc = text ? texts(c, a, batch->offset + from, n, first, err)
			  : numbers(c, a, batch->offset + from, *n, first, err);
		m->list[k] = (struct sp__column_values){
			.values = (uint8_t *)c->values.data,
			.refs = text ? (struct sp__text_ref *)(void *)c->values.data : NULL,
			.base = c->texts.data
		};
		if (rc == SP__IMPORT_WIDER)
			m->wider = c;
	}
	return rc;
}

uint64_t sp__import_bytes(const struct sp__import *m, uint32_t n)
{
	uint64_t bytes = 0;

	for (uint32_t k = 0; k < m->n; k++)
		bytes += (uint64_t)n * m->columns[k].format.type.bytes + m->columns[k].texts.bytes;
	return bytes;
}
