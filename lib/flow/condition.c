/* SPDX-License-Identifier: MIT */
/* Conditions of records (condition.h). */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/edits.h"
#include "base/err.h"
#include "base/minmax.h"
#include "flow/condition.h"

#define SPARE_BYTES 64 /* behind an unquoted field, which is copied in blocks */
#define SHOWN 40       /* bytes of a user's word in a message */
#define NEAR_COLUMN 2  /* share of a column's name that can differ */

struct sp__condition {
	struct sp__condition_opts opts;
	struct sp__cut cut;
	struct sp__expr *expr;
	size_t *columns; /* field of each column; SIZE_MAX: no record has it */
	uint32_t ncolumns;
	struct sp__json_paths *paths; /* NULL unless records are JSON; columns are its paths */
	struct sp_errinfo *err;	      /* while it is parsed */
};

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Adds the path of a member of JSON. */
static int find_path(const struct sp__column_names *in, const char *name, size_t bytes,
		     size_t *field, struct sp_errinfo *err)
{
	const char *rest;
	char *path;
	int rc;

	if (!bytes || *name != '.')
		return sp__invalid(err, NULL,
				   "'%.*s': a member of JSON is named by its path, such as "
				   ".user.id",
				   (int)sp__min(bytes, SHOWN), name);
	path = strndup(name, bytes);
	if (!path)
		return no_memory(err);
	rc = sp__json_paths_add(in->paths, path, "", field, &rest, err);
	free(path);
	return rc;
}

int sp__column_names_find(const struct sp__column_names *in, const char *name, size_t bytes,
			  size_t *field, struct sp_errinfo *err)
{
	const int shown = (int)sp__min(bytes, SHOWN);
	struct sp__near_name nearest = { 0 };
	size_t found = 0;

	*field = SIZE_MAX;
	if (in->paths)
		return find_path(in, name, bytes, field, err);
	for (size_t i = 0; i < in->n; i++) {
		const char *own = in->names[i];

		if (strlen(own) != bytes || memcmp(own, name, bytes) != 0) {
			sp__near_name_try(&nearest, name, bytes, own, NEAR_COLUMN);
			continue;
		}
		*field = i;
		found++;
	}
	if (found == 1 || in->unknown)
		return 0;
	if (found)
		return sp__invalid(err, NULL, "several columns have the name '%.*s': use a number",
				   shown, name);
	if (!in->n)
		return sp__invalid(err, NULL, "'%.*s': to name columns, add --header", shown, name);
	return sp__invalid(err, NULL, "no column has the name '%.*s'%s%.*s%s", shown, name,
			   nearest.name ? "; the nearest one is '" : "", SHOWN,
			   nearest.name ? nearest.name : "", nearest.name ? "'" : "");
}

/* Is a function of sp__expr_names. */
static int find(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column)
{
	struct sp__condition *w = arg;
	size_t field = (size_t)number - 1;
	int rc = name ? sp__column_names_find(&w->opts.names, name, bytes, &field, w->err) : 0;

	if (rc)
		return rc;
	if (!name && w->paths)
		return sp__invalid(
			w->err, NULL,
			"a member of JSON is named by its path, such as .user.id, not by "
			"a number");
	if (!name && (number > SIZE_MAX / 2 || (w->opts.names.n && number > w->opts.names.n)))
		return sp__invalid(w->err, NULL, "there is no column $%llu%s",
				   (unsigned long long)number,
				   w->opts.names.n ? " in the header" : "");
	for (*column = 0; *column < w->ncolumns; ++*column)
		if (w->columns[*column] == field)
			return 0;
	if (!SP__ARRAY_GROW_BY_ONE(w->columns, w->ncolumns))
		return no_memory(w->err);
	w->columns[w->ncolumns++] = field;
	return 0;
}

static int parse(struct sp__condition *w, const char *text)
{
	const struct sp__expr_names names = { .find = find, .arg = w };
	const char *rest = text;
	int rc = sp__expr_parse(&w->expr, &rest, &names, w->err);

	return rc ? rc : sp__expr_condition(w->expr, "--where", text, rest, w->err);
}

int sp__condition_new(struct sp__condition **where, const char *text,
		      const struct sp__condition_opts *opts, struct sp_errinfo *err)
{
	const bool csv = opts->format.kind == SP_REC_CSV;
	const char byte = csv ? opts->format.separator : (char)opts->separator;
	struct sp__condition *w;
	int rc;

	*where = NULL;
	if (opts->format.kind == SP_REC_FIXED)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"records of a fixed length have no fields for a condition");
	w = calloc(1, sizeof(*w));
	if (!w)
		return no_memory(err);
	w->opts = *opts;
	w->err = err;
	sp__cut_init(&w->cut, csv || opts->separator >= 0 ? &byte : NULL, 1, csv);
	rc = opts->format.json && sp__json_paths_new(&w->paths) ? no_memory(err) : 0;
	w->opts.names.paths = w->paths;
	if (!rc)
		rc = parse(w, text);
	w->err = NULL;
	if (rc)
		sp__condition_free(w);
	else
		*where = w;
	return rc;
}

