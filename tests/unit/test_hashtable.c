/* SPDX-License-Identifier: MIT */
/*
 * The hash table against an array: entries are added and removed while it grows, with hashes at
 * random, and with few homes, at the end of the slots too.
 */
#include "base/hashtable.h"
#include "base/rng.h"
#include "tap.h"

#define KEYS 3000u

static uint32_t number_of[KEYS + 1], key_of[KEYS + 1];
static uint32_t n;

/* homes: of random hashes; 0: any. */
static uint64_t hash_of(uint32_t key, uint32_t homes)
{
	uint64_t hash = sp__mix64(key);

	return homes ? (UINT64_C(0) - hash % homes) << 32 | (uint32_t)hash : hash;
}

static uint64_t *find(const struct sp__hashtable *t, uint32_t key, uint32_t homes)
{
	return SP__HASHTABLE_FIND(t, hash_of(key, homes), number, key_of[number] == key);
}

static bool add(struct sp__hashtable *t, uint32_t key, uint32_t homes)
{
	if (sp__hashtable_is_full(t, n) && sp__hashtable_grow(t))
		return false;
	number_of[key] = ++n;
	key_of[n] = key;
	sp__hashtable_put(t, hash_of(key, homes), n);
	return true;
}

/* Removes a key; the last entry gets its number. */
static void take(struct sp__hashtable *t, uint32_t key, uint32_t homes)
{
	const uint32_t last = key_of[n];

	sp__hashtable_remove(t, find(t, key, homes));
	if (key != last)
		sp__hashtable_fill(find(t, last, homes), hash_of(last, homes), number_of[key]);
	key_of[number_of[key]] = last;
	number_of[last] = number_of[key];
	number_of[key] = 0;
	n--;
}

static bool matches(const struct sp__hashtable *t, uint32_t homes)
{
	size_t used = 0;
	bool good = true;

	for (uint32_t key = 0; key < KEYS; key++)
		good = good && (uint32_t)*find(t, key, homes) == number_of[key];
	for (size_t i = 0; i < t->nslots; i++)
		used += t->slots[i] > 0;
	return good && used == n && 2 * used <= t->nslots;
}

/* Adds and removes keys; in a round more are added, or more are removed. */
static void check(uint32_t homes, const char *name)
{
	struct sp__hashtable t = { 0 };
	struct sp__rng rng = { homes };
	bool good = !sp__hashtable_grow(&t);

	memset(number_of, 0, sizeof(number_of));
	n = 0;
	for (unsigned round = 0; good && round < 12; round++) {
		for (unsigned i = 0; good && i < KEYS / 2; i++) {
			uint32_t key = (uint32_t)sp__rng_below(&rng, KEYS);
			bool more = sp__rng_below(&rng, 8) < (round % 3 == 2 ? 1 : 7);

			if (more && !number_of[key])
				good = add(&t, key, homes);
			else if (!more && number_of[key])
				take(&t, key, homes);
			if (i % 64 == 0)
				good = good && matches(&t, homes);
		}
	}
	ok(good && matches(&t, homes), "entries are found while others come and go: %s", name);
	sp__hashtable_empty(&t);
	ok(t.nslots > KEYS / 2 && !*find(&t, 1, homes), "an empty table finds none: %s", name);
	sp__hashtable_close(&t);
}

/* Equal hashes: one more than SP__PROBES_MAX is long, until the hash is strong. */
static void check_long(void)
{
	struct sp__hashtable t = { 0 };
	const uint64_t hash = UINT64_MAX;
	uint64_t *slot = NULL;
	bool none = true;

	for (uint32_t i = 1; i <= SP__PROBES_MAX + 2; i++) {
		none = none && !(slot && sp__hashtable_is_long(&t, hash, slot));
		while (sp__hashtable_is_full(&t, i))
			none = none && !sp__hashtable_grow(&t);
		slot = SP__HASHTABLE_FIND(&t, hash, number, number == i);
		none = none && !*slot;
		sp__hashtable_fill(slot, hash, i);
	}
	ok(none && sp__hashtable_is_long(&t, hash, slot), "the search among equal hashes is long");
	SP__HASHTABLE_STRENGTHEN(&t, 7, number, (uint64_t)number << 32);
	none = true;
	for (uint32_t i = 1; i < 10; i++)
		none = none && (uint32_t)t.slots[i] == (i <= 7 ? i : 0);
	ok(none && !sp__hashtable_is_long(&t, hash, slot) &&
		   sp__hashtable_hash(&t, "k", 1) == sp__key_hash_strong("k", 1),
	   "with the strong hash, no search is long");
	sp__hashtable_close(&t);
}

/* A table becomes four times as large, in memory of the caller. */
static void check_spread(void)
{
	uint64_t slots[64] = { 0 };
	struct sp__hashtable t = { .slots = slots, .nslots = 16 };
	bool good = true;

	for (uint32_t i = 1; i <= 8; i++)
		sp__hashtable_put(&t, (uint64_t)(14 + i / 3 * 16) << 32, i);
	sp__hashtable_spread(&t, 64);
	for (uint32_t i = 1; i <= 8; i++) {
		uint64_t hash = (uint64_t)(14 + i / 3 * 16) << 32;
		uint64_t *slot = SP__HASHTABLE_FIND(&t, hash, number, number == i);

		good = good && (uint32_t)*slot == i && slot >= &slots[hash >> 32] &&
		       slot < &slots[hash >> 32] + 3;
	}
	ok(good, "entries spread over more slots");
}

int main(void)
{
	check(0, "random hashes");
	check(1, "one home");
	check(40, "neighbouring homes");
	check_long();
	check_spread();
	return done();
}
