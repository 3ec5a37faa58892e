/* SPDX-License-Identifier: MIT */
/*
 * Conditions of a result (condition.h): finds their columns by name, and evaluates them.
 *
 * Names: the first key that is found is the key of the record, from the file that has a record, as
 * in the result.  "FILE.FIELD" and "FILE.NAME", as on -o, are fields of a file.
 *
 * In JSON, FILE and a path, as in 1.user.id, is a member.  A path alone is a key by its path in
 * file 1, or a member of the only file of which the result has records.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/utf8mark.h"
#include "join/result/emit.h"

#define SPARE_BYTES 64 /* behind an unquoted field, which is copied in blocks */
#define SHOWN 40       /* bytes of a text in a message */
#define NEAR_COLUMN 2  /* share of a column's name that can differ */

/* A field of a file; or a field of the key, from the first file that has a record. */
struct column {
	unsigned file; /* from 0 */
	size_t field;  /* JSON: the number of the path; of a key in file 1 */
	bool key;
	size_t field2; /* JSON: the number of the path of a key in file 2 */
};

struct sp__joincondition {
	struct sp__expr *expr;
	struct column *columns;
	uint32_t ncolumns;
};

/* Names of the columns of all files, while a condition is parsed. */
struct names {
	struct sp__joincondition *w;
	struct sp__emit *emit;
	const struct sp__line *headers;
	char **of[SP_JOIN_FILES_MAX];
	size_t n[SP_JOIN_FILES_MAX];
	struct sp_errinfo *err;
};

char *sp__header_name(const struct sp__cut *cut, const struct sp__slice *f)
{
	char *name = malloc(f->n + 1), *end = name;

	if (!name)
		return NULL;
	if (cut->kind == SP__CUT_CSV)
		end = (char *)sp__csv_unquote(f->p, f->p + f->n, (unsigned char *)name);
	else
		end = mempcpy(name, f->p, f->n);
	*end = '\0';
	return name;
}

static void free_names(struct names *names)
{
	for (unsigned i = 0; i < SP_JOIN_FILES_MAX; i++) {
		for (size_t k = 0; k < names->n[i]; k++)
			free(names->of[i][k]);
		free(names->of[i]);
	}
}

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Lists the names of a file. */
static int list_names(struct names *names, unsigned file)
{
	struct sp__emit *e = names->emit;
	const struct sp__line *header = &names->headers[file];
	struct sp__fields *f = &e->fields[file];
	size_t mark;

	if (!header->data)
		return 0;
	mark = sp__utf8_mark(header->data, header->bytes);
	if (sp__fields_split(&e->cut, header->data + mark, header->bytes - mark, f))
		return no_memory(names->err);
	names->of[file] = calloc(f->n + 1, sizeof(*names->of[file]));
	if (!names->of[file])
		return no_memory(names->err);
	for (; names->n[file] < f->n; names->n[file]++) {
		char *name = sp__header_name(&e->cut, &f->at[names->n[file]]);

		if (!name)
			return no_memory(names->err);
		names->of[file][names->n[file]] = name;
	}
	return 0;
}

/* Returns the number of the condition's column, adding it if it is new; UINT32_MAX: no memory. */
static uint32_t add_column(struct sp__joincondition *w, const struct column *c)
{
	for (uint32_t i = 0; i < w->ncolumns; i++)
		if (w->columns[i].file == c->file && w->columns[i].field == c->field &&
		    w->columns[i].key == c->key)
			return i;
	if (!SP__ARRAY_GROW_BY_ONE(w->columns, w->ncolumns))
		return UINT32_MAX;
	w->columns[w->ncolumns] = *c;
	return w->ncolumns++;
}

/* True if a record of the result can have a record of the file. */
static bool is_possible(const struct sp_join_opts *o, unsigned file)
{
	return o->pairs || file >= 2 || o->unpaired[file] || (o->semi && !file);
}

