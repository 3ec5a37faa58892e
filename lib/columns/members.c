/* SPDX-License-Identifier: MIT */
/*
 * Finds members by their paths, and gives them columns (members.h).
 *
 * Algorithm: a hash table with linear probing, at most half full.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "columns/members.h"
#include "columns/vector.h"

#define TABLE_MIN 64

void sp__members_free(struct sp__members *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		free(m->list[i].path);
	free(m->list);
	free(m->table);
	*m = (struct sp__members){ 0 };
}

/* FNV-1a. */
static uint32_t hash(const char *path, size_t n)
{
	uint64_t h = UINT64_C(0xCBF29CE484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)path[i]) * UINT64_C(0x100000001B3);
	return (uint32_t)(h ^ h >> 32);
}

/* Returns the place of a path in the table: its own, or the free one where it would be. */
static uint32_t place_of(const struct sp__members *m, const char *path, size_t n)
{
	uint32_t at = hash(path, n) & m->mask;

	for (; m->table[at]; at = (at + 1) & m->mask) {
		const struct sp__json_member *other = &m->list[m->table[at] - 1];

		if (other->bytes == n && !memcmp(other->path, path, n))
			break;
	}
	return at;
}

uint32_t sp__members_find(const struct sp__members *m, const char *path, size_t n)
{
	return m->n ? m->table[place_of(m, path, n)] - 1 : SP__MEMBER_NONE;
}

/* Doubles the table. */
static bool grow(struct sp__members *m)
{
	const uint32_t size = m->mask ? 2 * (m->mask + 1) : TABLE_MIN;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return false;
	free(m->table);
	m->table = table;
	m->mask = size - 1;
	for (uint32_t i = 0; i < m->n; i++)
		table[place_of(m, m->list[i].path, m->list[i].bytes)] = i + 1;
	return true;
}

/* True if the user described a column of this path as one of texts. */
static bool is_whole(const struct sp__members *m, const char *path, size_t n)
{
	const int column = m->described ? sp__schema_find(m->described, path, n) : -1;

	return column >= 0 && sp__type_is_text(&m->described->columns[column].type);
}

uint32_t sp__members_add(struct sp__members *m, const char *path, size_t n,
			 enum sp__member_form form)
{
	char *copy;

	if (2 * (m->n + 1) > m->mask && !grow(m))
		return SP__MEMBER_NONE;
	copy = strndup(path, n);
	if (!copy || !SP__ARRAY_GROW_BY_ONE(m->list, m->n)) {
		free(copy);
		return SP__MEMBER_NONE;
	}
	m->table[place_of(m, path, n)] = m->n + 1;
	m->list[m->n] = (struct sp__json_member){ .path = copy,
						  .bytes = (uint32_t)n,
						  .form = form,
						  .whole = is_whole(m, path, n),
						  .column = SP__MEMBER_NONE };
	m->values += form != SP__MEMBER_OBJECT;
	return m->n++;
}

/* Adds the objects in which a member would be, so that they can be null. */
static int add_objects(struct sp__members *m, const char *path)
{
	for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.')) {
		const size_t n = (size_t)(dot - path);

		if (n && sp__members_find(m, path, n) == SP__MEMBER_NONE &&
		    sp__members_add(m, path, n, SP__MEMBER_OBJECT) == SP__MEMBER_NONE)
			return -ENOMEM;
	}
	return 0;
}

/* Decides how the values of a member are taken. */
static void set_rules(struct sp__json_member *member, const struct sp__column *c, bool inferred,
		      bool counted)
{
	const bool text = sp__type_is_text(&c->type);

	member->raw = c->json;
	member->whole = text && !inferred;
	member->no_text = inferred && (c->json || (!text && member->kinds & 1U << SP__JSON_NUMBER));
	member->counted = counted && text && !c->json;
}

int sp__members_bind(struct sp__members *m, const struct sp__schema *s, const bool *inferred)
{
	for (uint32_t i = 0; i < m->n; i++)
		m->list[i].column = SP__MEMBER_NONE;
	for (uint32_t i = 0; i < s->n; i++) {
		const char *name = s->columns[i].name;
		uint32_t at = sp__members_find(m, name, strlen(name));

		if (at == SP__MEMBER_NONE)
			at = sp__members_add(m, name, strlen(name), SP__MEMBER_UNKNOWN);
		if (at == SP__MEMBER_NONE || add_objects(m, name))
			return -ENOMEM;
		if (!inferred || !inferred[i])
			m->list[at].form = SP__MEMBER_VALUE;
		m->list[at].column = i;
		set_rules(&m->list[at], &s->columns[i], inferred && inferred[i],
			  !inferred || inferred[i]);
	}
	return 0;
}
