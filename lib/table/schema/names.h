/* SPDX-License-Identifier: MIT */
/*
 * Lists of column names as users write them: names with commas between them.  A name with a comma
 * or a quote is in double quotes, and quotes in it are doubled.
 */
#pragma once

#include "table/schema/schema.h"

/*
 * Copies the word in quotes at from, whose first byte is the quote, to `to`, which can be from;
 * quotes that are doubled in it are copied once.  *n: its bytes.  Returns the bytes up to the
 * closing quote, and with it; 0: it is not closed, and the rest was copied.
 */
size_t sp__unquote(const char *from, char *to, size_t *n);
/*
 * Takes the next name of a list, in place and without its quotes, and moves *list to the rest, NULL
 * after the last one.  False: a quote is not closed.
 */
bool sp__names_next(char **list, char **name, size_t *bytes);
/*
 * Finds the columns of a list, in its order; NULL: all columns.  The caller frees *columns.
 * Returns 0; SP_ESYNTAX if a name is no column's, with the nearest name, or is missing; or -ENOMEM.
 */
SP_MUST_CHECK int sp__names_find(const struct sp__table_schema *s, const char *list,
				 uint32_t **columns, uint32_t *n, struct sp_errinfo *err);
/* Finds one column.  Returns its number; or SP_ESYNTAX with the nearest name. */
SP_MUST_CHECK int sp__names_column(const struct sp__table_schema *s, const char *name, size_t bytes,
				   struct sp_errinfo *err);
