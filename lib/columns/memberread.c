/* SPDX-License-Identifier: MIT */
/*
 * Reads the members of a record (members.h).
 *
 * Algorithm: the whole record is checked first.  Then the members of each object are visited in
 * their order, with their paths.  A member is probably the one that followed its predecessor when
 * it was added; otherwise it is found by its hash.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "columns/members.h"

#define OBJECTS_MAX (4 * SP__COLUMNS_MAX) /* members with those that are objects */

int sp__member_refuse(struct sp__member_reader *r, enum sp__member_fault fault, const char *path,
		      size_t n, const struct sp__json_value *value)
{
	struct sp__member_error *e = &r->error;

	*e = (struct sp__member_error){ .fault = fault, .kind = value->kind };
	n = sp__min(n, SP__MEMBER_SHOWN);
	memcpy(e->path, path, n);
	return SP_EFORMAT;
}

static int refuse(struct sp__member_reader *r, enum sp__member_fault fault, size_t path_bytes,
		  const struct sp__json_value *value)
{
	return sp__member_refuse(r, fault, r->path, path_bytes, value);
}

/*
 * Appends a name to the path of its object.  Returns the length; 0: the path cannot be the name of
 * a column.
 */
static size_t join(struct sp__member_reader *r, size_t prefix, const struct sp__json_value *name)
{
	const size_t room = sizeof(r->path) - prefix - 1;
	char *to = r->path + prefix;
	size_t n;

	if (prefix)
		*to++ = '.';
	n = sp__json_text(name, to, room);
	if (!n || memchr(to, '\0', n))
		return 0;
	n += (size_t)(to - r->path);
	return n <= SP__COLUMN_NAME_MAX ? n : 0;
}

/* Finds the member with the path of this length. */
static uint32_t find(struct sp__member_reader *r, size_t n)
{
	const struct sp__members *m = r->members;
	uint32_t at = r->next;

	if (at >= m->n || m->list[at].bytes != n || memcmp(m->list[at].path, r->path, n) != 0)
		at = sp__members_find(m, r->path, n);
	if (at != SP__MEMBER_NONE)
		r->next = at + 1;
	return at;
}

/* Adds a member with this value.  Returns 0; SP_EFORMAT; or -ENOMEM. */
static int add(struct sp__member_reader *r, size_t n, const struct sp__json_value *value,
	       uint32_t *member)
{
	const bool object = value->kind == SP__JSON_OBJECT;
	struct sp__members *m = r->members;

	if (m->n >= OBJECTS_MAX || (!object && m->values >= SP__COLUMNS_MAX))
		return refuse(r, SP__MEMBER_MANY, n, value);
	*member = sp__members_add(m, r->path, n, object ? SP__MEMBER_OBJECT : SP__MEMBER_UNKNOWN);
	r->next = *member + 1;
	if (*member == SP__MEMBER_NONE)
		return -ENOMEM;
	if (object && m->list[*member].whole) {
		m->list[*member].form = SP__MEMBER_VALUE;
		m->values++;
	}
	return 0;
}

/*
 * Takes back the values that this record has in the object with the path of this length.  A member
 * whose name has the points of such a path is not in the object.
 */
static int forget(struct sp__member_reader *r, size_t n)
{
	const struct sp__json_value none = { .p = "" };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < r->members->n; i++) {
		const struct sp__json_member *m = &r->members->list[i];

		if (i >= r->nseen || r->seen[i].record != r->record || r->seen[i].inside < n ||
		    m->bytes <= n || m->path[n] != '.' || memcmp(m->path, r->path, n) != 0)
			continue;
		r->seen[i].record = 0;
		if (m->column != SP__MEMBER_NONE)
			rc = r->take(r->arg, i, &none);
	}
	return rc;
}

/* Notes that a record has a member.  *again: it has had it before. */
static int note(struct sp__member_reader *r, uint32_t member, bool *again)
{
	const size_t known = r->nseen;

	if (!SP__ARRAY_GROW(r->seen, r->nseen, r->members->n))
		return -ENOMEM;
	memset(r->seen + known, 0, (r->nseen - known) * sizeof(*r->seen));
	*again = r->seen[member].record == r->record;
	r->seen[member] = (struct sp__member_seen){ r->record, r->prefix };
	r->repeated += *again;
	return 0;
}

