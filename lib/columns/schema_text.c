/* SPDX-License-Identifier: MIT */
/*
 * Parses and prints names and types of columns, lists of names, and the words of a query of a
 * workload.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "columns/schema.h"
#include "columns/schema_text.h"
#include "columns/vector.h"
#include "rec/key.h"
#include "rec/value.h"
#include "run/workload.h"

#define SHOWN 40 /* bytes of a user's word in a message */

/*
 * Takes the next name of a list, in place and without its quotes, and moves *list to the rest, NULL
 * after the last one.  False: a quote is not closed.
 */
static bool names_next(char **list, char **name, size_t *bytes)
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

int sp__names_column(const struct sp__schema *s, const char *name, size_t bytes,
		     struct sp_errinfo *err)
{
	const char *nearest = sp__schema_nearest(s, name, bytes);
	int column = sp__schema_find(s, name, bytes);

	if (column >= 0)
		return column;
	return sp__errf(err, SP_ESYNTAX, "find", NULL, -1, "the table has no column '%.*s'%s%.*s%s",
			(int)sp__min(bytes, SHOWN), name, nearest ? "; the nearest name is '" : "",
			SHOWN, nearest ? nearest : "", nearest ? "'" : "");
}

static int find_names(const struct sp__schema *s, char *list, uint32_t **columns, uint32_t *n,
		      struct sp_errinfo *err)
{
	size_t capacity = 0, bytes;
	char *name;

