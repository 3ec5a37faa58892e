/* SPDX-License-Identifier: MIT */
/*
 * Reads the arrays of a record batch (import.h).
 *
 * Decimals have 16 bytes there, bits of bool are spread, times are in seconds, milliseconds or
 * microseconds, and texts are found by offsets of 4 or 8 bytes, by views, or by the numbers of a
 * dictionary.
 */
#include <stdlib.h>
#include "base/decimal.h"
#include "base/err.h"
#include "table/arrow/import.h"

#define VIEW_BYTES 16
#define VIEW_INLINE 12

static int unsupported(const struct ArrowSchema *s, struct sp_errinfo *err)
{
	return sp__errf(err, SP_EUNSUP, "load", NULL, -1,
			"column %s has Arrow's type '%s', which tables do not have", s->name,
			s->format);
}

static int add_column(struct sp__import *m, uint32_t i, struct sp__table_schema *s,
		      struct sp_errinfo *err)
{
	const struct ArrowSchema *from = m->schema.children[i];
	struct sp__import_column *c = &m->columns[i];
	int rc;

	c->schema = from;
	if (!sp__arrow_type(from, &c->type) || from->n_children)
		return unsupported(from, err);
	c->unit = sp__arrow_time_unit(c->type.decimals);
	rc = sp__table_schema_add(s, from->name, strlen(from->name), &c->type);
	if (rc)
		return sp__err(err, rc, "load", NULL, -1);
	s->columns[i].bounds = sp__table_type_bounded(&c->type);
	return 0;
}

int sp__import_open(struct sp__import *m, struct ArrowArrayStream *stream,
		    struct sp__table_schema *s, struct sp_errinfo *err)
{
	int rc = stream->get_schema(stream, &m->schema);

	if (rc)
		return sp__errf(err, -rc, "read", NULL, -1, "the stream has no schema");
	if (strcmp(m->schema.format, "+s") != 0 || m->schema.n_children < 1 ||
	    m->schema.n_children > SP__COLUMNS_MAX)
		return unsupported(&m->schema, err);
	m->n = (uint32_t)m->schema.n_children;
	m->columns = calloc(m->n, sizeof(*m->columns));
	m->list = calloc(m->n, sizeof(*m->list));
	if (!m->columns || !m->list)
		return sp__err(err, -ENOMEM, "load", NULL, -1);
	for (uint32_t i = 0; !rc && i < m->n; i++)
		rc = add_column(m, i, s, err);
	return rc;
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

static bool is_valid(const struct ArrowArray *a, int64_t i)
{
	const uint8_t *bits = a->n_buffers ? a->buffers[0] : NULL;

	return !a->null_count || !bits || bits[i / 8] >> i % 8 & 1;
}

/* Returns a number of 1, 2, 4 or 8 bytes. */
static int64_t integer(const void *data, int64_t i, unsigned bytes, bool is_unsigned)
{
	uint64_t bits = 0;
	unsigned unused = 64 - 8 * bytes;

	memcpy(&bits, (const char *)data + i * bytes, bytes);
	return is_unsigned ? (int64_t)bits : (int64_t)(bits << unused) >> unused;
}

/* Returns text i of an array of texts or bytes, by their format (arrow/schema.h). */
static struct sp__slice text_of(const struct ArrowArray *a, const char *format, int64_t i)
{
	const char *views = a->buffers[1];
	int32_t bytes, at[2];