static int read_object(struct sp__member_reader *r, const struct sp__json_value *object,
		       size_t prefix);

/* Reads a member whose value is an object that has columns of its own. */
static int read_nested(struct sp__member_reader *r, uint32_t at, size_t n,
		       const struct sp__json_value *value)
{
	bool again = false;
	int rc = 0;

	if (at != SP__MEMBER_NONE && r->members->list[at].form == SP__MEMBER_VALUE)
		return refuse(r, SP__MEMBER_IS_OBJECT, n, value);
	if (at != SP__MEMBER_NONE)
		rc = note(r, at, &again);
	if (!rc && r->learn && r->members->list[at].form == SP__MEMBER_UNKNOWN) {
		r->members->list[at].form = SP__MEMBER_OBJECT;
		r->members->values--;
	}
	if (!rc && again)
		rc = forget(r, n);
	return rc ? rc : read_object(r, value, n);
}

/* Reads the member with the path of this length. */
static int read_member(struct sp__member_reader *r, size_t n, const struct sp__json_value *value)
{
	uint32_t at = find(r, n);
	struct sp__json_member *m;
	bool again;
	int rc = 0;

	if (at == SP__MEMBER_NONE && r->learn)
		rc = add(r, n, value, &at);
	if (rc)
		return rc;
	m = at == SP__MEMBER_NONE ? NULL : &r->members->list[at];
	if (value->kind == SP__JSON_OBJECT && !(m && m->whole))
		return read_nested(r, at, n, value);
	if (!m)
		return refuse(r, SP__MEMBER_NEW, n, value);
	rc = note(r, at, &again);
	if (rc)
		return rc;
	if (m->form == SP__MEMBER_OBJECT) {
		if (value->kind != SP__JSON_NULL)
			return refuse(r, SP__MEMBER_IS_VALUE, n, value);
		return again ? forget(r, n) : 0;
	}
	if (!r->learn && m->column == SP__MEMBER_NONE)
		return refuse(r, SP__MEMBER_NEW, n, value);
	if (r->learn && value->kind != SP__JSON_NULL)
		m->form = SP__MEMBER_VALUE;
	return r->take(r->arg, at, value);
}

static int read_object(struct sp__member_reader *r, const struct sp__json_value *object,
		       size_t prefix)
{
	struct sp__json_items items = sp__json_items(object);
	struct sp__json_value name, value;
	int rc = 0;

	while (!rc && sp__json_item(&items, &name, &value)) {
		const size_t n = join(r, prefix, &name);

		r->prefix = prefix;
		if (n)
			rc = read_member(r, n, &value);
		else
			rc = sp__member_refuse(r, SP__MEMBER_NAME, name.p + 1, name.n - 2, &name);
	}
	return rc;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

bool sp__member_blank(const char *line, size_t n)
{
	while (n && is_blank(line[n - 1]))
		n--;
	return !n;
}

int sp__member_read(struct sp__member_reader *r, const char *rec, size_t bytes)
{
	struct sp__json_error error;
	struct sp__json_value value = { .p = rec, .n = bytes, .kind = SP__JSON_OBJECT };

	r->record++;
	r->next = 0;
	r->error = (struct sp__member_error){ 0 };
	if (sp__json_find(NULL, rec, bytes, SP__JSON_CHECK_ALL, NULL, &error)) {
		r->error = (struct sp__member_error){ .fault = SP__MEMBER_SYNTAX,
						      .at = error.at,
						      .wanted = error.wanted };
		return SP_EFORMAT;
	}
	for (; is_blank(*value.p); value.p++)
		value.n--;
	while (is_blank(value.p[value.n - 1]))
		value.n--;
	if (*value.p == '{')
		return read_object(r, &value, 0);
	return refuse(r, SP__MEMBER_NOT_OBJECT, 0, &value);
}

void sp__member_reader_free(struct sp__member_reader *r)
{
	free(r->seen);
	r->seen = NULL;
	r->nseen = 0;
}