void sp__condition_free(struct sp__condition *w)
{
	if (!w)
		return;
	sp__expr_free(w->expr);
	sp__json_paths_free(w->paths);
	free(w->columns);
	free(w);
}

/* Evaluation. */

static int begin(struct sp__filtering *c, const struct sp__condition *w)
{
	if (c->scratch)
		return 0;
	c->columns = calloc(w->ncolumns + 1, sizeof(*c->columns));
	c->values = calloc(w->paths ? sp__json_paths_count(w->paths) + 1 : 1, sizeof(*c->values));
	c->scratch = sp__expr_scratch_new(w->expr);
	return c->columns && c->values && c->scratch ? 0 : -ENOMEM;
}

void sp__filtering_release(struct sp__filtering *c)
{
	free(c->fields.at);
	free(c->columns);
	free(c->values);
	sp__json_reader_release(&c->json);
	sp__bytes_release(&c->unquoted, NULL);
	sp__expr_scratch_free(c->scratch);
}

/* Sets the columns of a record of JSON. */
static int set_members(struct sp__filtering *c, const struct sp__condition *w, const char *rec,
		       size_t bytes)
{
	int rc;

	c->json.paths = w->paths;
	c->json.check = w->opts.format.strict ? SP__JSON_CHECK_ALL : SP__JSON_CHECK_FOUND;
	c->not_json.wanted = NULL;
	rc = sp__json_find_next(&c->json, rec, bytes, 0, c->values, &c->not_json);
	return rc ? rc
		  : sp__json_fields(c->values, w->columns, w->ncolumns, bytes, &c->unquoted,
				    c->columns);
}

/* Sets the columns of a record; a field in quotes is copied without them. */
static int set_columns(struct sp__filtering *c, const struct sp__condition *w, const char *rec,
		       size_t bytes)
{
	const bool csv = w->cut.kind == SP__CUT_CSV;
	int rc = sp__fields_split(&w->cut, rec, bytes, &c->fields);

	if (!rc && csv)
		rc = sp__bytes_reserve(&c->unquoted, 2 * bytes + SPARE_BYTES, NULL);
	c->unquoted.bytes = 0;
	for (uint32_t i = 0; !rc && i < w->ncolumns; i++) {
		struct sp__slice *s = &c->columns[i];
		unsigned char *to = (unsigned char *)c->unquoted.data + c->unquoted.bytes;

		*s = w->columns[i] < c->fields.n ? c->fields.at[w->columns[i]]
						 : (struct sp__slice){ sp__no_field, 0 };
		if (!csv || !s->n || *s->p != '"')
			continue;
		s->n = (size_t)(sp__csv_unquote(s->p, s->p + s->n, to) - to);
		s->p = (char *)to;
		c->unquoted.bytes += s->n;
	}
	return rc;
}

static int choose(struct sp__filtering *c, const struct sp__condition *w, const char *rec,
		  size_t bytes, bool *chosen)
{
	const struct sp__expr_record record = { .columns = c->columns };
	int rc = w->paths ? set_members(c, w, rec, bytes) : set_columns(c, w, rec, bytes);

	return rc ? rc : sp__expr_choose(w->expr, c->scratch, &record, chosen, &c->bad);
}

int sp__filtering_next(struct sp__filtering *c, const struct sp__condition *w,
		       struct sp_batch *batch)
{
	const char *at = c->rest.data, *end = at + c->rest.bytes, *next;
	bool chosen = false;
	int rc = begin(c, w);

	*batch = (struct sp_batch){ at, 0 };
	for (; !rc && at < end; at = next) {
		size_t bytes;

		next = sp__record_next(&w->opts.format, at, end, &bytes);
		rc = choose(c, w, at, bytes, &chosen);
		if (rc)
			break;
		if (!chosen && batch->bytes)
			break;
		if (chosen && !batch->bytes)
			batch->data = at;
		if (chosen)
			batch->bytes += (size_t)(next - at);
		else
			c->bytes += (size_t)(next - at);
		c->records += !chosen;
	}
	c->rest = (struct sp_batch){ at, (size_t)(end - at) };
	/* The records before one with an error come first. */
	return rc == SP_EFORMAT && batch->bytes ? 0 : rc;
}

int sp__filtering_error(const struct sp__filtering *c, const char *input, uint64_t line,
			struct sp_errinfo *err)
{
	const struct sp__badtext bad = { .wanted = c->not_json.wanted, .at = c->not_json.at };

	if (bad.wanted)
		return sp__badtext_error(&bad, input, line, err);
	return sp__errf(err, SP_EFORMAT, "read", input, -1, "line %llu: --where: '%.*s' is not %s",
			(unsigned long long)line, (int)sp__min(c->bad.text.n, SHOWN), c->bad.text.p,
			c->bad.wanted);
}
