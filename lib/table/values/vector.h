/* SPDX-License-Identifier: MIT */
/*
 * Rows of a table in memory, column by column.  Vectors point to the cells that were read; no
 * value is copied.
 */
#pragma once

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
