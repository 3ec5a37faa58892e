/* SPDX-License-Identifier: MIT */
/*
 * Finds members by their paths, and gives them columns (members.h).
 *
 * Algorithm: a hash table (base/hashtable.h).
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "columns/members.h"
#include "columns/vector.h"

void sp__members_free(struct sp__members *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		free(m->list[i].path);
	free(m->list);
	sp__hashtable_close(&m->table);
	*m = (struct sp__members){ 0 };
}

static uint64_t hash(const struct sp__members *m, const char *path, size_t n)
{
	return sp__hashtable_hash(&m->table, path, n);
}

static bool is(const struct sp__json_member *m, const char *path, size_t n)
{
	return m->bytes == n && !memcmp(m->path, path, n);
}

/* Returns the slot of a path: its own, or the free one where it would be. */
static uint64_t *slot_of(const struct sp__members *m, const char *path, size_t n)
{
	const uint64_t h = hash(m, path, n);

	return SP__HASHTABLE_FIND(&m->table, h, number, is(&m->list[number - 1], path, n));
}

uint32_t sp__members_find(const struct sp__members *m, const char *path, size_t n)
{
	return m->n ? (uint32_t)*slot_of(m, path, n) - 1 : SP__MEMBER_NONE;
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
	uint64_t h, *slot;
	char *copy;

	if (!m->table.secret)
		m->table.secret = sp__key_secret();
	if (sp__hashtable_is_full(&m->table, m->n) && sp__hashtable_grow(&m->table))
		return SP__MEMBER_NONE;
	copy = strndup(path, n);
	if (!copy || !SP__ARRAY_GROW_BY_ONE(m->list, m->n)) {
		free(copy);
		return SP__MEMBER_NONE;
	}
	m->list[m->n] = (struct sp__json_member){ .path = copy,
						  .bytes = (uint32_t)n,
						  .form = form,
						  .whole = is_whole(m, path, n),
						  .column = SP__MEMBER_NONE };
	m->values += form != SP__MEMBER_OBJECT;
	h = hash(m, path, n);
	slot = slot_of(m, path, n);
	sp__hashtable_fill(slot, h, m->n + 1);
	if (sp__hashtable_is_long(&m->table, h, slot))
		SP__HASHTABLE_STRENGTHEN(
			&m->table, m->n + 1, i,
			sp__key_hash_strong(m->list[i - 1].path, m->list[i - 1].bytes));
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
