/* SPDX-License-Identifier: MIT */
/* Takes the words of a query apart (querywords.h). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rec/value.h"
#include "table/schema/names.h"
#include "table/schema/querywords.h"

#define BLANKS " \t\r\n"

static const char no_columns[] = "columns are names with commas between them, or *";

bool sp__query_fail(struct sp__query_words *w, const char *reason, ...)
{
	va_list args;

	va_start(args, reason);
	vsnprintf(w->reason, SP__QUERY_REASON, reason, args);
	va_end(args);
	return false;
}

char *sp__query_word(struct sp__query_words *w)
{
	char *word = w->at + strspn(w->at, BLANKS), *end = word;

	for (bool quoted = false; *end && (quoted || !strchr(BLANKS, *end)); end++)
		quoted ^= *end == '"';
	w->at = *end ? end + 1 : end;
	*end = '\0';
	return end > word ? word : NULL;
}

static bool unknown_column(struct sp__query_words *w, const struct sp__table_schema *s,
			   const char *name, size_t bytes)
{
	const char *nearest = sp__table_schema_nearest(s, name, bytes);
	int shown = bytes < SP__QUERY_WORD_SHOWN ? (int)bytes : SP__QUERY_WORD_SHOWN;

	return sp__query_fail(w, "the table has no column '%.*s'%s%.*s%s", shown, name,
			      nearest ? "; the nearest name is '" : "", SP__QUERY_WORD_SHOWN,
			      nearest ? nearest : "", nearest ? "'" : "");
}

bool sp__query_columns(struct sp__query_words *w, const struct sp__table_schema *s, char *list,
		       bool **columns)
{
	if (!list)
		return sp__query_fail(w, no_columns);
	*columns = calloc(s->n ? s->n : 1, sizeof(**columns));
	if (!*columns) {
		w->no_memory = true;
		return false;
	}
	if (!strcmp(list, "*")) {
		memset(*columns, true, s->n * sizeof(**columns));
		return true;
	}
	while (list) {
		char *name;
		size_t bytes;
		int column;

		if (!sp__names_next(&list, &name, &bytes))
			return sp__query_fail(w, "a double quote is not closed");
		if (!bytes)
			return sp__query_fail(w, no_columns);
		column = sp__table_schema_find(s, name, bytes);
		if (column < 0)
			return unknown_column(w, s, name, bytes);
		(*columns)[column] = true;
	}
	return true;
}

bool sp__query_count(struct sp__query_words *w, uint64_t *count, const char *reason)
{
	const char *word = sp__query_word(w);

	if (!word || !sp__value_parse(&sp__value_types[SP__VALUE_U64], word, strlen(word), count) ||
	    !*count || *count > SP__WORKLOAD_RECORDS_MAX)
		return sp__query_fail(w, "%s", reason);
	return true;
}
