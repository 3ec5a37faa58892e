/* SPDX-License-Identifier: MIT */
/*
 * Assembles records of a result from records of JSON lines (jsonrow.h).
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "join/result/jsonrow.h"
#include "rec/json.h"

/* The form. */

/* Makes the texts {"NAME": and ,"NAME": around the values. */
static int set_names(struct sp__jsonform *f, const char *const names[2], struct sp_errinfo *err)
{
	char *to = f->own =
		malloc(4 + SP__JSON_TEXT(strlen(names[0])) + SP__JSON_TEXT(strlen(names[1])));

	if (!to)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	f->nested = true;
	for (int i = 0; i < 2; i++) {
		char *begin = to;

		*to++ = i ? ',' : '{';
		to = sp__json_put_text(to, names[i], strlen(names[i]));
		if (!to)
			return sp__errf(err, -EINVAL, "plan", NULL, -1,
					"--nested: name %d is not UTF-8, so JSON cannot have it",
					i + 1);
		*to++ = ':';
		f->before[i] = (struct sp__slice){ begin, (size_t)(to - begin) };
	}
	return 0;
}

/* Notes the name of a part of the key, if it is that of a member in both files. */
static int add_key(struct sp__jsonform *f, const struct sp_join_opts *opts, size_t i,
		   struct sp_errinfo *err)
{
	struct sp__slice name[2];
	const char *rest;
	size_t number;

	for (int side = 0; side < 2; side++) {
		int rc = sp__json_paths_add(f->paths[side], opts->paths[side][i], ":", &number,
					    &rest, err);

		if (rc)
			return rc;
		if (!sp__json_paths_member(f->paths[side], number, &name[side].p, &name[side].n))
			name[side] = (struct sp__slice){ 0 };
	}
	if (name[0].p && name[1].p && name[0].n == name[1].n &&
	    !memcmp(name[0].p, name[1].p, name[0].n))
		f->keys[f->nkeys++] = name[1];
	return 0;
}

static int set_keys(struct sp__jsonform *f, const struct sp_join_opts *opts, struct sp_errinfo *err)
{
	int rc = 0;

	f->keys = calloc(opts->nkeys, sizeof(*f->keys));
	if (!f->keys || sp__json_paths_new(&f->paths[0]) || sp__json_paths_new(&f->paths[1]))
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; !rc && i < opts->nkeys; i++)
		rc = add_key(f, opts, i, err);
	return rc;
}

int sp__jsonform_new(struct sp__jsonform **form, const struct sp_join_opts *opts,
		     struct sp_errinfo *err)
{
	struct sp__jsonform *f = calloc(1, sizeof(*f));

	*form = f;
	if (!f)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	return opts->nested ? set_names(f, opts->nested, err) : set_keys(f, opts, err);
}

void sp__jsonform_free(struct sp__jsonform *f)
{
	if (!f)
		return;
	sp__json_paths_free(f->paths[0]);
	sp__json_paths_free(f->paths[1]);
	free(f->keys);
	free(f->own);
	free(f);
}

/* Members. */

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Returns the value of a line without the blanks around it. */
static struct sp__slice value_of(const struct sp__slice *l)
{
	const char *p = l->p, *end = p + l->n;

	while (p < end && is_blank(*p))
		p++;
	while (p < end && is_blank(end[-1]))
		end--;
	return (struct sp__slice){ p, (size_t)(end - p) };
}

/* Returns what is between the braces of an object, without blanks at the end. */
static struct sp__slice inside(const struct sp__slice *object)
{
	const char *p = object->p + 1, *end = object->p + object->n - 1;

	while (p < end && is_blank(end[-1]))
		end--;
	return (struct sp__slice){ p, (size_t)(end - p) };
}

static void put(const struct sp__jsonrow *row, const char *p, size_t n)
{
	row->put(row->arg, p, n);
}

/* Writes a name with its suffix repeated so often. */
static void put_name(const struct sp__jsonrow *row, const struct sp__json_value *name, size_t times)
{
	put(row, name->p, name->n - 1);
	while (times--)
		put(row, SP__JSON_SUFFIX, sizeof(SP__JSON_SUFFIX) - 1);
	put(row, "\"", 1);
}

/* Writes the members of file 2; first: there are no members before them. */
static void put_members(const struct sp__jsonrow *row, const struct sp__slice *object, size_t times,
			bool first)
{
	struct sp__json_items items = sp__object_items(object);
	const char *begin = items.p;
	struct sp__json_value name, value;

	for (size_t i = 0; sp__json_item(&items, &name, &value); i++) {
		const char *rest = begin;

		/* Before a member, except the first one, is a comma. */
		if (i)
			rest = sp__find_byte(begin, items.end, ',') + 1;
		begin = items.p;
		if (sp__jsonmerge_is_key(&name, row->form->keys, row->form->nkeys))
			continue;
		if (!first)
			put(row, ",", 1);
		first = false;
		if (sp__jsonmerge_is_shared(row->mem, i)) {
			put(row, rest, (size_t)(name.p - rest));
			put_name(row, &name, times);
			rest = name.p + name.n;
		}
		put(row, rest, (size_t)(items.p - rest));
	}
}

static int merge(const struct sp__jsonrow *row, const struct sp__slice object[2])
{
	struct sp__slice text = inside(&object[0]);
	struct sp__json_items items = sp__object_items(&object[0]);
	struct sp__json_value name, value;
	size_t times;

	if (sp__jsonmerge_find(row->mem, object, row->form->keys, row->form->nkeys, &times))
		return -ENOMEM;
	put(row, "{", 1);
	put(row, text.p, text.n);
	put_members(row, &object[1], times, !sp__json_item(&items, &name, &value));
	put(row, "}", 1);
	return 0;
}

static void nest(const struct sp__jsonrow *row, const struct sp__slice line[2])
{
	for (int i = 0; i < 2; i++) {
		const struct sp__slice before = row->form->before[i];
		const struct sp__slice value =
			line[i].p ? value_of(&line[i]) : (struct sp__slice){ "null", 4 };

		put(row, before.p, before.n);
		put(row, value.p, value.n);
	}
	put(row, "}", 1);
}

int sp__jsonrow_put(const struct sp__jsonrow *row, const struct sp__slice line[2])
{
	const int only = line[0].p ? 0 : 1;

	if (row->form->nested) {
		nest(row, line);
		return 0;
	}
	if (line[0].p && line[1].p)
		return merge(row, (struct sp__slice[2]){ value_of(&line[0]), value_of(&line[1]) });
	put(row, line[only].p, line[only].n);
	return 0;
}
