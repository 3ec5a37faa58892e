/* SPDX-License-Identifier: MIT */
/* Texts of records in columns. */
#pragma once

#include "table/schema/schema.h"
#include "table/values/vector.h"

/* True if the values of a type are texts. */
static inline bool sp__type_is_text(const struct sp__value_type *t)
{
	return t->kind == 'c' || t->kind == 't' || t->kind == 'w';
}

/* Returns text i of a vector of a column of texts.  p is NULL if it is NULL. */
static inline struct sp__slice sp__column_text(const struct sp__table_column *c,
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
