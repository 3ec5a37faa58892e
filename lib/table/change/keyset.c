/* SPDX-License-Identifier: MIT */
/*
 * Keeps keys in a hash table with linear probing, at most half full.
 *
 * A value of at most 8 bytes is compared by its bits: both zeros are one key, and so are all NaNs.
 * Texts are compared byte by byte; the code of a dictionary stands for its word.
 *
 * If a search for a key that is added passes more than SP__PROBES_MAX slots, all keys are hashed by
 * the strong hash.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/keyhash.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "columns/vector.h"
#include "table/change/keyset.h"

#define SHOWN 40 /* bytes of a key in a message */
#define FIRST 64 /* slots */

static bool is_text(const struct sp__key_set *k)
{
	return k->column->type.kind == 't' || k->column->type.kind == 'c';
}

void sp__key_set_open(struct sp__key_set *k, const struct sp__column *column,
		      struct sp__budget *budget)
{
	*k = (struct sp__key_set){ .column = column, .budget = budget, .secret = sp__key_secret() };
}

void sp__key_set_close(struct sp__key_set *k)
{
	if (k->budget)
		sp__budget_credit(k->budget, k->charged);
	sp__bytes_release(&k->texts, k->budget);
	free(k->keys);
	free(k->slots);
	*k = (struct sp__key_set){ 0 };
}

/* Returns the bits of a value of at most 8 bytes. */
static uint64_t bits_of(const struct sp__value_type *t, const void *value)
{
	uint64_t bits = 0;
	double d;
	float f;

	memcpy(&bits, value, t->bytes);
	if (t->kind != 'f')
		return bits;
	if (t->bytes == sizeof(f)) {
		memcpy(&f, value, sizeof(f));
		d = (double)f;
	} else {
		memcpy(&d, value, sizeof(d));
	}
	return isnan(d) ? UINT64_MAX : d == 0 ? 0 : bits;
}

static size_t slot_of(const struct sp__key_set *k, uint64_t hash)
{
	if (k->strong && !is_text(k))
		hash = sp__key_hash_strong((const char *)&hash, sizeof(hash));
	return (size_t)(sp__mix64(hash ^ k->secret->seed) & (k->nslots - 1));
}

static uint64_t hash_text(const struct sp__key_set *k, const char *text, size_t n)
{
	return k->strong ? sp__key_hash_strong(text, n) : sp__key_hash_secret(text, n, k->secret);
}

static bool same(const struct sp__key_set *k, const struct sp__table_key *key, uint64_t hash,
		 const char *text, size_t n)
{
	return key->hash == hash &&
	       (!is_text(k) || (key->bytes == n && !memcmp(k->texts.data + key->text, text, n)));
}

/* Returns the number of a key with this hash and, of a text, with these bytes; or SP__NO_KEY. */
static uint32_t find(const struct sp__key_set *k, uint64_t hash, const char *text, size_t n)
{
	if (!k->nslots)
		return SP__NO_KEY;
	for (size_t i = slot_of(k, hash); k->slots[i]; i = (i + 1) & (k->nslots - 1))
		if (same(k, &k->keys[k->slots[i] - 1], hash, text, n))
			return k->slots[i] - 1;
	return SP__NO_KEY;
}

/* Returns the number of slots that the search for a free one passed. */
static size_t put(struct sp__key_set *k, uint32_t number)
{
	size_t i = slot_of(k, k->keys[number].hash), passed = 0;

	for (; k->slots[i]; passed++)
		i = (i + 1) & (k->nslots - 1);
	k->slots[i] = number + 1;
	return passed;
}

/* Makes the slots again with the strong hash. */
static void strengthen(struct sp__key_set *k)
{
	k->strong = true;
	memset(k->slots, 0, k->nslots * sizeof(*k->slots));
	for (uint32_t i = 0; i < k->n; i++) {
		struct sp__table_key *key = &k->keys[i];

		if (is_text(k))
			key->hash = hash_text(k, k->texts.data + key->text, key->bytes);
		if (key->possible)
			(void)put(k, i);
	}
}

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Makes space for one more key. */
static int grow(struct sp__key_set *k, struct sp_errinfo *err)
{
	size_t nslots = k->nslots ? 2 * k->nslots : FIRST;
	uint64_t bytes = nslots * sizeof(*k->slots) + nslots / 2 * sizeof(*k->keys);
	uint32_t *slots;

	if (k->n < k->nslots / 2)
		return 0;
	if (k->nslots && bytes + k->texts.bytes > k->budget->limit_bytes / 2)
		return sp__errf(err, SP_EBUDGET, "choose", NULL, -1,
				"more than %u keys: give more memory", k->n);
	if (!SP__ARRAY_RESIZE(k->keys, nslots / 2))
		return no_memory(err);
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return no_memory(err);
	free(k->slots);
	k->slots = slots;
	k->nslots = nslots;
	sp__budget_charge(k->budget, bytes - k->charged);
	k->charged = bytes;
	for (uint32_t i = 0; i < k->n; i++)
		if (k->keys[i].possible)
			(void)put(k, i);
	return 0;
}

