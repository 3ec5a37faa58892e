/* SPDX-License-Identifier: MIT */
/* Paths to values of JSON (jsonread.h): sets of them, and those of a record. */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "rec/jsonpath.h"

#define NONE SP__JSON_NO_NODE
#define SHOWN 40 /* bytes of a path in a message */

static struct sp__json_node new_node(void)
{
	return (struct sp__json_node){ .child = NONE, .next = NONE, .path = NONE };
}

int sp__json_paths_new(struct sp__json_paths **paths)
{
	static _Atomic uint64_t last_id;
	struct sp__json_paths *t = calloc(1, sizeof(*t));

	*paths = t;
	if (!t)
		return -ENOMEM;
	if (!SP__ARRAY_GROW_BY_ONE(t->nodes, t->nnodes)) {
		free(t);
		*paths = NULL;
		return -ENOMEM;
	}
	t->nodes[t->nnodes++] = new_node();
	t->id = ++last_id;
	return 0;
}

void sp__json_paths_free(struct sp__json_paths *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->nnodes; i++)
		free(t->nodes[i].name);
	free(t->nodes);
	free(t);
}

bool sp__json_paths_member(const struct sp__json_paths *t, size_t number, const char **name,
			   size_t *bytes)
{
	unsigned c = t->nodes[0].child;

	while (c != NONE && t->nodes[c].path != number)
		c = t->nodes[c].next;
	if (c == NONE || !t->nodes[c].name)
		return false;
	*name = t->nodes[c].name;
	*bytes = t->nodes[c].bytes;
	return true;
}

size_t sp__json_paths_count(const struct sp__json_paths *t)
{
	return t->npaths;
}

/* One step of a path. */
struct step {
	char *name; /* owned; NULL: an element */
	size_t bytes;
	uint64_t index;
};

static bool same(const struct sp__json_node *n, const struct step *s)
{
	if (!n->name || !s->name)
		return !n->name && !s->name && n->index == s->index;
	return n->bytes == s->bytes && memcmp(n->name, s->name, s->bytes) == 0;
}

/* Moves to the child of a step, which is added if there is none. */
static int descend(struct sp__json_paths *t, unsigned *node, struct step *s)
{
	unsigned c = t->nodes[*node].child;

	while (c != NONE && !same(&t->nodes[c], s))
		c = t->nodes[c].next;
	if (c == NONE) {
		if (!SP__ARRAY_GROW_BY_ONE(t->nodes, t->nnodes))
			return -ENOMEM;
		c = (unsigned)t->nnodes++;
		t->nodes[c] = new_node();
		t->nodes[c].name = s->name;
		t->nodes[c].bytes = s->bytes;
		t->nodes[c].index = s->index;
		t->nodes[c].next = t->nodes[*node].child;
		t->nodes[*node].child = c;
		s->name = NULL;
	}
	*node = c;
	return 0;
}

static int keep_name(struct step *s, const char *p, size_t n)
{
	s->name = malloc(n + 1);
	if (!s->name)
		return -ENOMEM;
	memcpy(s->name, p, n);
	s->name[n] = '\0';
	s->bytes = n;
	return 0;
}

/* Reads a name in quotes; returns 0, -EINVAL or -ENOMEM. */
static int read_quoted(const char **p, struct step *s)
{
	struct sp__json_value v = { .p = *p, .kind = SP__JSON_TEXT, .escaped = true };
	struct sp__json_error unused;
	const char *end = *p + 1;
	int rc;

	while (*end && *end != '"')
		end += end[0] == '\\' && end[1] ? 2 : 1;
	if (!*end)
		return -EINVAL;
	v.n = (size_t)(end + 1 - *p);
	if (sp__json_find(NULL, v.p, v.n, SP__JSON_CHECK_ALL, NULL, &unused))
		return -EINVAL;
	rc = keep_name(s, v.p, v.n);
	if (!rc)
		s->bytes = sp__json_text(&v, s->name, v.n);
	*p = end + 1;
	return rc;
}

static int read_bare(const char **p, const char *ends, struct step *s)
{
	const char *begin = *p;

	while (**p && !strchr(".[]\"", **p) && !strchr(ends, **p))
		++*p;
	if (*p == begin)
		return -EINVAL;
	return keep_name(s, begin, (size_t)(*p - begin));
}

static int read_index(const char **p, struct step *s)
{
	const char *begin = ++*p;

	for (s->index = 0; **p >= '0' && **p <= '9'; ++*p)
		if (__builtin_mul_overflow(s->index, (uint64_t)10, &s->index) ||
		    __builtin_add_overflow(s->index, (uint64_t)(**p - '0'), &s->index))
			return -EINVAL;
	if (*p == begin || **p != ']')
		return -EINVAL;
	++*p;
	return 0;
}

