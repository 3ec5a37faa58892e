/* SPDX-License-Identifier: MIT */
/*
 * Keeps keys in a hash table.
 *
 * A value of at most 8 bytes is compared by its bits: both zeros are one key, and so are all NaNs.
 * Texts are compared byte by byte; the code of a dictionary stands for its word.
 *
 * If the search for a key that is added is long, all keys are hashed by the strong hash.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "columns/vector.h"
#include "table/change/keyset.h"

#define SHOWN 40 /* bytes of a key in a message */

static bool is_text(const struct sp__key_set *k)
{
	return k->column->type.kind == 't' || k->column->type.kind == 'c';
}

void sp__key_set_open(struct sp__key_set *k, const struct sp__column *column,
		      struct sp__budget *budget)
{
	*k = (struct sp__key_set){ .column = column, .budget = budget };
	k->table.secret = sp__key_secret();
}

void sp__key_set_close(struct sp__key_set *k)
{
	if (k->budget)
		sp__budget_credit(k->budget, k->charged);
	sp__bytes_release(&k->texts, k->budget);
	free(k->keys);
	sp__hashtable_close(&k->table);
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

static uint64_t hash_of(const struct sp__key_set *k, const struct sp__table_key *key,
			const char *text)
{
	if (is_text(k))
		return sp__hashtable_hash(&k->table, text, key->bytes);
	return k->table.strong ? sp__key_hash_strong((const char *)&key->bits, sizeof(key->bits))
			       : sp__mix64(key->bits ^ k->table.secret->seed);
}

static bool same(const struct sp__key_set *k, const struct sp__table_key *other,
		 const struct sp__table_key *key, const char *text)
{
	if (!is_text(k))
		return other->bits == key->bits;
	return other->bytes == key->bytes && !memcmp(k->texts.data + other->text, text, key->bytes);
}

/* Returns the slot of a key with this hash, or where it belongs; there are slots. */
static inline uint64_t *find_slot(const struct sp__key_set *k, uint64_t hash,
				  const struct sp__table_key *key, const char *text)
{
	return SP__HASHTABLE_FIND(&k->table, hash, number,
				  same(k, &k->keys[number - 1], key, text));
}

/* Returns the number of the key, or SP__NO_KEY. */
static inline uint32_t find(const struct sp__key_set *k, const struct sp__table_key *key,
			    const char *text)
{
	if (!k->table.nslots)
		return SP__NO_KEY;
	return (uint32_t)*find_slot(k, hash_of(k, key, text), key, text) - 1;
}

/* Hashes all keys by the strong hash. */
static void strengthen(struct sp__key_set *k)
{
	k->table.strong = true;
	sp__hashtable_empty(&k->table);
	for (uint32_t i = 0; i < k->n; i++)
		if (k->keys[i].possible)
			sp__hashtable_put(&k->table, hash_of(k, &k->keys[i], sp__key_text(k, i).p),
					  i + 1);
}

/* Puts a key into the table. */
static void put(struct sp__key_set *k, uint32_t number, const char *text)
{
	const struct sp__table_key *key = &k->keys[number];
	const uint64_t hash = hash_of(k, key, text);
	uint64_t *slot = find_slot(k, hash, key, text);

	sp__hashtable_fill(slot, hash, number + 1);
	if (sp__hashtable_is_long(&k->table, hash, slot))
		strengthen(k);
}

static int no_memory(struct sp_errinfo *err)
{
	return sp__err(err, -ENOMEM, "allocate", NULL, -1);
}

/* Makes space for one more key. */
static int grow(struct sp__key_set *k, struct sp_errinfo *err)
{
	const uint64_t slots = sp__hashtable_growth(&k->table);
	const uint64_t more = slots + slots / sizeof(uint64_t) * sizeof(*k->keys) / 2;

	if (!SP__ARRAY_GROW_BY_ONE(k->keys, k->n))
		return no_memory(err);
	if (!sp__hashtable_is_full(&k->table, k->n))
		return 0;
	if (k->n && k->charged + more + k->texts.bytes > k->budget->limit_bytes / 2)
		return sp__errf(err, SP_EBUDGET, "choose", NULL, -1,
				"more than %u keys: give more memory", k->n);
	if (sp__hashtable_grow(&k->table))
		return no_memory(err);
	sp__budget_charge(k->budget, more);
	k->charged += more;
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

/* Computes bits and possible of a key, and widens the range of keys. */
static int evaluate(struct sp__key_set *k, struct sp__table_key *key, const char *text, size_t n,
		    struct sp_errinfo *err)
{
	const struct sp__value_type *t = &k->column->type;
	enum sp__value_fit fit;
	uint8_t value[8];

	if (is_text(k)) {
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
		key->bits = sp__dictionary_find(&k->column->words, text, n);
		key->possible = key->bits > 0;
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
	key->bits = bits_of(t, value);
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
	*number = key.possible ? find(k, &key, text) : SP__NO_KEY;
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
	if (key.possible)
		put(k, *number, text);
	return 0;
}

uint32_t sp__key_set_find(const struct sp__key_set *k, const struct sp__vector *v, uint32_t i)
{
	const struct sp__value_type *t = &k->column->type;
	const uint8_t *value = sp__vector_at(v, i);
	struct sp__table_key key = { 0 };
	struct sp__slice text;

	if (is_text(k)) {
		text = sp__column_text(k->column, v, i);
		key.bytes = (uint32_t)text.n;
		return text.p ? find(k, &key, text.p) : SP__NO_KEY;
	}
	if (t->kind == 'w')
		memcpy(&key.bits, value, t->bytes);
	else
		key.bits = bits_of(t, value);
	if (t->kind == 'w' ? !key.bits : sp__value_null(t, value))
		return SP__NO_KEY;
	return find(k, &key, "");
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
