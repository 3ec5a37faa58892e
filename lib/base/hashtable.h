/* SPDX-License-Identifier: MIT */
/*
 * A hash table with linear probing, at most half full: it finds entries of the caller by a hash.
 *
 * A slot has 32 bits of a hash and the number of an entry, from 1.  These bits choose the slot, and
 * are compared before keys are.  So the table grows without the keys.  The caller has the entries,
 * compares keys, and charges the memory.
 *
 * Keys can be made to have equal hashes (keyhash.h).  A caller whose keys are foreign tests
 * sp__hashtable_is_long() when it has added one.
 *
 * Thread rule: while a thread changes a table, no other thread uses it.
 */
#pragma once

#include <string.h>
#include <spindle/error.h>
#include "base/keyhash.h"

/* Zeroed: no memory.  A search needs slots, sp__hashtable_put() a free one. */
struct sp__hashtable {
	uint64_t *slots; /* upper half: of a hash; lower half: number of an entry; 0: free */
	size_t nslots;	 /* a power of two */
	const struct sp__key_secret *secret;
	bool strong; /* keys are hashed by the strong hash */
};

/* True if there is no slot for one more than n entries. */
static inline bool sp__hashtable_is_full(const struct sp__hashtable *t, size_t n)
{
	return 2 * (n + 1) > t->nslots;
}

/* Returns the bytes that sp__hashtable_grow() adds. */
size_t sp__hashtable_growth(const struct sp__hashtable *t);
/* Doubles the slots.  Returns 0, or -ENOMEM: the table is unchanged. */
SP_MUST_CHECK int sp__hashtable_grow(struct sp__hashtable *t);
/* Uses so many slots, a power of two and more than before.  The further ones are zeroed. */
void sp__hashtable_spread(struct sp__hashtable *t, size_t nslots);
/* Removes all entries. */
void sp__hashtable_empty(struct sp__hashtable *t);
/* Frees the slots of sp__hashtable_grow(). */
void sp__hashtable_close(struct sp__hashtable *t);

static inline uint64_t sp__hashtable_hash(const struct sp__hashtable *t, const char *key, size_t n)
{
	return t->strong ? sp__key_hash_strong(key, n) : sp__key_hash_secret(key, n, t->secret);
}

/* Returns the slot where a search begins. */
static inline uint64_t *sp__hashtable_first(const struct sp__hashtable *t, uint64_t hash)
{
	return &t->slots[hash >> 32 & (t->nslots - 1)];
}

/*
 * Returns the slot of the entry with this hash for which `same` holds, or the free slot where it
 * belongs. same is an expression of the number of an entry, a uint32_t.
 */
#define SP__HASHTABLE_FIND(t, hash, number, same)                                                  \
	({                                                                                         \
		uint64_t *const sp__slots = (t)->slots;                                            \
		const size_t sp__mask = (t)->nslots - 1;                                           \
		size_t sp__at = (hash) >> 32 & sp__mask;                                           \
		for (; sp__slots[sp__at]; sp__at = (sp__at + 1) & sp__mask) {                      \
			const uint32_t number = (uint32_t)sp__slots[sp__at];                       \
			if (!((sp__slots[sp__at] ^ (hash)) >> 32) && (same))                       \
				break;                                                             \
		}                                                                                  \
		&sp__slots[sp__at];                                                                \
	})

static inline void sp__hashtable_fill(uint64_t *slot, uint64_t hash, uint32_t number)
{
	*slot = (hash & ~(uint64_t)UINT32_MAX) | number;
}

/* Adds an entry that is not there. */
static inline void sp__hashtable_put(struct sp__hashtable *t, uint64_t hash, uint32_t number)
{
	size_t at = hash >> 32 & (t->nslots - 1);

	while (t->slots[at])
		at = (at + 1) & (t->nslots - 1);
	sp__hashtable_fill(&t->slots[at], hash, number);
}

/* Removes the entry of a slot; entries after it move. */
void sp__hashtable_remove(struct sp__hashtable *t, uint64_t *slot);

/*
 * True if a slot that was filled is more than SP__PROBES_MAX slots from the first one of its hash:
 * the caller hashes all keys by the strong hash.
 */
static inline bool sp__hashtable_is_long(const struct sp__hashtable *t, uint64_t hash,
					 const uint64_t *slot)
{
	size_t passed = (size_t)(slot - t->slots) - (size_t)(hash >> 32);

	return (passed & (t->nslots - 1)) > SP__PROBES_MAX && !t->strong;
}

/* Puts entries 1 to n again. hash is an expression of a number: the strong hash of its key. */
#define SP__HASHTABLE_STRENGTHEN(t, n, number, hash)                                               \
	({                                                                                         \
		(t)->strong = true;                                                                \
		sp__hashtable_empty(t);                                                            \
		for (uint32_t number = 1; number <= (n); number++)                                 \
			sp__hashtable_put(t, hash, number);                                        \
	})
