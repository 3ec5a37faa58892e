/* SPDX-License-Identifier: MIT */
/*
 * Reads the columns of the result, and replaces names of columns by field numbers: in keys,
 * NAME[:LETTERS], and in the result, FILE.NAME.  Names wait until the headers are read.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "call/form.h"

#define SEPARATORS ", \t" /* between columns */
#define DIGITS 21	  /* digits of the largest number, plus a byte */

/* Returns the end of a path in a list; a quote behind a backslash ends no name. */
static const char *path_end(const char *p)
{
	bool quoted = false;

	for (; *p && (quoted || !strchr(SEPARATORS, *p)); p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else
			quoted ^= *p == '"';
	}
	return p;
}

/* Cuts the next item off a list. */
static char *next_item(char **rest, bool json)
{
	char *item = *rest, *end;

	if (!item)
		return NULL;
	end = item + ((json ? path_end(item) : sp__form_item_end(item, SEPARATORS)) - item);
	*rest = *end ? end + 1 : NULL;
	*end = '\0';
	return item;
}

/* Parses OFFSET:LENGTH. */
static int set_part(struct sp_join_form *form, const char *text, struct sp_join_column *c,
		    struct sp_errinfo *err)
{
	struct sp_errinfo reason = SP_ERRINFO_INIT;
	struct sp_key part = SP_KEY_INIT;

	if (sp_bkey_parse(text, &part, &reason))
		return sp__invalid(err, text, "%s: invalid field specifier:", reason.text);
	if (strchr(strchr(text, ':') + 1, ':'))
		return sp__invalid(err, text, "invalid field specifier:");
	if (!SP__ARRAY_RESIZE(form->parts, form->nparts + 1))
		return sp__form_no_memory(err);
	form->parts[form->nparts] = part;
	c->field = form->nparts++;
	return 0;
}

static int read_column(struct sp_join_form *form, const char *item, struct sp_join_column *c,
		       const char **name, struct sp_errinfo *err)
{
	*name = NULL;
	if (item[0] < '0' || item[0] > (form->plain ? '2' : '0' + SP_JOIN_FILES_MAX))
		return sp__invalid(err, item, "invalid file number in field spec:");
	c->file = (unsigned)(item[0] - '0');
	if (item[1] != (c->file ? '.' : '\0'))
		return sp__invalid(err, item, "invalid field specifier:");
	if (!c->file)
		return 0;
	c->path = item + 1;
	if (form->opts->json)
		return 0;
	if (!form->plain && sp_columns_is_name(item + 2)) {
		*name = item + 2;
		return 0;
	}
	if (!form->plain && strchr(item, ':')) {
		form->binary_column = item;
		return set_part(form, item + 2, c, err);
	}
	form->line_column = item;
	return sp_join_form_field(item + 2, &c->field, err);
}

int sp_join_form_add_columns(struct sp_join_form *form, char *text, struct sp_errinfo *err)
{
	struct sp_join_opts *o = form->opts;
	char *item;

	while ((item = next_item(&text, o->json))) {
		struct sp_join_column c = { 0 };
		const char *name;
		int rc = read_column(form, item, &c, &name, err);

		if (rc)
			return rc;
		if (!SP__ARRAY_RESIZE(form->columns, o->ncolumns + 1) ||
		    !SP__ARRAY_RESIZE(form->column_names, o->ncolumns + 1))
			return sp__form_no_memory(err);
		form->column_names[o->ncolumns] = name;
		form->columns[o->ncolumns++] = c;
		o->columns = form->columns;
	}
	return 0;
}

const char *sp_join_form_name(const struct sp_join_form *form)
{
	/* In JSON lines a name is the beginning of a path. */
	if (form->opts->json)
		return NULL;
	for (int i = 0; i < 2; i++)
		if (form->key[i].name)
			return form->key[i].name;
	for (size_t i = 0; i < form->opts->ncolumns; i++)
		if (form->column_names[i])
			return form->column_names[i];
	for (size_t i = 0; i < form->opts->nthen; i++)
		if (form->left_name[i] || form->key_name[i])
			return form->left_name[i] ? form->left_name[i] : form->key_name[i];
	return NULL;
}

/*
 * Finds a column by name.  An empty file has no columns; any number will do, as it has no records.
 */
static int find(const struct sp_columns *c, const char *text, const char *ends, size_t *number,
		const char **rest, struct sp_errinfo *err)
{
	if (!c->empty)
		return sp_columns_find(c, text, ends, number, rest, err);
	*number = 1;
	*rest = sp__form_item_end(text, ends);
	return 0;
}

/* Makes the list of a key with numbers for names. */
static int number_list(const struct sp_columns *c, const char *text, char **list,
		       struct sp_errinfo *err)
{
	/* a name has at least one byte and is followed by one */
	char *to = *list = calloc(strlen(text) + 1, DIGITS);
	size_t number;

	if (!to)
		return sp__form_no_memory(err);
	for (const char *p = text, *end;; p = end + 1) {
		if (sp_columns_is_name(p)) {
			int rc = find(c, p, ":,", &number, &p, err);

			if (rc)
				return rc;
			to += sprintf(to, "%zu", number);
			/* letters; digits would change the number */
			if (*p == ':' && isdigit((unsigned char)*++p))
				return sp__invalid(err, text, "invalid field number:");
		}
		end = sp__form_item_end(p, ",");
		to += sprintf(to, "%.*s", (int)(end - p), p);
		if (!*end)
			return 0;
		*to++ = ',';
	}
}

