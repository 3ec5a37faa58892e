/* SPDX-License-Identifier: MIT */
/*
 * Reads what a join of JSON lines has of its own: keys that are lists of paths, and the names of
 * the members of a nested result.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "call/form.h"
#include "rec/jsonread.h"

void sp__form_free_paths(struct sp_join_form_key *key)
{
	for (size_t i = 0; i < key->npaths; i++)
		free(key->path[i]);
	free(key->path);
	key->path = NULL;
	key->npaths = 0;
}

static int add_path(struct sp_join_form_key *key, const char *text, size_t bytes,
		    struct sp_errinfo *err)
{
	char *path = strndup(text, bytes);

	if (!path || !SP__ARRAY_RESIZE(key->path, key->npaths + 1)) {
		free(path);
		return sp__form_no_memory(err);
	}
	key->path[key->npaths++] = path;
	return 0;
}

/* Adds the paths of a list. */
static int parse(struct sp_join_form_key *key, const char *text, struct sp_errinfo *err)
{
	struct sp__json_paths *paths;
	const char *p = text, *rest = text;
	size_t number;
	int rc = sp__json_paths_new(&paths) ? sp__form_no_memory(err) : 0;

	while (!rc) {
		rc = sp__json_paths_add(paths, p, ":,", &number, &rest, err);
		if (!rc && *rest == ':')
			rc = sp__invalid(err, text, "a path of a join has no letters:");
		if (!rc)
			rc = add_path(key, p, (size_t)(rest - p), err);
		if (rc || !*rest)
			break;
		p = rest + 1;
	}
	sp__json_paths_free(paths);
	return rc;
}

static bool same_paths(const struct sp_join_form_key *a, const struct sp_join_form_key *b)
{
	bool same = a->npaths == b->npaths;

	for (size_t i = 0; same && i < a->npaths; i++)
		same = !strcmp(a->path[i], b->path[i]);
	return same;
}

int sp__form_set_paths(struct sp_join_form_key *key, const char *text, struct sp_errinfo *err)
{
	struct sp_join_form_key given = { .text = text };
	int rc = parse(&given, text, err);

	if (!rc && key->npaths && !same_paths(key, &given))
		rc = sp__invalid(err, NULL, "incompatible join fields %s, %s", key->paths, text);
	if (rc || key->npaths) {
		sp__form_free_paths(&given);
		return rc;
	}
	key->path = given.path;
	key->npaths = given.npaths;
	key->paths = text;
	return 0;
}

/* Checks the paths of columns. */
static int check_columns(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	struct sp__json_paths *paths;
	const char *rest;
	size_t number;
	int rc = sp__json_paths_new(&paths) ? sp__form_no_memory(err) : 0;

	for (size_t i = 0; !rc && i < o->ncolumns; i++)
		if (o->columns[i].file)
			rc = sp__json_paths_add(paths, o->columns[i].path, "", &number, &rest, err);
	sp__json_paths_free(paths);
	return rc;
}

/* Refuses ways to join that keys of JSON do not have. */
static int check_ways(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	const bool loops = o->algorithm == SP_JOIN_INL || o->algorithm == SP_JOIN_ASYNC_INL;

	if (o->algorithm == SP_JOIN_MERGE || o->order == SP_JOIN_CHECK)
		return sp__invalid(err, NULL,
				   "--json: a merge compares keys as they are written, and equal "
				   "values of JSON can be written in several ways, as 1 and 1.0: "
				   "leave out %s, since other algorithms need no order",
				   o->order == SP_JOIN_CHECK ? "--check-order"
							     : "--algorithm=merge");
	if (o->nthen)
		return sp__invalid(err, NULL,
				   "--json: --then joins through an index, which joins of JSON do "
				   "not use: write the result of one join to the next one, as in "
				   "'xjoin --json ... FILE1 FILE2 | xjoin --json ... - FILE3'");
	if (loops || o->index[0] || o->index[1])
		return sp__invalid(err, NULL,
				   "--json: joins of JSON do not use an index: leave out %s, and "
				   "both files are read",
				   o->index[0]			 ? "--index1"
				   : o->index[1]		 ? "--index2"
				   : o->algorithm == SP_JOIN_INL ? "--algorithm=inl"
								 : "--algorithm=async-inl");
	return 0;
}

int sp__form_paths(struct sp_join_form *form, struct sp_errinfo *err)
{
	struct sp_join_form_key *key = form->key;
	struct sp_join_opts *o = form->opts;
	int rc;

	for (int i = 0; i < 2; i++) {
		if (key[i].npaths && !o->json)
			return sp__invalid(err, key[i].paths, "a path needs --json:");
		if (o->json && (key[i].n || key[i].name || !key[i].npaths))
			return sp__invalid(err, NULL,
					   "with --json the key is a path, such as -j .user.id");
		o->paths[i] = (const char *const *)key[i].path;
	}
	if (o->json && key[0].npaths != key[1].npaths)
		return sp__invalid(err, NULL, "keys have different numbers of paths: %zu, %zu",
				   key[0].npaths, key[1].npaths);
	if (!o->json)
		return 0;
	o->nkeys = key[0].npaths;
	rc = check_ways(o, err);
	return rc ? rc : check_columns(o, err);
}

int sp_join_form_set_nested(struct sp_join_form *form, const char *text, struct sp_errinfo *err)
{
	char *copy = strdup(text ? text : "left,right"), *comma = copy ? strchr(copy, ',') : NULL;

	free(form->nested_text);
	form->nested_text = copy;
	if (!copy)
		return sp__form_no_memory(err);
	if (!comma || comma == copy || !comma[1] || strchr(comma + 1, ','))
		return sp__invalid(err, text, "--nested needs two names separated by a comma, not");
	*comma = '\0';
	if (!strcmp(copy, comma + 1))
		return sp__invalid(err, text, "--nested needs two different names, not");
	form->nested[0] = copy;
	form->nested[1] = comma + 1;
	form->opts->nested = form->nested;
	return 0;
}

/* Checks that the records of the result can have their format. */
static int check_rows(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	const bool csv = o->rows == SP_JOIN_ROWS_CSV, json = o->rows == SP_JOIN_ROWS_JSON;

	if (csv && o->json && !o->ncolumns)
		return sp__invalid(err, NULL,
				   "--format=csv needs the columns of the result, such as "
				   "-o 1.user.id,2.name");
	if (csv && !o->json && !o->csv)
		return sp__invalid(err, NULL, "--format=csv needs --csv or --json");
	if (json && !o->json && !o->header)
		return sp__invalid(err, NULL,
				   "--format=json needs the names of members: --header, or --json");
	return 0;
}

int sp__form_check_json(const struct sp_join_form *form, struct sp_errinfo *err)
{
	const struct sp_join_opts *o = form->opts;

	if (!o->json && (o->strict || o->nested))
		return sp__invalid(err, NULL, "%s needs --json",
				   o->strict ? "--strict" : "--nested");
	if (o->nested && !o->pairs)
		return sp__invalid(err, NULL,
				   "--nested needs pairs, which --type=semi, --type=anti and -v "
				   "do not write");
	return check_rows(o, err);
}
