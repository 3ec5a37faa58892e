/* SPDX-License-Identifier: MIT */
/* A hash table of groups (table.h). */
#include <errno.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "group/table.h"

#define SLOTS_SHARE 8	  /* of the memory: the slots */
#define FIRST_SLOTS 1024u /* that are used at first */
#define GROWTH 4u

static uint64_t hash_of(const struct sp__group_table *t, const char *key, size_t bytes)
{
	return t->strong ? sp__key_hash_strong(key, bytes)
			 : sp__key_hash_secret(key, bytes, t->secret);
}

static uint64_t slot_of(uint64_t hash, uint32_t at)
{
	return (hash & ~(uint64_t)UINT32_MAX) | at;
}

int sp__group_table_open(struct sp__group_table *t, const struct sp__group_spec *spec, size_t bytes)
{
	*t = (struct sp__group_table){ .spec = spec, .secret = sp__key_secret(), .max_slots = 64 };
	while (t->max_slots * 2 * sizeof(*t->slots) <= bytes / SLOTS_SHARE)
		t->max_slots *= 2;
	t->nslots = sp__min(FIRST_SLOTS, t->max_slots);
	t->slots = sp__pages_alloc(t->max_slots * sizeof(*t->slots), false);
	if (!t->slots)
		return -ENOMEM;
	return sp__arena_open(&t->arena, bytes - t->max_slots * sizeof(*t->slots));
}

void sp__group_table_close(struct sp__group_table *t)
{
	sp__arena_close(&t->arena);
	sp__pages_free(t->slots, t->max_slots * sizeof(*t->slots));
	*t = (struct sp__group_table){ 0 };
}

void sp__group_table_empty(struct sp__group_table *t)
{
	memset(t->slots, 0, t->nslots * sizeof(*t->slots));
	t->nslots = sp__min(FIRST_SLOTS, t->max_slots);
	t->groups = 0;
	t->last = 0;
	sp__arena_empty(&t->arena);
	sp__arena_shrink(&t->arena);
}

/* Enters all groups again, into this many slots. */
static void enter_all(struct sp__group_table *t, size_t nslots)
{
	memset(t->slots, 0, t->nslots * sizeof(*t->slots));
	t->nslots = nslots;
	for (uint32_t at = 0; (at = sp__group_table_next(t, at));) {
		const struct sp__grouped *g = sp__arena_at(&t->arena, at);
		size_t i = g->hash & (nslots - 1);

		while (t->slots[i])
			i = (i + 1) & (nslots - 1);
		t->slots[i] = slot_of(g->hash, at);
	}
}

/* Hashes all keys by the strong hash from now on. */
static void strengthen(struct sp__group_table *t)
{
	t->strong = true;
	for (uint32_t at = 0; (at = sp__group_table_next(t, at));) {
		struct sp__grouped *g = sp__arena_at(&t->arena, at);

		g->hash = hash_of(t, sp__group_key(t->spec, g), g->key_bytes);
	}
	enter_all(t, t->nslots);
}

bool sp__group_table_fits(struct sp__group_table *t, size_t groups, size_t bytes)
{
	groups += t->groups;
	bytes += t->arena.used;
	if (groups * 2 > t->nslots && t->nslots < t->max_slots)
		enter_all(t, sp__min(t->nslots * GROWTH, t->max_slots));
	if (groups * 2 <= t->nslots && bytes <= t->arena.capacity)
		return true;
	return !t->groups && !sp__arena_extend(&t->arena, bytes);
}

/* Returns the number of the slot that has the group, or where it belongs; *passed: slots. */
static size_t search(const struct sp__group_table *t, const char *key, size_t bytes, uint64_t hash,
		     unsigned *passed)
{
	size_t i = hash & (t->nslots - 1);

	for (*passed = 0; t->slots[i]; i = (i + 1) & (t->nslots - 1), ++*passed) {
		const uint32_t at = (uint32_t)t->slots[i];
		const struct sp__grouped *g;

		if (slot_of(hash, at) != t->slots[i])
			continue;
		g = sp__arena_at(&t->arena, at);
		if (g->hash == hash && g->key_bytes == bytes &&
		    !memcmp(sp__group_key(t->spec, g), key, bytes))
			break;
	}
	return i;
}

uint32_t sp__group_table_find(struct sp__group_table *t, const char *key, size_t bytes,
			      uint32_t tag)
{
	uint64_t hash = hash_of(t, key, bytes);
	unsigned passed;
	size_t i = search(t, key, bytes, hash, &passed);
	uint32_t at;

	if (passed > SP__PROBES_MAX && !t->strong) {
		strengthen(t);
		hash = hash_of(t, key, bytes);
		i = search(t, key, bytes, hash, &passed);
	}
	if (t->slots[i])
		return (uint32_t)t->slots[i];
	at = sp__group_new(t->spec, &t->arena, key, bytes, hash, tag);
	((struct sp__grouped *)sp__arena_at(&t->arena, at))->before = t->last;
	t->last = at;
	t->slots[i] = slot_of(hash, at);
	t->groups++;
	return at;
}

uint32_t sp__group_table_next(const struct sp__group_table *t, uint32_t at)
{
	return at ? ((struct sp__grouped *)sp__arena_at(&t->arena, at))->before : t->last;
}
