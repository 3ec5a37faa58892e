/* SPDX-License-Identifier: MIT */
/*
 * Parses lists of columns and literals.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/vector.h"
#include "columns/schema_text.h"
#include "expr/token.h"
#include "rec/jsonread.h"
#include "table/change/newvalues.h"

#define SHOWN 40 /* bytes of a user's word in a message */

static int bad(struct sp_errinfo *err, const char *reason, const char *at)
{
	return sp__errf(err, SP_ESYNTAX, "update", NULL, -1, "%s: '%.*s'", reason, SHOWN, at);
}

/* Describes a text that is not a value of its column. */
static int misfit(const struct sp__column *c, enum sp__value_fit fit, const char *text, size_t n,
		  struct sp_errinfo *err)
{
	char type[SP__VALUE_TYPE_TEXT + 1] = "", wider[SP__VALUE_TYPE_TEXT + 1] = "";
	struct sp__value_type w = sp__value_type_wider(&c->type, text, n);
	const int shown = (int)sp__min(n, SHOWN);

	type[sp__value_type_print(&c->type, type)] = '\0';
	wider[sp__value_type_print(&w, wider)] = '\0';
	return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
			"column %.*s has type %s: '%.*s' %s: the type %s would hold it (convert "
			"--types)",
			SHOWN, c->name, type, shown, text,
			fit == SP__VALUE_MALFORMED ? "is not such a value"
			: fit == SP__VALUE_RANGE   ? "is out of its range"
						   : "is reserved for NULL",
			wider);
}

static int code_of(struct sp__column *c, bool *changed, const char *text, size_t n, uint8_t *to,
		   struct sp_errinfo *err)
{
	const uint32_t max = c->type.bytes == 1 ? SP__DICT8_WORDS : SP__DICT16_WORDS;
	uint32_t code, words = c->words.n;
	int rc = sp__dictionary_add(&c->words, text, n, max, &code);

	if (rc == -ENOSPC)
		return sp__errf(err, rc, "update", NULL, -1,
				"the dictionary of column %.*s is full: convert the table, which "
				"gives the column a wider type",
				SHOWN, c->name);
	if (rc)
		return sp__errf(err, rc, "update", NULL, -1,
				"the dictionary of column %.*s needs more memory", SHOWN, c->name);
	*changed |= c->words.n > words;
	for (uint32_t i = 0; i < c->type.bytes; i++)
		to[i] = (uint8_t)(code >> 8 * i);
	return 0;
}

static int text_of(const struct sp__column *c, const char *text, size_t n, uint8_t *to,
		   struct sp_errinfo *err)
{
	const struct sp__new_text t = { text, (uint32_t)n };

	if (sp__text_null(text, n))
		return sp__errf(
			err, SP_ESYNTAX, "update", NULL, -1,
			"column %.*s: a text that begins with the byte 0xFF is reserved for NULL",
			SHOWN, c->name);
	if (n >= UINT32_MAX)
		return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
				"column %.*s: a text of 4 GiB or more", SHOWN, c->name);
	memcpy(to, &t, sizeof(t));
	return 0;
}

static int null_of(const struct sp__column *c, uint8_t *to, struct sp_errinfo *err)
{
	static const char null[] = { (char)SP__TEXT_NULL };
	const struct sp__new_text t = { null, 1 };

	if (c->not_null)
		return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
				"column %.*s is not null: it takes no NULL", SHOWN, c->name);
	if (c->type.kind == 't')
		memcpy(to, &t, sizeof(t));
	else
		sp__value_set_null(&c->type, to);
	return 0;
}

/* True if a text cannot be in the lines of which the table's text consists. */
static bool breaks_line(const struct sp__schema *s, const struct sp__value_type *t,
			const char *text, size_t n)
{
	return s->style.format == SP_REC_LINE && !s->style.json && sp__type_is_text(t) &&
	       (memchr(text, s->style.separator, n) || memchr(text, '\n', n));
}

/* True of null, among values of JSON, with blanks around it. */
static bool is_null(const char *text)
{
	return text[strspn(text, " \t\r\n")] == 'n';
}

int sp__new_value(struct sp__tablefile *f, uint32_t column, const char *text, size_t n, uint8_t *to,
		  struct sp_errinfo *err)
{
	struct sp__column *c = &f->schema.columns[column];
	enum sp__value_fit fit;
	struct sp__json_error wrong;

