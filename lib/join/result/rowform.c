/* SPDX-License-Identifier: MIT */
/* Records of the result from columns with names (rowform.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "join/result/emit.h"
#include "rec/json.h"

#define COMMA ','
#define SPARE_BYTES 64 /* behind an unquoted field, which is copied in blocks */
#define SHOWN 40       /* bytes of a text in a message */

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* The form. */

static char *write_name(const struct sp__rowform *f, char *to, const char *name)
{
	const size_t bytes = strlen(name);

	if (f->csv)
		return to + sp__csv_quote(name, bytes, COMMA, to);
	*to++ = f->n ? COMMA : '{';
	to = sp__json_put_text(to, name, bytes);
	if (to)
		*to++ = ':';
	return to;
}

int sp__rowform_add(struct sp__rowform *f, const struct sp__rowcolumn *c, const char *name,
		    struct sp_errinfo *err)
{
	struct sp__rowcolumn own = *c;
	char *end;

	own.name = malloc(SP__JSON_TEXT(strlen(name)) + 2);
	if (!own.name || !SP__ARRAY_GROW_BY_ONE(f->at, f->n)) {
		free(own.name);
		return no_memory(err);
	}
	end = write_name(f, own.name, name);
	own.name_bytes = end ? (size_t)(end - own.name) : 0;
	f->at[f->n++] = own;
	return end ? 0
		   : sp__errf(err, SP_EFORMAT, "join", NULL, -1,
			      "the name '%.*s' of a column is not UTF-8, so JSON cannot have it; "
			      "leave out --format=json",
			      SHOWN, name);
}

void sp__rowform_release(struct sp__rowform *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->at[i].name);
	free(f->at);
	*f = (struct sp__rowform){ 0 };
}

/* The names of columns of JSON while the form is made. */
struct names {
	char **at;
	unsigned *files; /* from 0 */
	size_t n;
};

static void free_names(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->at[i]);
	free(names->at);
	free(names->files);
}

/* Appends the name of a member: its path without the first point. */
static int add_name(struct names *names, const char *path, unsigned file)
{
	static const char *const whole[SP_JOIN_FILES_MAX] = { "left", "right", "3", "4",
							      "5",    "6",     "7", "8" };
	char *name = malloc(strlen(path) + sizeof("right"));

	if (!name || !SP__ARRAY_GROW_BY_ONE(names->at, names->n) ||
	    !SP__ARRAY_GROW_BY_ONE(names->files, names->n)) {
		free(name);
		return -ENOMEM;
	}
	if (path[1])
		sp__json_path_name(path, name);
	else
		strcpy(name, whole[file]);
	names->files[names->n] = file;
	names->at[names->n++] = name;
	return 0;
}

/* Returns the number of a later column with the name of column i; n: none. */
static size_t find_same(const struct names *names, size_t i)
{
	size_t k = i + 1;

	while (k < names->n && strcmp(names->at[k], names->at[i]) != 0)
		k++;
	return k;
}

/* Appends _2 to the names of file 2, and so on, that are in another file, too. */
static int append_suffixes(struct names *names, struct sp_errinfo *err)
{
	bool *shared = calloc(names->n + 1, sizeof(*shared));
	int rc = shared ? 0 : no_memory(err);

	for (size_t i = 0; !rc && i < names->n; i++) {
		const size_t k = find_same(names, i);

		if (k < names->n && names->files[k] != names->files[i])
			shared[i] = shared[k] = true;
		else if (k < names->n)
			rc = sp__invalid(err, NULL,
					 "two columns of the result are '%.*s' of file %u", SHOWN,
					 names->at[i], names->files[i] + 1);
	}
	for (size_t i = 0; !rc && i < names->n; i++) {
		char *name;

		if (!shared[i] || !names->files[i])
			continue;
		if (asprintf(&name, "%s_%u", names->at[i], names->files[i] + 1) < 0) {
			rc = no_memory(err);
			break;
		}
		free(names->at[i]);
		names->at[i] = name;
	}
	for (size_t i = 0; !rc && i < names->n; i++)
		if (find_same(names, i) < names->n)
			rc = sp__invalid(err, NULL,
					 "two columns of the result have the name '%.*s': leave "
					 "one of them out",
					 SHOWN, names->at[i]);
	free(shared);
	return rc;
}

/* Lists the names of the columns. */
static int list_names(struct names *names, const struct sp_join_opts *o)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < o->ncolumns; i++) {
		const struct sp_join_column *c = &o->columns[i];

		if (c->file)
			rc = add_name(names, c->path, c->file - 1);
		for (size_t k = 0; !c->file && !rc && k < o->nkeys; k++)
			rc = add_name(names, o->paths[0][k], 0);
	}
	return rc;
}

/* Adds a member, or part k of the key if file is 0. */
static int add_member(struct sp__rowform *f, struct sp__emit *e, const struct sp_join_column *from,
		      size_t k, const char *name)
{
	const struct sp_join_opts *o = e->opts;
	struct sp__rowcolumn c = { .file = from->file ? from->file - 1 : 0, .key = !from->file };
	int rc = sp__joinpaths_add(e->own_paths, c.file, c.key ? o->paths[0][k] : from->path,
				   &c.field[0], e->err);

	if (!rc && c.key)
		rc = sp__joinpaths_add(e->own_paths, 1, o->paths[1][k], &c.field[1], e->err);
	return rc ? rc : sp__rowform_add(f, &c, name, e->err);
}