	if (*format != 'v') {
		unsigned size = *format == 'U' || *format == 'Z' ? 8 : 4;
		int64_t from = integer(a->buffers[1], i, size, false);
		int64_t to = integer(a->buffers[1], i + 1, size, false);

		return (struct sp__slice){ (const char *)a->buffers[2] + from,
					   (size_t)(to - from) };
	}
	views += i * VIEW_BYTES;
	memcpy(&bytes, views, sizeof(bytes));
	if (bytes <= VIEW_INLINE)
		return (struct sp__slice){ views + sizeof(bytes), (size_t)bytes };
	memcpy(at, views + 8, sizeof(at));
	return (struct sp__slice){ (const char *)a->buffers[2 + at[0]] + at[1], (size_t)bytes };
}

/* Stores a value.  False: the type does not have it, or it stands for NULL. */
static bool store(const struct sp__import_column *c, const struct ArrowArray *a, int64_t i,
		  uint8_t *to)
{
	const struct sp__value_type *t = &c->type;
	sp__int128 wide;
	int64_t v;

	if (*c->schema->format == 'b') {
		*to = ((const uint8_t *)a->buffers[1])[i / 8] >> i % 8 & 1;
		return true;
	}
	if (t->kind == 'd') {
		memcpy(&wide, (const char *)a->buffers[1] + i * (int64_t)sizeof(wide),
		       sizeof(wide));
		memcpy(to, &wide, t->bytes);
		return wide == integer(to, 0, t->bytes, false) &&
		       sp__value_check(t, to) == SP__VALUE_OK;
	}
	if (t->kind == 'T') {
		v = integer(a->buffers[1], i, 8, false);
		if (c->schema->format[2] == 'n' ? v % 1000 != 0
						: __builtin_mul_overflow(v, c->unit, &v))
			return false;
		v /= c->schema->format[2] == 'n' ? 1000 : 1;
		memcpy(to, &v, sizeof(v));
	} else {
		memcpy(to, (const char *)a->buffers[1] + i * t->bytes, t->bytes);
	}
	return sp__value_check(t, to) == SP__VALUE_OK;
}

static int bad_value(const struct sp__import_column *c, uint64_t record, struct sp_errinfo *err)
{
	char type[SP__VALUE_TYPE_TEXT + 1];

	type[sp__value_type_print(&c->type, type)] = '\0';
	return sp__errf(
		err, SP_EUNSUP, "load", NULL, -1,
		"column %s, record %llu: the value is outside of %s, or stands for NULL there; "
		"load the column with a wider type",
		c->schema->name, (unsigned long long)record, type);
}

static int numbers(struct sp__import_column *c, const struct ArrowArray *a, int64_t from,
		   uint32_t n, uint64_t first, struct sp_errinfo *err)
{
	for (uint32_t j = 0; j < n; j++) {
		uint8_t *to = (uint8_t *)c->values.data + (size_t)j * c->type.bytes;
		const int64_t i = a->offset + from + j;

		if (!is_valid(a, i)) {
			sp__value_set_null(&c->type, to);
			c->nulls++;
		} else if (!store(c, a, i, to)) {
			return bad_value(c, first + j, err);
		}
	}
	return 0;
}

/* Appends a text to those of the portion. */
static int add_text(struct sp__import_column *c, struct sp__slice s, struct sp__text_ref *ref)
{
	*ref = (struct sp__text_ref){ (uint32_t)c->texts.bytes, (uint32_t)s.n };
	if (s.n >= UINT32_MAX - c->texts.bytes)
		return -ENOMEM;
	return sp__bytes_append(&c->texts, s.p, s.n, NULL);
}

static int texts(struct sp__import_column *c, const struct ArrowArray *a, int64_t from, uint32_t n,
		 uint64_t first, struct sp_errinfo *err)
{
	const struct ArrowArray *words = a->dictionary ? a->dictionary : a;
	const char *format = a->dictionary ? c->schema->dictionary->format : c->schema->format;
	struct sp__value_type code = { 'u', 0, 4 };
	struct sp__text_ref *refs = (struct sp__text_ref *)(void *)c->values.data;

	if (a->dictionary &&
	    !sp__arrow_type(&(struct ArrowSchema){ .format = c->schema->format }, &code))
		return unsupported(c->schema, err);
	c->texts.bytes = 0;
	for (uint32_t j = 0; j < n; j++) {
		int64_t i = a->offset + from + j;
		struct sp__slice s;

		refs[j] = (struct sp__text_ref){ 0, SP__TEXT_REF_NULL };
		if (!is_valid(a, i)) {
			c->nulls++;
			continue;
		}
		if (a->dictionary) {
			i = words->offset + integer(a->buffers[1], i, code.bytes, code.kind == 'u');
			if (!is_valid(words, i)) {
				c->nulls++;
				continue;
			}
		}
		s = text_of(words, format, i);
		if (sp__text_null(s.p, s.n))
			return bad_value(c, first + j, err);
		if (add_text(c, s, &refs[j]))
			return sp__err(err, -ENOMEM, "load", NULL, -1);
	}
	return 0;
}

int sp__import_records(struct sp__import *m, const struct ArrowArray *batch, int64_t from,
		       uint32_t n, uint64_t first, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < m->n; k++) {
		struct sp__import_column *c = &m->columns[k];
		const struct ArrowArray *a = batch->children[k];
		const bool text = c->type.kind == 't';
		const size_t each = text ? sizeof(struct sp__text_ref) : c->type.bytes;

		if (sp__bytes_reserve(&c->values, each * n, NULL))
			return sp__err(err, -ENOMEM, "load", NULL, -1);
		rc = text ? texts(c, a, batch->offset + from, n, first, err)
			  : numbers(c, a, batch->offset + from, n, first, err);
		m->list[k] = (struct sp__column_values){
			.values = (uint8_t *)c->values.data,
			.refs = text ? (struct sp__text_ref *)(void *)c->values.data : NULL,
			.base = c->texts.data
		};
	}
	return rc;
}
