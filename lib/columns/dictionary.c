/* SPDX-License-Identifier: MIT */
/*
 * Finds and adds words by a hash table with linear probing, at most half full.
 *
 * If a search for a new word passes more than SP__PROBES_MAX slots, all words are hashed by the
 * strong hash.
 *
 * Memory: 4 bytes per word and at most 16 bytes of hash table, the words themselves, and at most
 * twice this, since each array grows by doubling.  A word that is refused changes nothing.
 */
#include <stdlib.h>
#include <string.h>
#include "base/few.h"
#include "base/keyhash.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "columns/dictionary.h"

#define SLOTS_MIN 16
#define CODE_MASK 0xFFFFu
#define WORD_SHORT 16 /* bytes that are hashed by two loads */

static uint32_t hash_of(const struct sp__dictionary *d, const char *word, size_t n)
{
	uint64_t first;

	if (d->strong)
		return (uint32_t)sp__key_hash_strong(word, n);
	if (n > WORD_SHORT)
		return (uint32_t)sp__key_hash_secret(word, n, d->secret);
	first = sp__load_few(word, n) ^ d->secret->seed;
	if (n > 8)
		first = sp__mix64(first) ^ sp__load_few(word + n - 8, 8);
	return (uint32_t)sp__mix64(first + n);
}

/* Returns the slot of the word, or the empty slot where it belongs; there are slots. */
static uint32_t slot_of(const struct sp__dictionary *d, const char *word, size_t n, uint32_t hash)
{
	uint32_t i = hash & (d->slots - 1);

	for (; d->table[i]; i = (i + 1) & (d->slots - 1)) {
		struct sp__slice other;

		if ((d->table[i] ^ hash) & ~CODE_MASK)
			continue;
		other = sp__dictionary_word(d, d->table[i] & CODE_MASK);
		if (other.n == n && sp__same_bytes(other.p, word, n))
			break;
	}
	return i;
}

uint32_t sp__dictionary_find(const struct sp__dictionary *d, const char *word, size_t n)
{
	return d->slots ? d->table[slot_of(d, word, n, hash_of(d, word, n))] & CODE_MASK : 0;
}

/* Charges bytes unless the limit is too small for them. */
static int charge(struct sp__dictionary *d, uint64_t bytes)
{
	if (!d->budget)
		return 0;
	if (atomic_load(&d->budget->used_bytes) + bytes > d->budget->limit_bytes)
		return SP_EBUDGET;
	sp__budget_charge(d->budget, bytes);
	return 0;
}

static void credit(struct sp__dictionary *d, uint64_t bytes)
{
	if (d->budget)
		sp__budget_credit(d->budget, bytes);
}

/* Grows an array to at least `need` elements: *max. */
static int grow(struct sp__dictionary *d, void *array, uint32_t *max, uint64_t need, size_t bytes)
{
	uint64_t more = *max ? *max : SLOTS_MIN;
	void *old, *p;
	int rc;

	while (more < need)
		more *= 2;
	if (need <= *max)
		return 0;
	more = sp__min(more, UINT32_MAX);
	rc = charge(d, (more - *max) * bytes);
	if (rc)
		return rc;
	memcpy(&old, array, sizeof(old));
	p = sp__block_resize(old, *max * bytes, more * bytes);
	if (!p) {
		credit(d, (more - *max) * bytes);
		return -ENOMEM;
	}
	memcpy(array, &p, sizeof(p));
	*max = (uint32_t)more;
	return 0;
}

/* Returns the number of slots that the search for a free one passed. */
static uint32_t insert(struct sp__dictionary *d, uint32_t code)
{
	struct sp__slice word = sp__dictionary_word(d, code);
	uint32_t hash = hash_of(d, word.p, word.n), slot = slot_of(d, word.p, word.n, hash);

	d->table[slot] = (hash & ~CODE_MASK) | code;
	return (slot - hash) & (d->slots - 1);
}

static void insert_all(struct sp__dictionary *d)
{
	for (uint32_t code = 1; code <= d->n; code++)
		(void)insert(d, code);
}

/* Makes a hash table that one more word leaves at most half full. */
static int grow_table(struct sp__dictionary *d)
{
	uint32_t slots = d->slots ? 2 * d->slots : SLOTS_MIN;
	uint32_t *table, *old = d->table;
	int rc;

	if (2 * (d->n + 1) <= d->slots)
		return 0;
	rc = charge(d, slots * sizeof(*table));
	if (rc)
		return rc;
	table = calloc(slots, sizeof(*table));
	if (!table) {
		credit(d, slots * sizeof(*table));
		return -ENOMEM;
	}
	credit(d, d->slots * sizeof(*table));
	d->table = table;
	d->slots = slots;
	d->secret = sp__key_secret();
	insert_all(d);
	free(old);
	return 0;
}

int sp__dictionary_add(struct sp__dictionary *d, const char *word, size_t n, uint32_t max_words,
		       uint32_t *code)
{
	uint64_t end = (uint64_t)sp__dictionary_bytes(d) + n;
	int rc;

	*code = sp__dictionary_find(d, word, n);
	if (*code)
		return 0;
	if (d->n >= max_words || end >= UINT32_MAX)
		return -ENOSPC;
	rc = grow(d, &d->ends, &d->ends_max, d->n + 1, sizeof(*d->ends));
	if (!rc)
		rc = grow(d, &d->chars, &d->chars_max, end + 1, 1);
	if (!rc)
		rc = grow_table(d);
	if (rc)
		return rc;
	memcpy(d->chars + end - n, word, n);
	d->ends[d->n++] = (uint32_t)end;
	if (insert(d, d->n) > SP__PROBES_MAX && !d->strong) {
		d->strong = true;
		memset(d->table, 0, d->slots * sizeof(*d->table));
		insert_all(d);
	}
	*code = d->n;
	return 0;
}

void sp__dictionary_free(struct sp__dictionary *d)
{
	credit(d, d->slots * sizeof(*d->table) + d->ends_max * sizeof(*d->ends) + d->chars_max);
	free(d->table);
	(void)sp__block_resize(d->ends, d->ends_max * sizeof(*d->ends), 0);
	(void)sp__block_resize(d->chars, d->chars_max, 0);
	*d = (struct sp__dictionary){ .budget = d->budget };
}
