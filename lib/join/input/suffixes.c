/* SPDX-License-Identifier: MIT */
/*
 * Appends suffixes to names of columns that several columns of the result have.
 *
 * Algorithm: the columns of the result are listed, names that occur twice get the suffix of their
 * file, and the headers are written again with these names.  The time is quadratic in the columns.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "join/input/suffixes.h"

struct column {
	unsigned file; /* from 0 */
	size_t field;
	char *name; /* without quotes; with the suffix, if it is shared */
	bool shared;
};

struct names {
	struct sp__emit *emit;
	struct column *at;
	size_t n;
};

/* Returns the name of a field of a header, for free(); NULL: no memory. */
static char *name_of(const struct sp__emit *e, const struct sp__slice *f)
{
	char *name = malloc(f->n + 1), *end = name;

	if (!name)
		return NULL;
	if (e->cut.kind == SP__CUT_CSV)
		end = (char *)sp__csv_unquote(f->p, f->p + f->n, (unsigned char *)name);
	else
		end = mempcpy(name, f->p, f->n);
	*end = '\0';
	return name;
}

static int add(struct names *names, unsigned file, size_t field)
{
	const struct sp__fields *f = &names->emit->fields[file];
	struct column c = { .file = file, .field = field };

	if (field >= f->n)
		return 0;
	if (!SP__ARRAY_GROW_BY_ONE(names->at, names->n))
		return -ENOMEM;
	c.name = name_of(names->emit, &f->at[field]);
	if (!c.name)
		return -ENOMEM;
	names->at[names->n++] = c;
	return 0;
}

static int add_key(struct names *names, unsigned side)
{
	const struct sp_join_opts *o = names->emit->opts;
	int rc = 0;

	for (size_t i = 0; !rc && i < o->nkeys; i++)
		rc = add(names, side, o->keys[side][i]);
	return rc;
}

/* Lists the columns in the order of the result. */
static int list(struct names *names, unsigned key_side)
{
	const struct sp__emit *e = names->emit;
	const struct sp_join_opts *o = e->opts;
	int rc = o->ncolumns ? 0 : add_key(names, key_side);

	for (size_t i = 0; !rc && i < o->ncolumns; i++)
		rc = o->columns[i].file ? add(names, o->columns[i].file - 1, o->columns[i].field)
					: add_key(names, key_side);
	for (unsigned file = 0; !o->ncolumns && file < e->nfiles; file++)
		for (size_t k = 0; !rc && k < e->fields[file].n; k++)
			rc = sp__emit_is_key(e, file, k) ? 0 : add(names, file, k);
	return rc;
}

/* Returns the second of two columns with one name, or NULL; marks both if `mark`. */
static const struct column *find_shared(struct names *names, bool mark)
{
	const struct column *found = NULL;

	for (size_t i = 0; i < names->n; i++)
		for (size_t j = i + 1; j < names->n; j++) {
			if (strcmp(names->at[i].name, names->at[j].name) != 0)
				continue;
			found = &names->at[j];
			if (mark)
				names->at[i].shared = names->at[j].shared = true;
		}
	return found;
}

static int append_suffixes(struct names *names, struct sp_errinfo *err)
{
	const char *const *suffixes = names->emit->opts->suffixes;
	const struct column *twice;

	if (!find_shared(names, true))
		return 0;
	for (size_t i = 0; i < names->n; i++) {
		struct column *c = &names->at[i];
		const char *suffix = suffixes[c->file];
		const size_t bytes = strlen(c->name);

		if (!c->shared)
			continue;
		if (!SP__ARRAY_RESIZE(c->name, bytes + strlen(suffix) + 1))
			return -ENOMEM;
		strcpy(c->name + bytes, suffix);
	}
	twice = find_shared(names, false);
	if (twice)
		return sp__errf(err, SP_EFORMAT, "join", NULL, -1,
				"two columns of the result have the name %s: choose other suffixes "
				"or columns",
				twice->name);
	return 0;
}

static const struct column *find(const struct names *names, unsigned file, size_t field)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->at[i].file == file && names->at[i].field == field)
			return names->at[i].shared ? &names->at[i] : NULL;
	return NULL;
}

static int put_name(const struct sp__emit *e, const char *name, struct sp__bytes *to)
{
	const size_t bytes = strlen(name);

	if (sp__bytes_reserve(to, to->bytes + 2 * bytes + 2, NULL))
		return -ENOMEM;
	if (e->cut.kind == SP__CUT_CSV)
		to->bytes += sp__csv_quote(name, bytes, e->cut.sep[0], to->data + to->bytes);
	else
		return sp__bytes_append(to, name, bytes, NULL);
	return 0;
}

/* Makes a header with the names of the result. */
static int rewrite(const struct names *names, unsigned file, struct sp__bytes *to)
{
	const struct sp__emit *e = names->emit;
	const struct sp__fields *f = &e->fields[file];
	int rc = 0;

	for (size_t k = 0; !rc && k < f->n; k++) {
		const struct column *c = find(names, file, k);

		if (k)
			rc = sp__bytes_append(to, e->cut.sep, e->cut.sep_bytes, NULL);
		if (!rc)
			rc = c ? put_name(e, c->name, to)
			       : sp__bytes_append(to, f->at[k].p, f->at[k].n, NULL);
	}
	return rc;
}

/* Replaces a header; a suffix must not make more fields of it, or more lines. */
static int replace(const struct names *names, unsigned file, struct sp__line *line,
		   struct sp__bytes *copy, struct sp_errinfo *err)
{
	struct sp__emit *e = names->emit;
	const size_t n = e->fields[file].n;
	int rc = rewrite(names, file, copy);

	if (!rc)
		rc = sp__fields_split(&e->cut, copy->data, copy->bytes, &e->fields[file]);
	if (rc)
		return rc;
	if (e->fields[file].n != n ||
	    (e->cut.kind != SP__CUT_CSV && memchr(copy->data, e->opts->eol, copy->bytes)))
		return sp__errf(err, SP_ESYNTAX, "join", NULL, -1,
				"a suffix of names of columns contains the separator");
	line->data = copy->data;
	line->bytes = copy->bytes;
	if (file < 2)
		sp__line_set(e, (int)file, line->data, line->bytes, line);
	return 0;
}

int sp__suffixes_append(struct sp__emit *e, const struct sp__line *const *of,
			struct sp__line *first, struct sp__bytes *copies, struct sp_errinfo *err)
{
	struct names names = { .emit = e };
	int rc = 0;

	for (unsigned i = 0; !rc && i < e->nfiles; i++) {
		e->fields[i].n = 0;
		if (of[i])
			rc = sp__fields_split(&e->cut, of[i]->data, of[i]->bytes, &e->fields[i]);
	}
	if (!rc)
		rc = list(&names, of[0] ? 0 : 1);
	if (!rc)
		rc = append_suffixes(&names, err);
	for (unsigned i = 0; !rc && i < e->nfiles; i++)
		if (of[i] && e->fields[i].n)
			rc = replace(&names, i, &first[i], &copies[i], err);
	for (size_t i = 0; i < names.n; i++)
		free(names.at[i].name);
	free(names.at);
	return rc == -ENOMEM ? sp__err(err, -ENOMEM, "allocate", NULL, -1) : rc;
}