static void widen(struct sp__key_set *k, const uint8_t *value)
{
	const struct sp__value_type *t = &k->column->type;

	if (!k->any || sp__value_compare(t, value, k->min) < 0)
		memcpy(k->min, value, t->bytes);
	if (!k->any || sp__value_compare(t, value, k->max) > 0)
		memcpy(k->max, value, t->bytes);
}

/* Computes hash and possible of a key, and widens the range of keys. */
static int evaluate(struct sp__key_set *k, struct sp__table_key *key, const char *text, size_t n,
		    struct sp_errinfo *err)
{
	const struct sp__value_type *t = &k->column->type;
	enum sp__value_fit fit;
	uint8_t value[8];

	if (is_text(k)) {
		key->hash = hash_text(k, text, n);
		key->possible = !sp__text_null(text, n) && (t->kind == 't' || n <= t->bytes);
		if (key->possible && k->column->bounds) {
			memset(value, 0, sizeof(value));
			memcpy(value, text, n);
			widen(k, value);
		}
		k->any |= key->possible;
		return 0;
	}
	if (t->kind == 'w') {
		key->hash = sp__dictionary_find(&k->column->words, text, n);
		key->possible = key->hash > 0;
		k->any |= key->possible;
		return 0;
	}
	fit = sp__value_read(t, text, n, value);
	if (fit == SP__VALUE_MALFORMED)
		return sp__errf(err, SP_ESYNTAX, "choose", NULL, -1,
				"'%.*s' is not a value of column %.*s", (int)sp__min(n, SHOWN),
				text, SHOWN, k->column->name);
	if (fit != SP__VALUE_OK)
		return 0;
	key->possible = true;
	key->hash = bits_of(t, value);
	if (k->column->bounds)
		widen(k, value);
	k->any = true;
	return 0;
}

int sp__key_set_add(struct sp__key_set *k, const char *text, size_t n, uint32_t *number,
		    struct sp_errinfo *err)
{
	struct sp__table_key key = { .bytes = (uint32_t)n };
	int rc = evaluate(k, &key, text, n, err);

	if (rc)
		return rc;
	if (n >= UINT32_MAX || k->n == SP__NO_KEY - 1)
		return sp__err(err, -EFBIG, "choose", NULL, -1);
	*number = key.possible ? find(k, key.hash, text, n) : SP__NO_KEY;
	if (*number != SP__NO_KEY)
		return 1;
	rc = grow(k, err);
	if (rc)
		return rc;
	key.text = k->texts.bytes;
	if (sp__bytes_append(&k->texts, text, n, k->budget))
		return no_memory(err);
	*number = k->n++;
	k->keys[*number] = key;
	if (key.possible && put(k, *number) > SP__PROBES_MAX && !k->strong)
		strengthen(k);
	return 0;
}

uint32_t sp__key_set_find(const struct sp__key_set *k, const struct sp__vector *v, uint32_t i)
{
	const struct sp__value_type *t = &k->column->type;
	const uint8_t *value = sp__vector_at(v, i);
	struct sp__slice text;
	uint64_t code = 0;

	if (is_text(k)) {
		text = sp__column_text(k->column, v, i);
		return text.p ? find(k, hash_text(k, text.p, text.n), text.p, text.n) : SP__NO_KEY;
	}
	if (t->kind == 'w') {
		memcpy(&code, value, t->bytes);
		return code ? find(k, code, NULL, 0) : SP__NO_KEY;
	}
	if (sp__value_null(t, value))
		return SP__NO_KEY;
	return find(k, bits_of(t, value), NULL, 0);
}

bool sp__key_set_excludes(const struct sp__key_set *k, const uint8_t *bounds)
{
	const struct sp__value_type *t = &k->column->type;

	if (!k->any || sp__value_null(t, bounds))
		return true;
	return sp__value_compare(t, k->max, bounds) < 0 ||
	       sp__value_compare(t, bounds + 8, k->min) < 0;
}

int sp__key_set_report(const struct sp__key_set *k, uint64_t *found, sp_table_sink absent,
		       void *arg)
{
	int rc = 0;

	*found = 0;
	for (uint32_t i = 0; !rc && i < k->n; i++) {
		const struct sp__slice text = sp__key_text(k, i);

		*found += k->keys[i].found;
		if (!k->keys[i].found && absent)
			rc = absent(arg, text.p, text.n);
	}
	return rc;
}
