/* SPDX-License-Identifier: MIT */
/* Parses lists of column names. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "table/schema/names.h"

#define SHOWN 40 /* bytes of a user's word in a message */

size_t sp__unquote(const char *from, char *to, size_t *n)
{
	const char quote = *from, *at = from + 1;
	char *end = to;

	for (; *at && (*at != quote || at[1] == quote); *end++ = *at++)
		at += *at == quote;
	*n = (size_t)(end - to);
	return *at ? (size_t)(at + 1 - from) : 0;
}

bool sp__names_next(char **list, char **name, size_t *bytes)
{
	char *from = *list, *to = from;
	bool quoted = false;

	*name = from;
	for (; *from && (quoted || *from != ','); from++) {
		if (*from == '"' && !(quoted && from[1] == '"')) {
			quoted = !quoted;
			continue;
		}
		from += *from == '"';
		*to++ = *from;
	}
	*bytes = (size_t)(to - *name);
	*list = *from ? from + 1 : NULL;
	return !quoted;
}

int sp__names_column(const struct sp__table_schema *s, const char *name, size_t bytes,
		     struct sp_errinfo *err)
{
	const char *nearest = sp__table_schema_nearest(s, name, bytes);
	int column = sp__table_schema_find(s, name, bytes);

	if (column >= 0)
		return column;
	return sp__errf(err, SP_ESYNTAX, "find", NULL, -1, "the table has no column '%.*s'%s%.*s%s",
			(int)sp__min(bytes, SHOWN), name, nearest ? "; the nearest name is '" : "",
			SHOWN, nearest ? nearest : "", nearest ? "'" : "");
}

static int find_names(const struct sp__table_schema *s, char *list, uint32_t **columns, uint32_t *n,
		      struct sp_errinfo *err)
{
	size_t capacity = 0, bytes;
	char *name;

	while (list) {
		int column;

		if (!sp__names_next(&list, &name, &bytes))
			return sp__errf(err, SP_ESYNTAX, "find", NULL, -1,
					"a double quote in the list of columns is not closed");
		column = sp__names_column(s, name, bytes, err);
		if (column < 0)
			return column;
		if (!SP__ARRAY_GROW(*columns, capacity, *n + 1))
			return sp__err(err, -ENOMEM, "find", NULL, -1);
		(*columns)[(*n)++] = (uint32_t)column;
	}
	return 0;
}

int sp__names_find(const struct sp__table_schema *s, const char *list, uint32_t **columns,
		   uint32_t *n, struct sp_errinfo *err)
{
	char *copy = NULL;
	int rc = 0;

	*columns = NULL;
	*n = 0;
	if (list) {
		copy = strdup(list);
		rc = copy ? find_names(s, copy, columns, n, err)
			  : sp__err(err, -ENOMEM, "find", NULL, -1);
	} else {
		*columns = malloc(s->n * sizeof(**columns));
		if (!*columns)
			return sp__err(err, -ENOMEM, "find", NULL, -1);
		for (; *n < s->n; ++*n)
			(*columns)[*n] = *n;
	}
	free(copy);
	if (rc) {
		free(*columns);
		*columns = NULL;
	}
	return rc;
}