int sp__rowform_members(struct sp__rowform *f, struct sp__emit *e)
{
	const struct sp_join_opts *o = e->opts;
	struct names names = { 0 };
	size_t at = 0;
	int rc = list_names(&names, o) ? no_memory(e->err) : append_suffixes(&names, e->err);

	for (size_t i = 0; !rc && i < o->ncolumns; i++) {
		const size_t parts = o->columns[i].file ? 1 : o->nkeys;

		for (size_t k = 0; !rc && k < parts; k++)
			rc = add_member(f, e, &o->columns[i], k, names.at[at++]);
	}
	free_names(&names);
	return rc;
}

/* Records. */

static int reserve(struct sp__emit *e, size_t bytes)
{
	return sp__bytes_reserve(&e->row_text, bytes, NULL) ? no_memory(e->err) : 0;
}

static void put(struct sp__emit *e, const char *p, size_t n)
{
	e->put(e, p, n);
}

static void put_comma(struct sp__emit *e, size_t i)
{
	static const char comma = COMMA;

	if (i)
		put(e, &comma, 1);
}

void sp__rowform_header(struct sp__emit *e)
{
	for (size_t i = 0; i < e->rows->n; i++) {
		put_comma(e, i);
		put(e, e->rows->at[i].name, e->rows->at[i].name_bytes);
	}
	put(e, &e->opts->eol, 1);
}

/* Writes a text as a field of CSV; an empty line would be no record. */
static int put_csv(struct sp__emit *e, const char *p, size_t n)
{
	int rc;

	if (!n) {
		if (e->rows->n == 1)
			put(e, "\"\"", 2);
		return 0;
	}
	/* A text that is decoded is in the memory already, behind that of the quoted one. */
	rc = p == e->row_text.data ? 0 : reserve(e, 2 * n + 2);
	if (rc)
		return rc;
	if (p == e->row_text.data) {
		const size_t written = sp__csv_quote(p, n, COMMA, e->row_text.data + n);

		put(e, e->row_text.data + n, written);
		return 0;
	}
	put(e, e->row_text.data, sp__csv_quote(p, n, COMMA, e->row_text.data));
	return 0;
}

/* Writes a value of JSON. */
static int put_member(struct sp__emit *e, const struct sp__json_value *v)
{
	size_t n;
	bool decode;
	const char *p;

	if (!e->rows->csv) {
		put(e, v->kind ? v->p : "null", v->kind ? v->n : 4);
		return 0;
	}
	p = sp__json_slice(v, &n, &decode);
	if (!decode)
		return put_csv(e, p, n);
	if (reserve(e, 3 * n + 2))
		return -ENOMEM;
	n = sp__json_text(v, e->row_text.data, n);
	return put_csv(e, e->row_text.data, n);
}

/* Writes a field as a value of JSON. */
static int put_field(struct sp__emit *e, const struct sp__slice *f, bool number)
{
	const char *p = f->p;
	size_t n = f->n;
	char *to, *end;

	if (reserve(e, n + SP__JSON_TEXT(n) + SPARE_BYTES))
		return -ENOMEM;
	if (e->cut.kind == SP__CUT_CSV && n && *p == '"') {
		to = e->row_text.data;
		n = (size_t)(sp__csv_unquote(p, p + n, (unsigned char *)to) - (unsigned char *)to);
		p = to;
	}
	if (!n) {
		p = e->opts->filler ? e->opts->filler : "";
		n = strlen(p);
		if (reserve(e, n + SP__JSON_TEXT(n)))
			return -ENOMEM;
	}
	if (!n || (number && sp__json_is_number(p, n))) {
		put(e, n ? p : "null", n ? n : 4);
		return 0;
	}
	to = e->row_text.data + n;
	end = sp__json_put_text(to, p, n);
	if (!end)
		return sp__errf(e->err, SP_EFORMAT, "join", NULL, -1,
				"the value '%.*s' is not UTF-8, so JSON cannot have it; leave out "
				"--format=json",
				(int)sp__min(n, SHOWN), p);
	put(e, to, (size_t)(end - to));
	return 0;
}

int sp__rowform_put(struct sp__emit *e, const struct sp__line *const *of)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < e->rows->n; i++) {
		const struct sp__rowcolumn *c = &e->rows->at[i];
		const unsigned file = c->key && !of[0] ? 1 : c->file;
		const size_t field = c->field[c->key && file];

		if (e->rows->csv)
			put_comma(e, i);
		else
			put(e, c->name, c->name_bytes);
		if (e->opts->json) {
			rc = put_member(e, sp__joinmembers_value(e, of, file, field));
		} else {
			const struct sp__fields *f = &e->fields[file];
			const struct sp__slice none = { sp__no_field, 0 };

			rc = put_field(e, field < f->n ? &f->at[field] : &none, c->number);
		}
	}
	if (!rc && !e->rows->csv)
		put(e, "}", 1);
	return rc;
}