/* Finds the columns of a file that have a name.  Returns their number; *field: the last one. */
static size_t find_in(const struct names *names, unsigned file, const char *name, size_t bytes,
		      size_t *field)
{
	size_t found = 0;

	for (size_t k = 0; k < names->n[file]; k++)
		if (strlen(names->of[file][k]) == bytes &&
		    !memcmp(names->of[file][k], name, bytes)) {
			*field = k;
			found++;
		}
	return found;
}

/* Returns the number of the key that a field of file 0 or 1 is; SIZE_MAX: none. */
static size_t key_of(const struct sp_join_opts *o, unsigned file, size_t field)
{
	for (size_t i = 0; file < 2 && i < o->nkeys; i++)
		if (o->keys[file][i] == field)
			return i;
	return SIZE_MAX;
}

static int several(const struct names *names, const char *name, size_t bytes)
{
	return sp__invalid(names->err, NULL,
			   "--where: several columns have the name '%.*s': write \"1.%.*s\" or "
			   "\"2.%.*s\", or the number of the field, \"1.2\"",
			   (int)sp__min(bytes, SHOWN), name, (int)sp__min(bytes, SHOWN), name,
			   (int)sp__min(bytes, SHOWN), name);
}

/* Finds a name in the files of the result, or the others.  Returns 0; 1: none; or -EINVAL. */
static int find_name(const struct names *names, bool possible, const char *name, size_t bytes,
		     struct column *c)
{
	const struct sp_join_opts *o = names->emit->opts;
	size_t found = 0, key = SIZE_MAX;

	for (unsigned i = 0; i < names->emit->nfiles; i++) {
		size_t field;
		const size_t n = find_in(names, i, name, bytes, &field);

		if (!n || is_possible(o, i) != possible)
			continue;
		if (n == 1 && (!i || found) && key_of(o, i, field) != SIZE_MAX &&
		    (!found || key == key_of(o, i, field))) {
			key = key_of(o, i, field);
			*c = (struct column){ .field = key, .key = true };
			found = 1;
			continue;
		}
		if (!found)
			*c = (struct column){ .file = i, .field = field };
		found += n;
	}
	return found > 1 ? several(names, name, bytes) : !found;
}

/* Finds a name with the suffix that the header of the result has. */
static bool find_suffixed(const struct names *names, const char *name, size_t bytes,
			  struct column *c)
{
	const char *const *suffixes = names->emit->opts->suffixes;

	for (unsigned i = 0; suffixes && i < names->emit->nfiles; i++) {
		const size_t n = strlen(suffixes[i]);

		*c = (struct column){ .file = i };
		if (n && bytes > n && !memcmp(name + bytes - n, suffixes[i], n) &&
		    find_in(names, i, name, bytes - n, &c->field) == 1)
			return true;
	}
	return false;
}

/* Finds FILE.FIELD, or FILE.NAME if the file has no field of this number. */
static bool find_dotted(const struct names *names, const char *name, size_t bytes, struct column *c)
{
	const char *rest = name + 2;
	uint64_t number = 0;
	size_t digits = 0;

	if (bytes < 3 || *name < '1' || (unsigned)(*name - '1') >= names->emit->nfiles ||
	    name[1] != '.')
		return false;
	*c = (struct column){ .file = (unsigned)(*name - '1') };
	for (; digits < bytes - 2 && digits < 9 && rest[digits] >= '0' && rest[digits] <= '9';
	     digits++)
		number = number * 10 + (uint64_t)(rest[digits] - '0');
	c->field = (size_t)number - 1;
	if (number && digits == bytes - 2 && (!names->n[c->file] || number <= names->n[c->file]))
		return true;
	return find_in(names, c->file, rest, bytes - 2, &c->field) == 1;
}