	if (!text)
		return null_of(c, to, err);
	if (breaks_line(&f->schema, &c->type, text, n))
		return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
				"column %.*s: a separator or a newline in a text cannot be in the "
				"lines of this table: load it as CSV",
				SHOWN, c->name);
	if (c->json && memchr(text, '\n', n))
		return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
				"column %.*s: a value of JSON with a newline cannot be in a line",
				SHOWN, c->name);
	if (c->json && sp__json_find(NULL, text, n, SP__JSON_CHECK_ALL, NULL, &wrong))
		return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
				"column %.*s has values of JSON: '%.*s' is none: at byte %zu %s is "
				"expected",
				SHOWN, c->name, (int)sp__min(n, SHOWN), text, wrong.at + 1,
				wrong.wanted);
	if (c->json && is_null(text))
		return null_of(c, to, err);
	if (c->type.kind == 't')
		return text_of(c, text, n, to, err);
	if (c->type.kind == 'w')
		return code_of(c, &f->schema_changed, text, n, to, err);
	fit = sp__value_read(&c->type, text, n, to);
	return fit == SP__VALUE_OK ? 0 : misfit(c, fit, text, n, err);
}

/* Takes the name before "=", in place; moves *at behind it. */
static int take_name(char **at, char **name, size_t *n, struct sp_errinfo *err)
{
	char *end;

	*name = *at;
	if (**at == '"') {
		end = *at + sp__unquote(*at, *at, n);
		if (end == *at)
			return bad(err, "a double quote is not closed", *name);
	} else {
		end = *at + strcspn(*at, "=");
		*n = (size_t)(end - *at);
	}
	if (*end != '=')
		return bad(err, "not of the form COLUMN=VALUE", *name);
	*at = end + 1;
	return 0;
}

/* Takes a literal, in place; moves *at behind it and its comma.  *text NULL: it is null. */
static int take_literal(char **at, char **text, size_t *n, struct sp_errinfo *err)
{
	char *end;

	*text = *at;
	if (**at == '\'') {
		end = *at + sp__unquote(*at, *at, n);
		if (end == *at)
			return bad(err, "a quote is not closed", *text);
		if (*end && *end != ',')
			return bad(err, "a comma is missing after the quote", end);
	} else {
		end = *at + strcspn(*at, ",");
		*n = (size_t)(end - *at);
		if (*n == 4 && !strncasecmp(*at, "null", 4))
			*text = NULL;
	}
	*at = *end ? end + 1 : NULL;
	return 0;
}

/* Adds a column with its value.  text, of the caller, is kept by a copy. */
static int add(struct sp__new_values *v, struct sp__tablefile *f, uint32_t column, const char *text,
	       size_t n, struct sp_errinfo *err)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < v->n; i++) {
		if (v->columns[i].column == column)
			return sp__errf(err, SP_ESYNTAX, "update", NULL, -1,
					"column %.*s is set twice", SHOWN,
					f->schema.columns[column].name);
		at += sp__new_value_bytes(&f->schema.columns[v->columns[i].column]);
	}
	if (!SP__ARRAY_RESIZE(v->columns, v->n + 1) || !SP__ARRAY_RESIZE(v->texts, v->n + 1) ||
	    !SP__ARRAY_RESIZE(v->row, at + sp__new_value_bytes(&f->schema.columns[column])))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	v->texts[v->n] = text ? malloc(n + 1) : NULL;
	v->columns[v->n++] = (struct sp__update_column){ column, at };
	if (!text)
		return sp__new_value(f, column, NULL, 0, v->row + at, err);
	if (!v->texts[v->n - 1])
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	memcpy(v->texts[v->n - 1], text, n);
	v->texts[v->n - 1][n] = '\0';
	v->max_text = (uint32_t)sp__max(v->max_text, n);
	return sp__new_value(f, column, v->texts[v->n - 1], n, v->row + at, err);
}

static int parse_list(struct sp__new_values *v, struct sp__tablefile *f, char *list,
		      struct sp_errinfo *err)
{
	char *name, *text;
	size_t name_bytes, n;
	int rc = 0;

	while (!rc && list) {
		int column = 0;

		rc = take_name(&list, &name, &name_bytes, err);
		if (!rc)
			column = sp__names_column(&f->schema, name, name_bytes, err);
		if (!rc && column < 0)
			rc = column;
		if (!rc)
			rc = take_literal(&list, &text, &n, err);
		if (!rc)
			rc = add(v, f, (uint32_t)column, text, n, err);
	}
	return rc;
}

int sp__new_values_parse(struct sp__new_values *v, struct sp__tablefile *f, const char *const *set,
			 size_t nset, struct sp_errinfo *err)
{
	int rc = nset ? 0 : bad(err, "no column is set", "");

	*v = (struct sp__new_values){ .max_text = 1 };
	for (size_t i = 0; !rc && i < nset; i++) {
		char *list = strdup(set[i]);

		rc = list ? parse_list(v, f, list, err)
			  : sp__err(err, -ENOMEM, "allocate", NULL, -1);
		free(list);
	}
	return rc;
}

void sp__new_values_free(struct sp__new_values *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		free(v->texts[i]);
	free(v->texts);
	free(v->columns);
	free(v->row);
	*v = (struct sp__new_values){ 0 };
}
