/* SPDX-License-Identifier: MIT */
/* A hash table of groups (table.h). */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "group/table.h"

#define SLOTS_SHARE 8	  /* of the memory: the slots */
#define FIRST_SLOTS 1024u /* that are used at first */
#define GROWTH 4u

size_t sp__group_table_slots(size_t bytes)
{
	const struct sp__group_table *t = NULL;
	size_t slots = 64;

	while (slots * 2 * sizeof(*t->table.slots) <= bytes / SLOTS_SHARE)
		slots *= 2;
	return slots;
}

int sp__group_table_open(struct sp__group_table *t, const struct sp__group_spec *spec, size_t bytes)
{
	*t = (struct sp__group_table){ .spec = spec, .max_slots = sp__group_table_slots(bytes) };
	t->table.secret = sp__key_secret();
	t->table.nslots = sp__min(FIRST_SLOTS, t->max_slots);
	t->table.slots = sp__pages_alloc(t->max_slots * sizeof(*t->table.slots), false);
	if (!t->table.slots)
		return -ENOMEM;
	return sp__arena_open(&t->arena, bytes - t->max_slots * sizeof(*t->table.slots));
}

void sp__group_table_close(struct sp__group_table *t)
{
	sp__arena_close(&t->arena);
	sp__pages_free(t->table.slots, t->max_slots * sizeof(*t->table.slots));
	*t = (struct sp__group_table){ 0 };
}

void sp__group_table_empty(struct sp__group_table *t)
{
	sp__hashtable_empty(&t->table);
	t->table.nslots = sp__min(FIRST_SLOTS, t->max_slots);
	t->groups = 0;
	t->last = 0;
	sp__arena_empty(&t->arena);
	sp__arena_shrink(&t->arena);
}

/* Hashes all keys by the strong hash. */
static void strengthen(struct sp__group_table *t)
{
	t->table.strong = true;
	sp__hashtable_empty(&t->table);
	for (uint32_t at = 0; (at = sp__group_table_next(t, at));) {
		const struct sp__grouped *g = sp__arena_at(&t->arena, at);
		const char *key = sp__group_key(t->spec, g);

		sp__hashtable_put(&t->table, sp__hashtable_hash(&t->table, key, g->key_bytes), at);
	}
}

bool sp__group_table_fits(struct sp__group_table *t, size_t groups, size_t bytes)
{
	groups += t->groups;
	bytes += t->arena.used;
	if (groups * 2 > t->table.nslots && t->table.nslots < t->max_slots)
		sp__hashtable_spread(&t->table, sp__min(t->table.nslots * GROWTH, t->max_slots));
	if (groups * 2 <= t->table.nslots && bytes <= t->arena.capacity)
		return true;
	return !t->groups && !sp__arena_extend(&t->arena, bytes);
}

bool sp__group_table_is_new(const struct sp__group_table *t, uint32_t at)
{
	return t->groups == 1 && !((struct sp__grouped *)sp__arena_at(&t->arena, at))->records;
}

bool sp__group_table_grows(struct sp__group_table *t, uint32_t at, size_t bytes)
{
	bytes += sp__group_growth(t->spec, &t->arena, at);
	return sp__arena_has(&t->arena, bytes) ||
	       (sp__group_table_is_new(t, at) && !sp__arena_need(&t->arena, bytes));
}

static bool is_key(const struct sp__group_table *t, uint32_t at, const char *key, size_t bytes)
{
	const struct sp__grouped *g = sp__arena_at(&t->arena, at);

	return g->key_bytes == bytes && !memcmp(sp__group_key(t->spec, g), key, bytes);
}

/* Returns the slot that has the group, or where it belongs. */
static inline uint64_t *search(const struct sp__group_table *t, const char *key, size_t bytes,
			       uint64_t hash)
{
	return SP__HASHTABLE_FIND(&t->table, hash, at, is_key(t, at, key, bytes));
}

uint32_t sp__group_table_find(struct sp__group_table *t, const char *key, size_t bytes,
			      uint32_t tag)
{
	uint64_t hash = sp__hashtable_hash(&t->table, key, bytes);
	uint64_t *slot = search(t, key, bytes, hash);
	uint32_t at;

	if (*slot)
		return (uint32_t)*slot;
	at = sp__group_new(t->spec, &t->arena, key, bytes, tag);
	((struct sp__grouped *)sp__arena_at(&t->arena, at))->before = t->last;
	t->last = at;
	t->groups++;
	sp__hashtable_fill(slot, hash, at);
	if (sp__hashtable_is_long(&t->table, hash, slot))
		strengthen(t);
	return at;
}

uint32_t sp__group_table_next(const struct sp__group_table *t, uint32_t at)
{
	return at ? ((struct sp__grouped *)sp__arena_at(&t->arena, at))->before : t->last;
}
