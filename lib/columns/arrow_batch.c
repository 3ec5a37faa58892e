/* SPDX-License-Identifier: MIT */
/*
 * Fills record batches.  An array owns the buffers of its column and frees them when it
 * is released, which may happen in any thread and after the table is closed.
 */
#include <stdlib.h>
#include "base/decimal.h"
#include "base/err.h"
#include "base/utf8.h"
#include "columns/arrow_batch.h"
#include "columns/arrow_arrays.h"
#include "columns/vector.h"
#include "rec/value.h"

int sp__arrow_batch_open(struct sp__arrow_batch *b, const struct sp__schema *s,
			 const uint32_t *columns, uint32_t n)
{
	char text[SP__ARROW_FORMAT_TEXT];

	*b = (struct sp__arrow_batch){ .schema = s, .columns = columns, .n = n };
	b->list = calloc(n, sizeof(*b->list));
	for (uint32_t k = 0; b->list && k < n; k++)
		sp__arrow_column_format(&s->columns[columns[k]], text, &b->list[k].format);
	return b->list ? 0 : -ENOMEM;
}

static void close_column(struct sp__arrow_column *c)
{
	sp__bytes_release(&c->valid, NULL);
	sp__bytes_release(&c->values, NULL);
	sp__bytes_release(&c->ends, NULL);
}

void sp__arrow_batch_close(struct sp__arrow_batch *b)
{
	for (uint32_t k = 0; b->list && k < b->n; k++)
		close_column(&b->list[k]);
	free(b->list);
	*b = (struct sp__arrow_batch){ 0 };
}

void sp__arrow_batch_empty(struct sp__arrow_batch *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		struct sp__arrow_column *c = &b->list[k];

		c->valid.bytes = c->values.bytes = c->ends.bytes = 0;
		c->nulls = 0;
	}
	b->length = 0;
}

static bool is_text(const struct sp__arrow_format *f)
{
	return f->form == SP__ARROW_TEXT;
}

/* Converts a value to f->bytes.  False: the format does not have it. */
static bool convert(const struct sp__arrow_format *f, const uint8_t *value, char *to)
{
	const struct sp__value_type *t = &f->type;
	sp__int128 wide;
	int64_t v;

	if (t->kind == 'd') {
		wide = sp__value_signed(t, value);
		memcpy(to, &wide, sizeof(wide));
	} else if (t->kind == 'T') {
		v = sp__value_signed(t, value) / sp__arrow_time_unit(t->decimals);
		memcpy(to, &v, sizeof(v));
	} else if (f->bytes == t->bytes) {
		memcpy(to, value, t->bytes);
	} else {
		v = sp__value_signed(t, value);
		memcpy(to, &v, f->bytes);
		return f->bytes == 8 || v == (int32_t)v;
	}
	return true;
}

/* Makes space for n further values, and for their validity. */
static int reserve(struct sp__arrow_column *c, int64_t length, uint32_t n)
{
	const size_t bits = (size_t)(length + n + 7) / 8;
	const bool spread = c->format.form != SP__ARROW_BITS;
	const size_t bytes = is_text(&c->format) ? 0 : c->format.bytes;

	/* Arrow wants memory for texts that are all empty, too. */
	if (sp__bytes_reserve(&c->values, spread ? c->values.bytes + n * bytes + 1 : bits, NULL) ||
	    sp__bytes_reserve(&c->valid, bits, NULL) ||
	    (is_text(&c->format) &&
	     sp__bytes_reserve(&c->ends, (size_t)(length + n + 1) * sizeof(uint64_t), NULL)))
		return -ENOMEM;
	memset(c->valid.data + c->valid.bytes, 0, bits - c->valid.bytes);
	c->valid.bytes = bits;
	if (!spread) {
		memset(c->values.data + c->values.bytes, 0, bits - c->values.bytes);
		c->values.bytes = bits;
	}
	return 0;
}

static void set_bit(struct sp__bytes *bits, int64_t i, bool bit)
{
	bits->data[i / 8] |= (char)(bit << i % 8);
}

static void set_valid(struct sp__arrow_column *c, int64_t i, bool valid)
{
	c->nulls += !valid;
	set_bit(&c->valid, i, valid);
}

/* Appends values.  *bad: the number in the vector of one that the format does not have. */
static int append_numbers(struct sp__arrow_column *c, int64_t at, const struct sp__vector *v,
			  const uint32_t *selected, uint32_t n, uint32_t *bad)
{
	const struct sp__arrow_format *f = &c->format;

	for (uint32_t j = 0; j < n; j++) {
		const uint32_t i = selected ? selected[j] : j;
		const uint8_t *value = sp__vector_at(v, i);
		bool null = sp__value_null(&f->type, value), good = true;
		char *to = c->values.data + c->values.bytes;

		*bad = i;
		set_valid(c, at + j, !null);
		if (f->form == SP__ARROW_BITS) {
			set_bit(&c->values, at + j, *value == 1);
			good = null || *value <= 1;
		} else {
			if (null)
				memset(to, 0, f->bytes);
			else
				good = convert(f, value, to);
			c->values.bytes += f->bytes;
		}
		if (!good)
			return SP_EUNSUP;
	}
	return 0;
}

/* Returns bytes without the escape before their first one; those that were appended can lack it. */
static struct sp__slice unescaped(struct sp__slice s)
{
	const uint8_t *p = (const uint8_t *)s.p;

