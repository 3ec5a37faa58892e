/* SPDX-License-Identifier: MIT */
/*
 * Names and types of columns as text, in two forms:
 *
 *	NAME:TYPE[ json][ not null],...	one argument
 *	NAME TYPE [json] [not null]	a line for each column; empty ones and those that start with
 *					# are skipped
 *
 * A name is in double quotes, with quotes in it doubled, if it has a quote, the end of the name
 * (a colon; a blank) or of the column (a comma; a newline) in it, or starts with #.  A name can
 * always be quoted.  Types are those of sp__value_type_parse().
 *
 * A list of columns has names with commas between them.  A query of a workload has words with
 * blanks between them; run/workload.h reads the lines.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "base/mem.h"
#include "columns/schema.h"
#include "run/workload.h"

/*
 * Adds the columns of a text to a schema.  path: the name of the file for messages.  Returns 0;
 * -ENOMEM; or SP_ESYNTAX with the reason, also if a name occurs twice; columns might have been
 * added.
 */
SP_MUST_CHECK int sp__schema_list_parse(struct sp__schema *s, const char *list,
					struct sp_errinfo *err);
SP_MUST_CHECK int sp__schema_lines_parse(struct sp__schema *s, const char *lines, size_t n,
					 const char *path, struct sp_errinfo *err);
/* Adds the lines of a file, at least one column.  Errors as above, and -errno. */
SP_MUST_CHECK int sp__schema_file_read(struct sp__schema *s, const char *path,
				       struct sp_errinfo *err);
/*
 * Prints the type of a column as the functions above take it, without a 0 byte.  Returns its
 * length.
 */
size_t sp__schema_type_print(const struct sp__column *c, char text[SP__VALUE_TYPE_TEXT]);
/* Refuses columns of JSON, for another form of records.  Returns 0 or SP_ESYNTAX. */
SP_MUST_CHECK int sp__schema_refuse_json(const struct sp__schema *s, const char *path,
					 struct sp_errinfo *err);
/* Appends a line for each column to text.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__schema_lines_print(const struct sp__schema *s, struct sp__bytes *text);
/*
 * Finds the columns of a list, in its order; NULL: all columns.  The caller frees *columns.
 * Returns 0; SP_ESYNTAX if a name is no column's, with the nearest name, or is missing; or -ENOMEM.
 */
SP_MUST_CHECK int sp__names_find(const struct sp__schema *s, const char *list, uint32_t **columns,
				 uint32_t *n, struct sp_errinfo *err);
/* Finds one column.  Returns its number; or SP_ESYNTAX with the nearest name. */
SP_MUST_CHECK int sp__names_column(const struct sp__schema *s, const char *name, size_t bytes,
				   struct sp_errinfo *err);

#define SP__WORKLOAD_RECORDS_MAX (UINT64_C(1) << 48)
#define SP__QUERY_WORD_SHOWN 40 /* bytes of a user's word in a message */

/* The words of a query of a workload. */
struct sp__query_words {
	char *at;     /* the rest of the words */
	char *reason; /* reason of a failure; SP__QUERY_REASON bytes */
	bool no_memory;
};
/* Sets the reason.  Returns false. */
__attribute__((format(printf, 2, 3))) bool sp__query_fail(struct sp__query_words *w,
							  const char *reason, ...);
/* Takes the next word, which blanks end unless they are in double quotes; NULL: none. */
char *sp__query_word(struct sp__query_words *w);
/*
 * Sets *columns to a new array that has true for each column of a list, names with commas between
 * them, or "*".  Returns false after an error; list: NULL is one.
 */
bool sp__query_columns(struct sp__query_words *w, const struct sp__schema *s, char *list,
		       bool **columns);
/* Takes a word that is a number of records above 0.  False: it is not; `reason` says so. */
bool sp__query_count(struct sp__query_words *w, uint64_t *count, const char *reason);
