/* SPDX-License-Identifier: MIT */
/*
 * The new values of an update that are the same for all records, from text: COLUMN=LITERAL with
 * commas between them.  A column name is as in lists of columns (columns/schema_text.h).  A literal
 * is null, a text in single quotes, with quotes in it doubled, or bytes up to the next comma.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/change/update.h"

struct sp__new_values {
	struct sp__update_column *columns;
	uint32_t n;
	uint8_t *row;	   /* the values, for sp__tableupdate_put() */
	char **texts;	   /* literal of each column; owned */
	uint32_t max_text; /* bytes of the longest text */
};

/*
 * Parses nset lists.  Words that a dictionary lacks are added to it.  Returns 0; SP_ESYNTAX if a
 * list is malformed, a column is unknown or set twice, or a value does not fit its column; -ENOSPC
 * if a dictionary is full; SP_EBUDGET; or -ENOMEM.  After an error, too, it must be freed.
 */
SP_MUST_CHECK int sp__new_values_parse(struct sp__new_values *v, struct sp__tablefile *f,
				       const char *const *set, size_t nset, struct sp_errinfo *err);
void sp__new_values_free(struct sp__new_values *v);
/*
 * Makes the stored value of a text of n bytes, NULL if text is NULL, at to: the value of a column
 * as sp__tableupdate_put() takes it, which can refer to text.  Errors as above.
 */
SP_MUST_CHECK int sp__new_value(struct sp__tablefile *f, uint32_t column, const char *text,
				size_t n, uint8_t *to, struct sp_errinfo *err);
/* Returns the bytes of such a value. */
static inline uint32_t sp__new_value_bytes(const struct sp__column *c)
{
	return c->type.kind == 't' ? (uint32_t)sizeof(struct sp__new_text) : c->type.bytes;
}