	if (s.n < 2 || p[0] != SP__ARROW_ESCAPE || p[1] < SP__ARROW_ESCAPE)
		return s;
	return (struct sp__slice){ s.p + 1, s.n - 1 };
}

/* *bad: the number in the vector of a text that is not UTF-8. */
static int append_texts(struct sp__arrow_column *c, int64_t at, const struct sp__column *of,
			const struct sp__vector *v, const uint32_t *selected, uint32_t n,
			uint32_t *bad)
{
	uint64_t *ends = (uint64_t *)(void *)c->ends.data;

	if (!at)
		ends[0] = 0;
	for (uint32_t j = 0; j < n; j++) {
		const uint32_t i = selected ? selected[j] : j;
		struct sp__slice s = sp__column_text(of, v, i);

		*bad = i;
		if (s.p && c->format.is_utf8 && !sp__is_utf8(s.p, s.n))
			return SP_EUNSUP;
		if (s.p && c->format.escaped)
			s = unescaped(s);
		if (s.p && sp__bytes_append(&c->values, s.p, s.n, NULL))
			return -ENOMEM;
		set_valid(c, at + j, s.p);
		ends[at + j + 1] = c->values.bytes;
	}
	return 0;
}

static int bad_value(const struct sp__arrow_column *c, const struct sp__column *of, uint64_t record,
		     struct sp_errinfo *err)
{
	if (is_text(&c->format))
		return sp__errf(err, SP_EUNSUP, "scan", NULL, -1,
				"column %.100s of record %llu is not UTF-8, as texts of Arrow are: "
				"leave the column out",
				of->name, (unsigned long long)record);
	return sp__errf(
		err, SP_EUNSUP, "scan", NULL, -1,
		"column %.100s of record %llu has a value that Arrow's type %s ('%.40s'), which "
		"the column was loaded with, does not have",
		of->name, (unsigned long long)record, sp__arrow_noun(of->arrow), of->arrow);
}

int sp__arrow_append(struct sp__arrow_batch *b, const struct sp__rows *rows,
		     const uint32_t *selected, uint32_t n, struct sp_errinfo *err)
{
	for (uint32_t k = 0; n && k < b->n; k++) {
		const struct sp__column *of = &b->schema->columns[b->columns[k]];
		const struct sp__vector *v = &rows->vectors[b->columns[k]];
		struct sp__arrow_column *c = &b->list[k];
		int rc = reserve(c, b->length, n);
		uint32_t bad = 0;

		if (!rc && is_text(&c->format))
			rc = append_texts(c, b->length, of, v, selected, n, &bad);
		else if (!rc)
			rc = append_numbers(c, b->length, v, selected, n, &bad);
		if (rc == SP_EUNSUP)
			return bad_value(c, of, rows->first + bad, err);
		if (rc)
			return sp__err(err, rc, "scan", NULL, -1);
	}
	b->length += n;
	return 0;
}

double sp__arrow_record_bytes(const struct sp__schema *s, const uint32_t *columns, uint32_t n)
{
	double bytes = 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct sp__value_type *t = &s->columns[columns[k]].type;

		/* Texts are counted by the scan, those of fixed length and words are not. */
		bytes += 1.0 / 8;
		bytes += sp__type_is_text(t) ? sizeof(uint64_t) : t->kind == 'd' ? 16 : t->bytes;
		bytes += sp__column_printed_bytes(&s->columns[columns[k]]);
	}
	return bytes;
}

/* What an array of a column owns. */
struct owned {
	struct sp__arrow_column column;
	const void *buffers[3];
};

static void release_column(struct ArrowArray *a)
{
	struct owned *o = a->private_data;

	close_column(&o->column);
	free(o);
	a->release = NULL;
}

static void release_batch(struct ArrowArray *a)
{
	for (int64_t i = 0; i < a->n_children; i++) {
		if (a->children[i] && a->children[i]->release)
			a->children[i]->release(a->children[i]);
		free(a->children[i]);
	}
	free(a->children);
	free(a->buffers);
	a->release = NULL;
}

/* Moves a column to an array. */
static int take_column(struct ArrowArray *out, struct sp__arrow_column *c, int64_t length)
{
	const bool text = is_text(&c->format);
	struct owned *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->column = *c;
	*c = (struct sp__arrow_column){ .format = c->format };
	o->buffers[0] = o->column.nulls ? o->column.valid.data : NULL;
	o->buffers[1] = text ? o->column.ends.data : o->column.values.data;
	o->buffers[2] = text ? o->column.values.data : NULL;
	*out = (struct ArrowArray){ .length = length,
				    .null_count = o->column.nulls,
				    .n_buffers = text ? 3 : 2,
				    .buffers = o->buffers,
				    .release = release_column,
				    .private_data = o };
	return 0;
}

int sp__arrow_take(struct sp__arrow_batch *b, struct ArrowArray *out)
{
	int rc = 0;

	*out = (struct ArrowArray){
		.length = b->length, .n_buffers = 1, .n_children = b->n, .release = release_batch
	};
	out->buffers = calloc(1, sizeof(*out->buffers));
	out->children = calloc(b->n, sizeof(*out->children));
	if (!out->buffers || !out->children) {
		out->n_children = 0;
		rc = -ENOMEM;
	}
	for (uint32_t k = 0; !rc && k < b->n; k++) {
		out->children[k] = calloc(1, sizeof(**out->children));
		rc = out->children[k] ? take_column(out->children[k], &b->list[k], b->length)
				      : -ENOMEM;
	}
	if (rc)
		release_batch(out);
	b->length = 0;
	return rc;
}
