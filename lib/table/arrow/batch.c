/* SPDX-License-Identifier: MIT */
/*
 * Fills record batches (batch.h).  An array owns the buffers of its column and frees them when it
 * is released, which may happen in any thread and after the table is closed.
 */
#include <stdlib.h>
#include "base/decimal.h"
#include "base/err.h"
#include "rec/value_impl.h"
#include "table/arrow/batch.h"
#include "table/schema/columntext.h"

int sp__arrow_batch_open(struct sp__arrow_batch *b, const struct sp__table_schema *s,
			 const uint32_t *columns, uint32_t n)
{
	*b = (struct sp__arrow_batch){ .schema = s, .columns = columns, .n = n };
	b->list = calloc(n, sizeof(*b->list));
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

/* Returns the length of a valid sequence of UTF-8 at p; 0: it is not valid. */
static size_t sequence(const uint8_t *p, size_t n)
{
	size_t bytes = *p < 0x80 ? 1 : *p < 0xC2 ? 0 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;

	if (!bytes || bytes > n || *p > 0xF4)
		return 0;
	for (size_t i = 1; i < bytes; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	/* Too long forms, surrogates, and code points beyond the last one. */
	if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F) ||
	    (*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F))
		return 0;
	return bytes;
}

static bool is_utf8(const char *text, size_t n)
{
	const uint8_t *p = (const uint8_t *)text;

	while (n) {
		size_t bytes = sequence(p, n);

		if (!bytes)
			return false;
		p += bytes;
		n -= bytes;
	}
	return true;
}

/* Returns the bytes of a value in Arrow; 0: a text. */
static size_t width(const struct sp__value_type *t)
{
	if (sp__type_is_text(t))
		return 0;
	return t->kind == 'd' ? sizeof(sp__int128) : t->bytes;
}

static void convert(const struct sp__value_type *t, const uint8_t *value, char *to)
{
	sp__int128 wide;
	int64_t time;

	if (t->kind == 'd') {
		wide = sp__value_signed(t, value);
		memcpy(to, &wide, sizeof(wide));
	} else if (t->kind == 'T') {
		time = sp__value_signed(t, value) / sp__arrow_time_unit(t->decimals);
		memcpy(to, &time, sizeof(time));
	} else {
		memcpy(to, value, t->bytes);
	}
}

/* Makes space for n further values, and for their validity. */
static int reserve(struct sp__arrow_column *c, size_t bytes, int64_t length, uint32_t n)
{
	const size_t valid = (size_t)(length + n + 7) / 8;

	/* Arrow wants memory for texts that are all empty, too. */
	if (sp__bytes_reserve(&c->values, c->values.bytes + n * bytes + 1, NULL) ||
	    sp__bytes_reserve(&c->valid, valid, NULL) ||
	    (!bytes &&
	     sp__bytes_reserve(&c->ends, (size_t)(length + n + 1) * sizeof(uint64_t), NULL)))
		return -ENOMEM;
	memset(c->valid.data + c->valid.bytes, 0, valid - c->valid.bytes);
	c->valid.bytes = valid;
	return 0;
}

static void set_valid(struct sp__arrow_column *c, int64_t i, bool valid)
{
	c->nulls += !valid;
	c->valid.data[i / 8] |= (char)(valid << i % 8);
}

static void append_numbers(struct sp__arrow_column *c, int64_t at, const struct sp__value_type *t,
			   const struct sp__vector *v, const uint32_t *selected, uint32_t n)
{
	const size_t bytes = width(t);

	for (uint32_t j = 0; j < n; j++) {
		const uint8_t *value = sp__vector_at(v, selected ? selected[j] : j);
		bool null = sp__value_null(t, value);
		char *to = c->values.data + c->values.bytes;

		set_valid(c, at + j, !null);
		if (null)
			memset(to, 0, bytes);
		else
			convert(t, value, to);
		c->values.bytes += bytes;
	}
}

/* *bad: the number in the vector of a text that is not UTF-8. */
static int append_texts(struct sp__arrow_column *c, int64_t at, const struct sp__table_column *of,
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
		if (s.p && !is_utf8(s.p, s.n))
			return SP_EUNSUP;
		if (s.p && sp__bytes_append(&c->values, s.p, s.n, NULL))
			return -ENOMEM;
		set_valid(c, at + j, s.p);
		ends[at + j + 1] = c->values.bytes;
	}
	return 0;
}

int sp__arrow_append(struct sp__arrow_batch *b, const struct sp__rows *rows,
		     const uint32_t *selected, uint32_t n, struct sp_errinfo *err)
{
	for (uint32_t k = 0; n && k < b->n; k++) {
		const struct sp__table_column *of = &b->schema->columns[b->columns[k]];
		const struct sp__vector *v = &rows->vectors[b->columns[k]];
		size_t bytes = width(&of->type);
		int rc = reserve(&b->list[k], bytes, b->length, n);
		uint32_t bad = 0;

		if (!rc && bytes)
			append_numbers(&b->list[k], b->length, &of->type, v, selected, n);
		else if (!rc)
			rc = append_texts(&b->list[k], b->length, of, v, selected, n, &bad);
		if (rc == SP_EUNSUP)
			return sp__errf(err, rc, "scan", NULL, -1,
					"column %s of record %llu is not UTF-8, as texts of Arrow "
					"are: leave the column out",
					of->name, (unsigned long long)(rows->first + bad));
		if (rc)
			return sp__err(err, rc, "scan", NULL, -1);
	}
	b->length += n;
	return 0;
}

double sp__arrow_record_bytes(const struct sp__table_schema *s, const uint32_t *columns, uint32_t n)
{
	double bytes = 0;

	for (uint32_t k = 0; k < n; k++) {
		const struct sp__value_type *t = &s->columns[columns[k]].type;

		/* Texts are counted by the scan, those of fixed length and words are not. */
		bytes += 1.0 / 8 + (double)(width(t) ? width(t) : sizeof(uint64_t));
		bytes += sp__table_column_printed_bytes(&s->columns[columns[k]]);
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
static int take_column(struct ArrowArray *out, struct sp__arrow_column *c, int64_t length,
		       bool text)
{
	struct owned *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->column = *c;
	*c = (struct sp__arrow_column){ 0 };
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
		const struct sp__table_column *of = &b->schema->columns[b->columns[k]];

		out->children[k] = calloc(1, sizeof(**out->children));
		rc = out->children[k] ? take_column(out->children[k], &b->list[k], b->length,
						    !width(&of->type))
				      : -ENOMEM;
	}
	if (rc)
		release_batch(out);
	b->length = 0;
	return rc;
}