static bool is_wanted(const struct sp_join_form *form, unsigned side)
{
	bool wanted = side < 2 ? form->key[side].name != NULL : form->key_name[side - 2] != NULL;

	for (size_t i = 0; i < form->opts->nthen; i++)
		wanted |= form->left_name[i] && form->then[i].left == side + 1;
	for (size_t i = 0; i < form->opts->ncolumns; i++)
		wanted |= form->column_names[i] && form->columns[i].file == side + 1;
	return wanted;
}

static int number_key(struct sp_join_form *form, unsigned side, const struct sp_columns *c,
		      struct sp_errinfo *err)
{
	struct sp_join_form_key *key;
	int rc = 0;

	if (side >= 2)
		return 0;
	key = &form->key[side];
	if (key->name) {
		rc = number_list(c, key->name, &form->list[side], err);
		key->name = NULL;
		if (!rc)
			rc = sp_join_form_set_key(form, (int)side, form->list[side], err);
	}
	for (size_t i = 0; !rc && i < key->n; i++)
		rc = sp_columns_check(c, key->field[i] + 1, err);
	return rc;
}

static int number_columns(struct sp_join_form *form, unsigned side, const struct sp_columns *c,
			  struct sp_errinfo *err)
{
	const char *rest;
	int rc = 0;

	for (size_t i = 0; !rc && i < form->opts->ncolumns; i++) {
		size_t number = form->columns[i].field + 1;

		if (form->columns[i].file != side + 1)
			continue;
		if (form->column_names[i])
			rc = find(c, form->column_names[i], "", &number, &rest, err);
		form->column_names[i] = NULL;
		form->columns[i].field = number - 1;
		if (!rc)
			rc = sp_columns_check(c, number, err);
	}
	return rc;
}

/* Replaces a name by a field number, from 0; *name is NULL afterwards. */
static int number_field(const struct sp_columns *c, const char **name, size_t *field,
			struct sp_errinfo *err)
{
	const char *rest;
	size_t number;
	int rc = 0;

	if (*name)
		rc = find(c, *name, "", &number, &rest, err);
	if (!rc && *name)
		*field = number - 1;
	*name = NULL;
	return rc;
}

/* Numbers the fields of a file by which further files are joined. */
static int number_then(struct sp_join_form *form, unsigned side, const struct sp_columns *c,
		       struct sp_errinfo *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < form->opts->nthen; i++) {
		struct sp_join_then *t = &form->then[i];

		if (t->left == side + 1)
			rc = number_field(c, &form->left_name[i], &t->left_field, err);
		if (!rc && i + 2 == side)
			rc = number_field(c, &form->key_name[i], &t->key, err);
	}
	return rc;
}

int sp__form_check_names(const struct sp_join_form *form, struct sp_errinfo *err)
{
	const struct sp_join_opts *o = form->opts;

	if (!sp_join_form_name(form))
		return 0;
	if (!o->header)
		return sp__invalid(err, sp_join_form_name(form), "invalid field number:");
	if (o->fixed_bytes[0] || o->separator_bytes > 1)
		return sp__invalid(err, NULL,
				   "columns have names in lines and CSV with separators of one "
				   "byte only");
	if (form->binary_column)
		return sp__invalid(err, form->binary_column + 2, "invalid field number:");
	for (size_t i = 0; i < o->ncolumns; i++)
		if (form->column_names[i] && form->columns[i].file > 2 + o->nthen)
			return sp__invalid(err, NULL, "there is no file %u: %u.%s",
					   form->columns[i].file, form->columns[i].file,
					   form->column_names[i]);
	return 0;
}

/* Resolves the names of a file; ahead as for sp_join_form_resolve(), NULL: read by an index. */
static int resolve_file(struct sp_join_form *form, unsigned side, const char *input,
			const char *(*quote)(const char *), struct sp_batch *ahead,
			struct sp_errinfo *err)
{
	const struct sp_join_opts *o = form->opts;
	struct sp_columns c = {
		.input = input,
		.csv = o->csv,
		.separator = o->separator ? (unsigned char)o->separator[0]
			     : o->csv	  ? ','
					  : -1,
		.eol = o->eol,
		.header_records = 1,
		.decompress = o->run.decompress,
		.quote = quote,
		.only_regular = form->only_regular || !ahead,
	};
	int rc = sp_columns_read(&c, err);

	if (!rc)
		rc = number_key(form, side, &c, err);
	if (!rc)
		rc = number_columns(form, side, &c, err);
	if (!rc)
		rc = number_then(form, side, &c, err);
	if (!rc && ahead) {
		*ahead = (struct sp_batch){ .data = c.taken, .bytes = c.taken_bytes };
		c.taken = NULL;
	}
	sp_columns_close(&c);
	return rc;
}

int sp_join_form_resolve(struct sp_join_form *form, const char *const inputs[2],
			 const char *(*quote)(const char *), struct sp_batch ahead[2],
			 struct sp_errinfo *err)
{
	const struct sp_join_opts *o = form->opts;
	int rc = 0;

	if (!sp_join_form_name(form))
		return 0;
	rc = sp__form_check_names(form, err);
	for (unsigned i = 0; !rc && i < 2 + o->nthen; i++)
		if (is_wanted(form, i))
			rc = resolve_file(form, i, i < 2 ? inputs[i] : o->then[i - 2].input, quote,
					  i < 2 ? &ahead[i] : NULL, err);
	return rc;
}
