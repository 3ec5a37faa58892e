/* SPDX-License-Identifier: MIT */
/* Grows a hash table and removes entries (hashtable.h). */
#include "base/hashtable.h"
#include "base/mem.h"

#define SLOTS_MIN 16
#define SLOTS_MAX ((size_t)1 << 32)

static size_t bytes_of(const struct sp__hashtable *t)
{
	return t->nslots * sizeof(*t->slots);
}

size_t sp__hashtable_growth(const struct sp__hashtable *t)
{
	return t->nslots ? bytes_of(t) : SLOTS_MIN * sizeof(*t->slots);
}

int sp__hashtable_grow(struct sp__hashtable *t)
{
	const size_t before = bytes_of(t), more = sp__hashtable_growth(t);
	uint64_t *slots =
		t->nslots < SLOTS_MAX ? sp__block_resize(t->slots, before, before + more) : NULL;

	if (!slots)
		return -ENOMEM;
	memset(slots + t->nslots, 0, more);
	t->slots = slots;
	t->secret = sp__key_secret();
	sp__hashtable_spread(t, (before + more) / sizeof(*slots));
	return 0;
}

/*
 * Begins behind a free slot.  Then an entry moves to the new slots, or towards its home past
 * entries that have been moved, and never past one that is still to be moved.
 */
void sp__hashtable_spread(struct sp__hashtable *t, size_t nslots)
{
	const size_t before = t->nslots;
	size_t first = 0;

	t->nslots = nslots;
	while (first < before && t->slots[first])
		first++;
	for (size_t i = 1; i < before; i++) {
		uint64_t *at = &t->slots[(first + i) & (before - 1)], slot = *at;

		*at = 0;
		if (slot)
			sp__hashtable_put(t, slot, (uint32_t)slot);
	}
}

void sp__hashtable_empty(struct sp__hashtable *t)
{
	memset(t->slots, 0, bytes_of(t));
}

void sp__hashtable_close(struct sp__hashtable *t)
{
	(void)sp__block_resize(t->slots, bytes_of(t), 0);
	*t = (struct sp__hashtable){ 0 };
}

void sp__hashtable_remove(struct sp__hashtable *t, uint64_t *slot)
{
	const size_t mask = t->nslots - 1;
	size_t hole = (size_t)(slot - t->slots);

	for (size_t i = (hole + 1) & mask; t->slots[i]; i = (i + 1) & mask) {
		/* An entry can move to the hole unless its home is after the hole. */
		if (((i - (t->slots[i] >> 32)) & mask) >= ((i - hole) & mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole] = 0;
}
