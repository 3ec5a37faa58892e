/* SPDX-License-Identifier: MIT */
/*
 * Assembles records of a result from records of JSON lines (jsonrow.h).
 *
 * Names are searched one after the other in small objects, and by bisection in others, so that the
 * time does not grow with the product of two numbers of members.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "join/result/jsonrow.h"
#include "rec/json.h"

/* Members of an object that are searched one after the other. */
#define FEW 32

#define SUFFIX "_2"
#define SUFFIX_BYTES (sizeof(SUFFIX) - 1)

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

void sp__jsonmem_release(struct sp__jsonmem *mem)
{
	for (int i = 0; i < 2; i++) {
		free(mem->of[i].at);
		free(mem->of[i].sorted);
	}
	free(mem->name);
	*mem = (struct sp__jsonmem){ 0 };
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

static int compare_names(const void *a, const void *b)
{
	return sp__json_compare_texts(a, b);
}

static bool same_name(const struct sp__json_value *a, const struct sp__json_value *b)
{
	if (a->escaped || b->escaped)
		return !sp__json_compare_texts(a, b);
	return a->n == b->n && !memcmp(a->p, b->p, a->n);
}

/* Lists the members of an object. */
static int list(struct sp__jsonmembers *m, const struct sp__slice *object)
{
	const struct sp__json_value value = { .p = object->p,
					      .n = object->n,
					      .kind = SP__JSON_OBJECT };
	struct sp__json_items items = sp__json_items(&value);
	const char *from = items.p;
	struct sp__jsonmember next = { 0 };
	struct sp__json_value of_name;

	for (m->n = 0; sp__json_item(&items, &next.name, &of_name); m->at[m->n++] = next) {
		if (!SP__ARRAY_GROW(m->at, m->capacity, m->n + 1))
			return -ENOMEM;
		/* Before a member, except the first one, is a comma. */
		next.begin = m->n ? sp__find_byte(from, items.end, ',') + 1 : from;
		next.end = from = items.p;
	}
	if (m->n <= FEW)
		return 0;
	if (!SP__ARRAY_GROW(m->sorted, m->sorted_capacity, m->n))
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++)
		m->sorted[i] = m->at[i].name;
	qsort(m->sorted, m->n, sizeof(*m->sorted), compare_names);
	return 0;
}

static bool has(const struct sp__jsonmembers *m, const struct sp__json_value *name)
{
	if (m->n > FEW)
		return bsearch(name, m->sorted, m->n, sizeof(*m->sorted), compare_names);
	for (size_t i = 0; i < m->n; i++)
		if (same_name(&m->at[i].name, name))
			return true;
	return false;
}

/* Merging. */

static bool is_key(const struct sp__jsonform *f, const struct sp__json_value *name)
{
	for (size_t i = 0; i < f->nkeys; i++)
		if (sp__json_is(name, f->keys[i].p, f->keys[i].n))
			return true;
	return false;
}

/* Decides which members of file 2 are left out or shared.  Returns true if any is. */
static bool mark(const struct sp__jsonform *f, struct sp__jsonmem *mem)
{
	struct sp__jsonmembers *b = &mem->of[1];
	bool any = false;

	for (size_t i = 0; i < b->n; i++) {
		struct sp__jsonmember *m = &b->at[i];

		m->out = is_key(f, &m->name);
		m->shared = !m->out && has(&mem->of[0], &m->name);
		any |= m->out || m->shared;
	}
	return any;
}

/* Makes a name with its suffix repeated so often.  Returns 0 or -ENOMEM. */
static int make_name(struct sp__jsonmem *mem, const struct sp__json_value *name, size_t times,
		     struct sp__json_value *made)
{
	char *to;

	if (!SP__ARRAY_GROW(mem->name, mem->name_capacity, name->n + times * SUFFIX_BYTES))
		return -ENOMEM;
	to = mempcpy(mem->name, name->p, name->n - 1);
	for (size_t i = 0; i < times; i++)
		to = mempcpy(to, SUFFIX, SUFFIX_BYTES);
	*to++ = '"';
	*made = *name;
	made->p = mem->name;
	made->n = (size_t)(to - mem->name);
	return 0;
}

/* Returns 1 if a shared name with this suffix is in one of the objects, 0, or -ENOMEM. */
static int is_taken(struct sp__jsonmem *mem, size_t times)
{
	struct sp__json_value made;

	for (size_t i = 0; i < mem->of[1].n; i++) {
		const struct sp__jsonmember *m = &mem->of[1].at[i];

		if (!m->shared)
			continue;
		if (make_name(mem, &m->name, times, &made))
			return -ENOMEM;
		if (has(&mem->of[0], &made) || has(&mem->of[1], &made))
			return 1;
	}
	return 0;
}

static void put(const struct sp__jsonrow *row, const char *p, size_t n)
{
	row->put(row->arg, p, n);
}

/* Writes the members of file 2; first: there are no members before them. */
static int put_members(const struct sp__jsonrow *row, size_t times, bool first)
{
	const struct sp__jsonmembers *members = &row->mem->of[1];
	struct sp__json_value made;

	for (size_t i = 0; i < members->n; i++) {
		const struct sp__jsonmember *m = &members->at[i];
		const char *rest = m->begin;

		if (m->out)
			continue;
		if (!first)
			put(row, ",", 1);
		first = false;
		if (m->shared) {
			if (make_name(row->mem, &m->name, times, &made))
				return -ENOMEM;
			put(row, m->begin, (size_t)(m->name.p - m->begin));
			put(row, made.p, made.n);
			rest = m->name.p + m->name.n;
		}
		put(row, rest, (size_t)(m->end - rest));
	}
	return 0;
}

static int merge(const struct sp__jsonrow *row, const struct sp__slice object[2])
{
	struct sp__jsonmem *mem = row->mem;
	struct sp__slice text = inside(&object[0]);
	size_t times = 1;
	int rc = 0;

	if (list(&mem->of[0], &object[0]) || list(&mem->of[1], &object[1]))
		return -ENOMEM;
	if (mark(row->form, mem))
		while ((rc = is_taken(mem, times)) > 0)
			times++;
	if (rc)
		return rc;
	put(row, "{", 1);
	put(row, text.p, text.n);
	rc = put_members(row, times, !mem->of[0].n);
	put(row, "}", 1);
	return rc;
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