	while (list) {
		int column;

		if (!names_next(&list, &name, &bytes))
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

int sp__names_find(const struct sp__schema *s, const char *list, uint32_t **columns, uint32_t *n,
		   struct sp_errinfo *err)
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

static bool unknown_column(struct sp__query_words *w, const struct sp__schema *s, const char *name,
			   size_t bytes)
{
	const char *nearest = sp__schema_nearest(s, name, bytes);
	int shown = bytes < SP__QUERY_WORD_SHOWN ? (int)bytes : SP__QUERY_WORD_SHOWN;

	return sp__query_fail(w, "the table has no column '%.*s'%s%.*s%s", shown, name,
			      nearest ? "; the nearest name is '" : "", SP__QUERY_WORD_SHOWN,
			      nearest ? nearest : "", nearest ? "'" : "");
}

bool sp__query_columns(struct sp__query_words *w, const struct sp__schema *s, char *list,
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

		if (!names_next(&list, &name, &bytes))
			return sp__query_fail(w, "a double quote is not closed");
		if (!bytes)
			return sp__query_fail(w, no_columns);
		column = sp__schema_find(s, name, bytes);
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

#define FILE_BYTES (16 << 20) /* maximum of a schema */

#define SHOWN_BYTES 40 /* maximum of a text in a message */

struct parser {
	const char *begin, *p, *end;
	char after_name, after_column;
	bool lines;
	const char *path;
	struct sp__schema *schema;
	struct sp_errinfo *err;
};

/* Describes an error at an address, or of the whole text if that is NULL, by text and problem. */
static int refuse(const struct parser *a, const char *at, const char *text, size_t n,
		  const char *problem)
{
	char line[32] = "";
	unsigned number = 1;

	for (const char *p = a->begin; at && p < at; p++)
		number += *p == '\n';
	if (a->lines && at)
		snprintf(line, sizeof(line), "line %u: ", number);
	return sp__errf(a->err, SP_ESYNTAX, NULL, a->path, -1, "%s'%.*s'%s %s", line,
			n < SHOWN_BYTES ? (int)n : SHOWN_BYTES, text, n <= SHOWN_BYTES ? "" : "...",
			problem);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct parser *a)
{
	while (a->p < a->end && is_blank(*a->p))
		a->p++;
}

static bool at_end(const struct parser *a)
{
	return a->p == a->end || *a->p == a->after_column;
}

/* True if an unquoted name ends here. */
static bool name_ends(const struct parser *a)
{
	return at_end(a) || (a->lines ? is_blank(*a->p) : *a->p == a->after_name);
}

/* Takes a name in quotes.  Returns its length, or SP_ESYNTAX. */
static int take_quoted(struct parser *a, char name[SP__COLUMN_NAME_MAX + 1])
{
	const char *open = a->p++;
	int n = 0;

	for (; a->p < a->end; a->p++) {
		if (*a->p == '"' && (++a->p == a->end || *a->p != '"'))
			return n;
		if (n == SP__COLUMN_NAME_MAX)
			return refuse(a, open, open, (size_t)(a->end - open),
				      "is longer than 255 bytes, the maximum of a name");
		name[n++] = *a->p;
	}
	return refuse(a, open, open, (size_t)(a->end - open), "has no closing quote");
}

/* Takes a name.  Returns its length, or SP_ESYNTAX. */
static int take_name(struct parser *a, char name[SP__COLUMN_NAME_MAX + 1])
{
	const char *begin;
	size_t n;

	skip_blanks(a);
	begin = a->p;
	if (a->p < a->end && *a->p == '"')
		return take_quoted(a, name);
	while (!name_ends(a))
		a->p++;
	for (n = (size_t)(a->p - begin); n && is_blank(begin[n - 1]);)
		n--;
	if (n > SP__COLUMN_NAME_MAX)
		return refuse(a, begin, begin, n,
			      "is longer than 255 bytes, the maximum of a name");
	memcpy(name, begin, n);
	return (int)n;
}

/* Takes the text up to a blank or the end of the column. */
static struct sp__slice take_word(struct parser *a)
{
	const char *begin = a->p;

	while (!at_end(a) && !is_blank(*a->p))
		a->p++;
	return (struct sp__slice){ begin, (size_t)(a->p - begin) };
}

static bool same(const struct sp__slice *word, const char *text)
{
	return word->n == strlen(text) && !memcmp(word->p, text, word->n);
}

/* Takes "json", if it is a type of texts, then "not null" or nothing, up to the end. */
static int take_not_null(struct parser *a, bool text, bool *json, bool *not_null)
{
	struct sp__slice first, second;

	skip_blanks(a);
	first = take_word(a);
	skip_blanks(a);
	*json = text && same(&first, "json");
	if (*json) {
		first = take_word(a);
		skip_blanks(a);
	}
	second = take_word(a);
	skip_blanks(a);
	*not_null = first.n;
	if (at_end(a) && (!first.n || (same(&first, "not") && same(&second, "null"))))
		return 0;
	return refuse(a, first.p, first.p, first.n,
		      "is not 'not null', which can follow a type, or 'json', which can follow a "
		      "type of texts");
}

static int add_column(struct parser *a, const char *at, const char *name, size_t n,
		      const struct sp__value_type *type, bool not_null)
{
	int rc;

	if (!n || memchr(name, '\0', n))
		return refuse(a, at, name, n, "is not a name: it is empty or has a zero byte");
	rc = sp__schema_add(a->schema, name, n, type);
	if (rc == -E2BIG)
		return refuse(a, at, name, n, "would be column 4097: a table has at most 4096");
	if (!rc)
		a->schema->columns[a->schema->n - 1].not_null = not_null;
	return rc;
}

/* Completes a text that was parsed with this result. */
static int finish(const struct parser *a, int rc)
{
	int twice = rc ? -1 : sp__schema_repeated(a->schema);
	const char *name;

	if (twice < 0)
		return rc;
	name = a->schema->columns[twice].name;
	return refuse(a, NULL, name, strlen(name), "is named twice");
}

static int take_column(struct parser *a)
{
	char name[SP__COLUMN_NAME_MAX + 1];
	struct sp__value_type type;
	const char *begin = a->p;
	struct sp__slice word;
	bool not_null, json;
	int n = take_name(a, name), rc;

	if (n < 0)
		return n;
	if (a->p == a->end || !(a->lines ? is_blank(*a->p) : *a->p == a->after_name))
		return refuse(a, begin, begin, (size_t)(a->p - begin),
			      a->lines ? "has no type: a line is NAME TYPE"
				       : "has no type: a column is NAME:TYPE");
	a->p++;
	skip_blanks(a);
	word = take_word(a);
	if (sp__value_type_parse(&type, word.p, word.n))
		return refuse(a, begin, word.p, word.n,
			      "is not a type; types are " SP__VALUE_TYPE_NAMES);
	rc = take_not_null(a, sp__type_is_text(&type), &json, &not_null);
	if (!rc)
		rc = add_column(a, begin, name, (size_t)n, &type, not_null);
	if (!rc)
		a->schema->columns[a->schema->n - 1].json = json;
	return rc;
}

int sp__schema_list_parse(struct sp__schema *s, const char *list, struct sp_errinfo *err)
{
	struct parser a = { .begin = list,
			    .p = list,
			    .end = list + strlen(list),
			    .after_name = ':',
			    .after_column = ',',
			    .schema = s,
			    .err = err };
	int rc = take_column(&a);

	while (!rc && a.p < a.end) {
		a.p++;
		rc = take_column(&a);
	}
	return finish(&a, rc);
}

int sp__schema_lines_parse(struct sp__schema *s, const char *lines, size_t n, const char *path,
			   struct sp_errinfo *err)
{
	struct parser a = { .begin = lines,
			    .p = lines + sp__utf8_mark(lines, n),
			    .end = lines + n,
			    .after_column = '\n',
			    .lines = true,
			    .path = path,
			    .schema = s,
			    .err = err };
	int rc = 0;

	for (; !rc && a.p < a.end; a.p += a.p < a.end) {
		skip_blanks(&a);
		if (a.p < a.end && *a.p == '#')
			while (!at_end(&a))
				a.p++;
		if (!at_end(&a))
			rc = take_column(&a);
	}
	return finish(&a, rc);
}

static bool needs_quotes(const char *name)
{
	return !*name || *name == '#' || sp__utf8_mark(name, strlen(name)) ||
	       name[strcspn(name, " \t\r\n\",:")];
}

static int print_name(const char *name, struct sp__bytes *text)
{
	char quoted[2 * SP__COLUMN_NAME_MAX + 2];
	const size_t n = strlen(name);

	if (!needs_quotes(name))
		return sp__bytes_append(text, name, n, NULL);
	return sp__bytes_append(text, quoted,
				(size_t)(sp__csv_put_quoted(quoted, name, n) - quoted), NULL);
}

size_t sp__schema_type_print(const struct sp__column *c, char text[SP__VALUE_TYPE_TEXT])
{
	static const char json[] = { ' ', 'j', 's', 'o', 'n' };
	const size_t n = sp__value_type_print(&c->type, text);

	if (!c->json)
		return n;
	memcpy(text + n, json, sizeof(json));
	return n + sizeof(json);
}

int sp__schema_refuse_json(const struct sp__schema *s, const char *path, struct sp_errinfo *err)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->columns[i].json)
			return sp__errf(
				err, SP_ESYNTAX, NULL, path, -1,
				"column '%.64s': values of JSON are in tables of JSON lines "
				"only (--json)",
				s->columns[i].name);
	return 0;
}

int sp__schema_lines_print(const struct sp__schema *s, struct sp__bytes *text)
{
	char type[SP__VALUE_TYPE_TEXT + 16];
	int rc = 0;

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		const struct sp__column *c = &s->columns[i];
		size_t n;

		rc = print_name(c->name, text);
		type[0] = ' ';
		n = 1 + sp__schema_type_print(c, type + 1);
		strcpy(type + n, c->not_null ? " not null\n" : "\n");
		if (!rc)
			rc = sp__bytes_append(text, type, strlen(type), NULL);
	}
	return rc;
}

int sp__schema_file_read(struct sp__schema *s, const char *path, struct sp_errinfo *err)
{
	FILE *f = fopen(path, "re");
	char *text;
	size_t n = 0;
	int rc = 0;

	if (!f)
		return sp__err(err, -errno, "open", path, -1);
	text = malloc(FILE_BYTES);
	if (!text) {
		rc = sp__err(err, -ENOMEM, "read", path, -1);
	} else {
		n = fread(text, 1, FILE_BYTES, f);
		if (ferror(f))
			rc = sp__err(err, -errno, "read", path, -1);
		else if (n == FILE_BYTES)
			rc = sp__errf(err, SP_ESYNTAX, "read", path, -1,
				      "a schema has less than %d MiB", FILE_BYTES >> 20);
	}
	if (!rc)
		rc = sp__schema_lines_parse(s, text, n, path, err);
	if (!rc && !s->n)
		rc = sp__errf(err, SP_ESYNTAX, "read", path, -1, "the schema has no columns");
	free(text);
	fclose(f);
	return rc;
}
