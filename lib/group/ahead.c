/* SPDX-License-Identifier: MIT */
/* Prefetches groups (ahead.h). */
#include "group/ahead.h"

#define SLOT_AHEAD 16u	/* records between the prefetch of a slot and its record, ... */
#define GROUP_AHEAD 8u	/* ... of a group */
#define GROUPS_MIN 4096 /* fewer stay in the cache */
#define LINE 64u

_Static_assert(SLOT_AHEAD < SP__GROUP_AHEAD, "a hash is kept until its group is prefetched");

/* Returns the hash of a record's key; 0: not known. */
static uint64_t hash_of(struct sp__group_worker *w, uint32_t nfields, uint32_t i)
{
	const struct sp__group_spec *s = w->in->spec;
	const uint32_t *ends = w->ends.ends + (size_t)i * nfields;
	struct sp__bytes *key = &w->next_key;

	key->bytes = 0;
	for (uint32_t c = 0; c < s->nkeys; c++) {
		const size_t k = s->columns[s->keys[c].column];
		const char *p = w->text + (uint32_t)(ends[k] + 1);
		const size_t n = ends[k + 1] - ends[k] - 1;

		if ((w->in->cut.kind == SP__CUT_CSV && n && *p == '"') ||
		    sp__code_put_part(key, p, n))
			return 0;
	}
	return sp__hashtable_hash(&w->table.table, key->data, key->bytes);
}

static void find_slot(struct sp__group_worker *w, uint32_t nfields, uint32_t i)
{
	const uint64_t hash = hash_of(w, nfields, i);

	w->next[i % SP__GROUP_AHEAD] = hash;
	__builtin_prefetch(sp__hashtable_first(&w->table.table, hash));
}

bool sp__ahead_begin(struct sp__group_worker *w, uint32_t nfields)
{
	const struct sp__group_spec *s = w->in->spec;

	if (w->small || w->table.groups < GROUPS_MIN || !s->nkeys)
		return false;
	for (uint32_t c = 0; c < s->nkeys; c++) {
		const struct sp__group_key *key = &s->keys[c];

		/* The last field has the end of a line with it. */
		if (key->order || key->by_value || key->column >= s->ncolumns ||
		    s->columns[key->column] >= nfields - 1)
			return false;
	}
	for (uint32_t i = 0; i < SLOT_AHEAD && i < w->ends.records; i++)
		find_slot(w, nfields, i);
	return true;
}

void sp__ahead(struct sp__group_worker *w, uint32_t nfields, uint32_t i)
{
	const struct sp__group_table *t = &w->table;
	const char *group;
	uint64_t slot;

	if (i + SLOT_AHEAD < w->ends.records)
		find_slot(w, nfields, i + SLOT_AHEAD);
	if (i + GROUP_AHEAD >= w->ends.records)
		return;
	slot = *sp__hashtable_first(&t->table, w->next[(i + GROUP_AHEAD) % SP__GROUP_AHEAD]);
	group = sp__arena_at(&t->arena, (uint32_t)slot);
	for (uint32_t k = 0; k <= t->spec->state_bytes && k < 8 * LINE; k += LINE)
		__builtin_prefetch(group + k, 1);
}