/* Reads the step at *p, if there is one.  Returns 1; 0: the path ends; -EINVAL; -ENOMEM. */
static int read_step(const char **p, const char *ends, bool first, struct step *s)
{
	int rc;

	if (**p == '.' && first && (!(*p)[1] || strchr(ends, (*p)[1]))) {
		++*p;
		return 0;
	}
	if (**p == '[')
		rc = read_index(p, s);
	else if (**p != '.')
		return first ? -EINVAL : 0;
	else if (*++*p == '"')
		rc = read_quoted(p, s);
	else if (**p == '[' && first)
		rc = read_index(p, s);
	else
		rc = read_bare(p, ends, s);
	return rc ? rc : 1;
}

int sp__json_paths_add(struct sp__json_paths *t, const char *text, const char *ends, size_t *number,
		       const char **rest, struct sp_errinfo *err)
{
	unsigned node = 0, depth = 0;
	const char *p = text;
	int rc = *p == '.' ? 1 : -EINVAL;

	while (rc == 1) {
		struct step s = { 0 };

		rc = read_step(&p, ends, p == text, &s);
		if (rc == 1 && ++depth > SP__JSON_PATH_DEPTH)
			rc = -EINVAL;
		if (rc == 1 && descend(t, &node, &s))
			rc = -ENOMEM;
		free(s.name);
	}
	if (!rc && *p && !strchr(ends, *p))
		rc = -EINVAL;
	if (rc == -EINVAL)
		return sp__invalid(err, NULL,
				   "'%.*s' is not a path to a value, such as .user.id, .a[0] or "
				   ".\"odd name\"",
				   SHOWN, text);
	if (rc)
		return sp__err(err, rc, "allocate", NULL, -1);
	if (t->nodes[node].path == NONE)
		t->nodes[node].path = (unsigned)t->npaths++;
	*number = t->nodes[node].path;
	*rest = p;
	return 0;
}

void sp__json_path_name(const char *path, char *name)
{
	struct sp__json_value v = { path + 1, strlen(path + 1), SP__JSON_TEXT, true };
	struct sp__json_error unused;

	if (v.n && *v.p == '"' && !sp__json_find(NULL, v.p, v.n, SP__JSON_CHECK_ALL, NULL, &unused))
		v.n = sp__json_text(&v, name, v.n);
	else
		memcpy(name, v.p, v.n);
	name[v.n] = '\0';
}

/* Paths of a record. */

struct walk {
	sp__json_visit *visit;
	void *arg;
	char path[SP__JSON_PATH_BYTES];
	size_t bytes;
	unsigned depth;
};

/* True if a name can be a part of a path without quotes. */
static bool is_bare(const struct sp__json_value *name)
{
	const char *p = name->p + 1, *end = name->p + name->n - 1;

	for (const char *c = p; c < end; c++)
		if ((unsigned char)*c <= ' ' || strchr(".[]\"\\:,;=()'", *c))
			return false;
	return p < end;
}

/* Appends a name to the path; returns the length before, or SIZE_MAX if it does not fit. */
static size_t append(struct walk *w, const struct sp__json_value *name)
{
	const bool bare = is_bare(name);
	const size_t before = w->bytes, n = name->n - 2 * bare;

	if (n + 1 > sizeof(w->path) - w->bytes || w->depth == SP__JSON_PATH_DEPTH)
		return SIZE_MAX;
	w->path[w->bytes] = '.';
	memcpy(w->path + w->bytes + 1, name->p + bare, n);
	w->bytes += n + 1;
	return before;
}

/* True if every member's name fits behind the path. */
static bool fits(struct walk *w, const struct sp__json_value *object)
{
	struct sp__json_items items = sp__json_items(object);
	struct sp__json_value name, value;
	bool any = false;

	while (sp__json_item(&items, &name, &value)) {
		size_t before = append(w, &name);

		if (before == SIZE_MAX)
			return false;
		w->bytes = before;
		any = true;
	}
	return any;
}

static int walk(struct walk *w, const struct sp__json_value *object)
{
	struct sp__json_items items = sp__json_items(object);
	struct sp__json_value name, value;
	int rc = 0;

	while (!rc && sp__json_item(&items, &name, &value)) {
		const size_t before = append(w, &name);

		w->depth++;
		if (value.kind == SP__JSON_OBJECT && fits(w, &value))
			rc = walk(w, &value);
		else
			rc = w->visit(w->arg, w->path, w->bytes, &value);
		w->depth--;
		w->bytes = before;
	}
	return rc;
}

int sp__json_walk(const struct sp__json_value *value, sp__json_visit *visit, void *arg)
{
	struct walk w = { .visit = visit, .arg = arg };

	if (value->kind == SP__JSON_OBJECT && fits(&w, value))
		return walk(&w, value);
	return visit(arg, ".", 1, value);
}
