/* SPDX-License-Identifier: MIT */
/*
 * Values of records in memory, column by column: those that were read, which vectors find in the
 * cells without a copy, and those that are written to a table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <spindle/api.h>
#include "columns/schema.h"
#include "rec/fields.h"

struct sp__vector {
	const uint8_t *data; /* value i is at data + i * stride; NULL: the column is not read */
	uint32_t stride;
	/* Of a column of text: the bytes of its directory row, and the end of the text before. */
	const char *text;
	uint32_t before;
};

#define SP__ROWS_MAX 65528

struct sp__rows {
	uint64_t first;			  /* number of the first record */
	uint32_t n;			  /* at most SP__ROWS_MAX */
	const struct sp__vector *vectors; /* by number of the column */
};

static inline const uint8_t *sp__vector_at(const struct sp__vector *v, uint32_t i)
{
	return v->data + (size_t)i * v->stride;
}

/* Returns text i of a column of text; it can be NULL: sp__text_null(). */
static inline struct sp__slice sp__vector_text(const struct sp__vector *v, uint32_t i)
{
	uint32_t begin = v->before, end;

	if (i)
		memcpy(&begin, sp__vector_at(v, i - 1), sizeof(begin));
	memcpy(&end, sp__vector_at(v, i), sizeof(end));
	return (struct sp__slice){ v->text + begin, end - begin };
}

#define SP__TEXT_REF_NULL UINT32_MAX

struct sp__text_ref {
	uint32_t at;	/* offset from a base that all texts of the column have */
	uint32_t bytes; /* SP__TEXT_REF_NULL: the text is NULL */
};

/* Values of consecutive records of a column, in memory of the caller. */
struct sp__column_values {
	const uint8_t *values; /* one behind the other as they are stored; or, for a text column, */
	struct sp__text_ref *refs; /* the texts, changed by the writer, ... */
	const char *base;	   /* ... and what they refer to */
};

/* True if the values of a type are texts. */
static inline bool sp__type_is_text(const struct sp__value_type *t)
{
	return t->kind == 'c' || t->kind == 't' || t->kind == 'w';
}

/* Returns text i of a vector of a column of texts.  p is NULL if it is NULL. */
static inline struct sp__slice sp__column_text(const struct sp__column *c,
					       const struct sp__vector *v, uint32_t i)
{
	const uint8_t *at = sp__vector_at(v, i);
	size_t n = c->type.bytes;
	struct sp__slice s;
	uint32_t code;

	if (c->type.kind == 't') {
		s = sp__vector_text(v, i);
		return sp__text_null(s.p, s.n) ? (struct sp__slice){ NULL, 0 } : s;
	}
	if (c->type.kind == 'c') {
		while (n && !at[n - 1])
			n--;
		return (struct sp__slice){ sp__text_null(at, n) ? NULL : (const char *)at, n };
	}
	code = n == 1 ? at[0] : at[0] | (uint32_t)at[1] << 8;
	if (!code || code > c->words.n)
		return (struct sp__slice){ NULL, 0 };
	return sp__dictionary_word(&c->words, code);
}

/* A copy of a constant length needs no call. */
#define SP__STRIDED_LOOP(length)                                                                   \
	for (uint32_t i = 0; i < n; i++, to += to_stride, from += from_stride)                     \
	memcpy(to, from, length)

/* Copies n values of this many bytes; the strides are the distances of their first bytes. */
static inline void sp__strided_copy(uint8_t *to, size_t to_stride, const uint8_t *from,
				    size_t from_stride, uint32_t bytes, uint32_t n)
{
	if (to_stride == bytes && from_stride == bytes)
		memcpy(to, from, (size_t)n * bytes);
	else if (bytes == 8)
		SP__STRIDED_LOOP(8);
	else if (bytes == 4)
		SP__STRIDED_LOOP(4);
	else if (bytes == 2)
		SP__STRIDED_LOOP(2);
	else if (bytes == 1)
		SP__STRIDED_LOOP(1);
	else
		SP__STRIDED_LOOP(bytes);
}
