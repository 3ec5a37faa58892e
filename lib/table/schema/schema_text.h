/* SPDX-License-Identifier: MIT */
/*
 * Names and types of columns as text, in two forms:
 *
 *	NAME:TYPE[ not null],...	one argument
 *	NAME TYPE [not null]		a line for each column; empty ones and those that start with
 *					# are skipped
 *
 * A name is in double quotes, with quotes in it doubled, if it has a quote, the end of the name
 * (a colon; a blank) or of the column (a comma; a newline) in it, or starts with #.  A name can
 * always be quoted.  Types are those of sp__value_type_parse().
 */
#pragma once

#include "base/mem.h"
#include "table/schema/schema.h"

/*
 * Adds the columns of a text to a schema.  path: the name of the file for messages.  Returns 0;
 * -ENOMEM; or SP_ESYNTAX with the reason, also if a name occurs twice; columns might have been
 * added.
 */
SP_MUST_CHECK int sp__schema_list_parse(struct sp__table_schema *s, const char *list,
					struct sp_errinfo *err);
SP_MUST_CHECK int sp__schema_lines_parse(struct sp__table_schema *s, const char *lines, size_t n,
					 const char *path, struct sp_errinfo *err);
/* Adds the lines of a file, at least one column.  Errors as above, and -errno. */
SP_MUST_CHECK int sp__schema_file_read(struct sp__table_schema *s, const char *path,
				       struct sp_errinfo *err);
/* Appends a line for each column to text.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__schema_lines_print(const struct sp__table_schema *s, struct sp__bytes *text);