/* Returns 0: a file is empty, so it can have this column; or -EINVAL. */
static int unknown(const struct names *names, const char *name, size_t bytes, struct column *c)
{
	struct sp__near_name nearest = { 0 };

	for (unsigned i = 0; names->headers && i < names->emit->nfiles; i++) {
		*c = (struct column){ .file = i, .field = SIZE_MAX };
		if (!names->headers[i].data && is_possible(names->emit->opts, i))
			return 0;
	}
	if (!names->headers)
		return sp__invalid(names->err, NULL,
				   "--where: '%.*s': to name columns, add --header, or write "
				   "\"FILE.FIELD\", as \"1.2\"",
				   (int)sp__min(bytes, SHOWN), name);
	for (unsigned i = 0; i < names->emit->nfiles; i++)
		for (size_t k = 0; k < names->n[i]; k++)
			sp__near_name_try(&nearest, name, bytes, names->of[i][k], NEAR_COLUMN);
	return sp__invalid(names->err, NULL, "--where: no column has the name '%.*s'%s%.*s%s",
			   (int)sp__min(bytes, SHOWN), name,
			   nearest.name ? "; the nearest one is '" : "", SHOWN,
			   nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

/* Members of JSON. */

/* Sets the column of a key, if one has this path in file 1.  Returns 0 or an error. */
static int find_key_path(const struct names *names, const char *path, struct column *c)
{
	const struct sp_join_opts *o = names->emit->opts;
	bool same = false;
	int rc = 0;

	for (size_t i = 0; !rc && !same && i < o->nkeys; i++) {
		rc = sp__joinpaths_same(path, o->paths[0][i], &same, names->err);
		if (!rc && same) {
			c->key = true;
			rc = sp__joinpaths_add(names->emit->own_paths, 0, o->paths[0][i], &c->field,
					       names->err);
			rc = rc ? rc
				: sp__joinpaths_add(names->emit->own_paths, 1, o->paths[1][i],
						    &c->field2, names->err);
		}
	}
	return rc;
}

/* Returns the number of files of which the result can have records; *file: the last one. */
static unsigned possible_files(const struct names *names, unsigned *file)
{
	unsigned n = 0;

	for (unsigned i = 0; i < names->emit->nfiles; i++)
		if (is_possible(names->emit->opts, i)) {
			*file = i;
			n++;
		}
	return n;
}

/* Finds a path: behind the number of a file, or alone. */
static int find_path(const struct names *names, const char *path, struct column *c)
{
	const int shown = (int)sp__min(strlen(path), SHOWN);
	const bool numbered = *path >= '1' && *path < '1' + (int)names->emit->nfiles;
	int rc = 0;

	*c = (struct column){ .file = numbered ? (unsigned)(*path - '1') : 0 };
	if (path[numbered] != '.')
		return sp__invalid(names->err, NULL,
				   "--where: '%.*s': a member is named by the number of its file "
				   "and its path, such as 1.user.id",
				   shown, path);
	if (!numbered) {
		rc = find_key_path(names, path, c);
		if (rc || c->key)
			return rc;
		if (possible_files(names, &c->file) > 1)
			return sp__invalid(names->err, NULL,
					   "--where: '%.*s' is not a key: write the number of its "
					   "file before it, as in 1%.*s",
					   shown, path, shown, path);
	}
	return sp__joinpaths_add(names->emit->own_paths, c->file, path + numbered, &c->field,
				 names->err);
}

/* Finds a name in JSON. */
static int find_member(const struct names *names, const char *name, size_t bytes, struct column *c)
{
	char *path = strndup(name, bytes);
	int rc = path ? find_path(names, path, c) : no_memory(names->err);

	free(path);
	return rc;
}

/* Finds a name in other records. */
static int find_column(const struct names *names, const char *name, size_t bytes, struct column *c)
{
	int rc = find_name(names, true, name, bytes, c);

	if (rc > 0)
		rc = find_name(names, false, name, bytes, c);
	if (rc <= 0)
		return rc;
	return find_suffixed(names, name, bytes, c) || find_dotted(names, name, bytes, c)
		       ? 0
		       : unknown(names, name, bytes, c);
}

/* Is a function of sp__expr_names. */
static int find(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	struct names *names = arg;
	struct column c = { 0 };
	int rc;

	if (!name)
		return sp__invalid(names->err, NULL,
				   names->emit->opts->json
					   ? "--where: $%llu: a member is named by the number of "
					     "its file and its path, such as 1.user.id"
					   : "--where: $%llu: write a field with the number of its "
					     "file, \"1.%llu\"",
				   (unsigned long long)number, (unsigned long long)number);
	rc = names->emit->opts->json ? find_member(names, name, bytes, &c)
				     : find_column(names, name, bytes, &c);
	if (rc < 0)
		return rc;
	if (!c.key && !is_possible(names->emit->opts, c.file))
		return sp__invalid(
			names->err, NULL,
			"--where: '%.*s' is a column of file %u, of which the result has "
			"no records",
			(int)sp__min(bytes, SHOWN), name, c.file + 1);
	*column = add_column(names->w, &c);
	return *column == UINT32_MAX ? no_memory(names->err) : 0;
}

int sp__joincondition_parse(struct sp__joincondition **where, struct sp__emit *e,
			    const struct sp__line *headers, struct sp_errinfo *err)
{
	struct sp__joincondition *w = calloc(1, sizeof(*w));
	struct names names = { .w = w, .emit = e, .headers = headers, .err = err };
	const struct sp__expr_names columns = { .find = find, .arg = &names };
	const char *rest = e->opts->where;
	int rc = w ? 0 : no_memory(err);

	*where = w;
	for (unsigned i = 0; !rc && headers && i < e->nfiles; i++)
		rc = list_names(&names, i);
	if (!rc)
		rc = sp__expr_parse(&w->expr, &rest, &columns, err);
	if (!rc)
		rc = sp__expr_condition(w->expr, "--where", e->opts->where, rest, err);
	if (!rc && !w->ncolumns)
		rc = sp__invalid(err, NULL,
				 e->opts->json
					 ? "--where: the condition has no member: name one by the "
					   "number of its file and its path, such as 1.user.id"
					 : "--where: the condition has no column: write a field in "
					   "double quotes, \"1.2\", as 1.2 is a number");
	free_names(&names);
	return rc;
}

void sp__joincondition_free(struct sp__joincondition *w)
{
	if (!w)
		return;
	sp__expr_free(w->expr);
	free(w->columns);
	free(w);
}

/* Evaluation. */

void sp__joinfiltering_release(struct sp__joinfiltering *f)
{
	sp__expr_scratch_free(f->scratch);
	free(f->columns);
	sp__bytes_release(&f->unquoted, NULL);
}

static int begin(struct sp__joinfiltering *f, const struct sp__joincondition *w)
{
	if (f->scratch)
		return 0;
	free(f->columns);
	f->columns = calloc(w->ncolumns + 1, sizeof(*f->columns));
	f->scratch = sp__expr_scratch_new(w->expr);
	return f->columns && f->scratch ? 0 : -ENOMEM;
}

/* Cuts the records; *bytes: of all of them. */
static int cut(struct sp__emit *e, const struct sp__line *const *of, size_t *bytes)
{
	int rc = 0;

	*bytes = 0;
	for (unsigned i = 0; !rc && i < e->nfiles; i++) {
		e->fields[i].n = 0;
		if (!of[i])
			continue;
		*bytes += of[i]->bytes;
		rc = sp__fields_split(&e->cut, of[i]->data, of[i]->bytes, &e->fields[i]);
	}
	return rc;
}

static struct sp__slice field_of(const struct sp__emit *e, const struct sp__line *const *of,
				 const struct column *c)
{
	const unsigned file = c->key && !of[0] ? 1 : c->file;
	const size_t field = c->key ? e->opts->keys[file][c->field] : c->field;
	const struct sp__fields *f = &e->fields[file];

	return field < f->n ? f->at[field] : (struct sp__slice){ sp__no_field, 0 };
}

/* Sets the columns; a field in quotes is copied without them. */
static int set_columns(struct sp__emit *e, const struct sp__line *const *of)
{
	struct sp__joinfiltering *f = &e->filtering;
	size_t bytes;
	int rc = cut(e, of, &bytes);

	/* A column can be there as the key, too. */
	if (!rc && e->cut.kind == SP__CUT_CSV)
		rc = sp__bytes_reserve(&f->unquoted, 2 * bytes + SPARE_BYTES, NULL);
	f->unquoted.bytes = 0;
	for (uint32_t i = 0; !rc && i < e->where->ncolumns; i++) {
		struct sp__slice *s = &f->columns[i];
		unsigned char *to = (unsigned char *)f->unquoted.data + f->unquoted.bytes;

		*s = field_of(e, of, &e->where->columns[i]);
		if (e->cut.kind != SP__CUT_CSV || !s->n || *s->p != '"')
			continue;
		s->n = (size_t)(sp__csv_unquote(s->p, s->p + s->n, to) - to);
		s->p = (char *)to;
		f->unquoted.bytes += s->n;
	}
	return rc;
}

static const struct sp__json_value *
value_of(const struct sp__emit *e, const struct sp__line *const *of, const struct column *c)
{
	if (c->key && !of[0])
		return sp__joinmembers_value(e, of, 1, c->field2);
	return sp__joinmembers_value(e, of, c->file, c->field);
}

/* Sets the columns to values of JSON; a text with escapes is copied without them. */
static int set_members(struct sp__emit *e, const struct sp__line *const *of)
{
	const struct sp__joincondition *w = e->where;
	struct sp__joinfiltering *f = &e->filtering;
	size_t bytes = 0;
	bool decode;
	int rc = sp__joinmembers_find(e, of);

	for (uint32_t i = 0; !rc && i < w->ncolumns; i++) {
		(void)sp__json_slice(value_of(e, of, &w->columns[i]), &f->columns[i].n, &decode);
		bytes += decode ? f->columns[i].n : 0;
	}
	if (!rc && sp__bytes_reserve(&f->unquoted, bytes, NULL))
		rc = no_memory(e->err);
	f->unquoted.bytes = 0;
	for (uint32_t i = 0; !rc && i < w->ncolumns; i++) {
		const struct sp__json_value *v = value_of(e, of, &w->columns[i]);
		struct sp__slice *s = &f->columns[i];

		s->p = sp__json_slice(v, &s->n, &decode);
		if (!decode)
			continue;
		s->p = f->unquoted.data + f->unquoted.bytes;
		s->n = sp__json_text(v, f->unquoted.data + f->unquoted.bytes, s->n);
		f->unquoted.bytes += s->n;
	}
	return rc;
}

static int not_wanted(const struct sp__emit *e, const struct sp__line *const *of,
		      const struct sp__expr_bad *bad)
{
	const struct sp__slice key = e->opts->json
					     ? sp__joinmembers_key(e, of)
					     : field_of(e, of, &(struct column){ .key = true });

	return sp__errf(e->err, SP_EFORMAT, "join", NULL, -1,
			"--where: '%.*s' is not %s, in a record with the key '%.*s'",
			(int)sp__min(bad->text.n, SHOWN), bad->text.p, bad->wanted,
			(int)sp__min(key.n, SHOWN), key.p);
}

int sp__joincondition_choose(struct sp__emit *e, const struct sp__line *const *of, bool *chosen)
{
	const struct sp__joincondition *w = e->where;
	struct sp__joinfiltering *f = &e->filtering;
	struct sp__expr_record record = { 0 };
	struct sp__expr_bad bad;
	int rc = begin(f, w);

	if (!rc && e->opts->json) {
		rc = set_members(e, of);
		if (rc)
			return rc;
	} else if (!rc) {
		rc = set_columns(e, of);
	}
	record.columns = f->columns;
	if (!rc)
		rc = sp__expr_choose(w->expr, f->scratch, &record, chosen, &bad);
	if (rc == SP_EFORMAT)
		return not_wanted(e, of, &bad);
	return rc ? no_memory(e->err) : 0;
}
