/* SPDX-License-Identifier: MIT */
/*
 * Compares records directly: key by key, then as a whole.  It does not depend on the encoders, so
 * that tests can compare the two.
 */
#include <stdlib.h>
#include <string.h>
#include "rec/keyset.h"

/* From this size on, the copy of two texts for strcoll() is worth avoiding. */
#define LONG_TEXTS SP__KEY_MAX

/*
 * The text of one key, in memory of its own if it cannot be compared in the record.  Without memory
 * the text stays as it is in the record: the function cannot report errors, so it risks a wrong
 * order.
 */
struct text {
	const char *s;
	size_t n;
	struct sp__keybuf own;
};

static int compare_collated(const struct sp_keyset *ks, const char *a, size_t an, const char *b,
			    size_t bn)
{
	if (!an || !bn)
		return (an > 0) - (bn > 0);
	if (an + bn >= LONG_TEXTS && ks->collate)
		return sp__collate_compare_long(ks->collate, a, an, b, bn);
	return sp__collate_compare(a, an, b, bn);
}

static int compare_random(const struct sp_keyset *ks, const struct text *a, const struct text *b)
{
	unsigned char da[16] = { 0 }, db[16] = { 0 };
	struct sp__keybuf scratch = { 0 };

	if (sp__random_digest(ks, a->s, a->n, &scratch, da) ||
	    sp__random_digest(ks, b->s, b->n, &scratch, db))
		memset(da, 0, sizeof(da));
	sp__keybuf_release(&scratch);
	return memcmp(da, db, sizeof(da));
}

/* Compares numbers in texts of JSON, which can have exponents. */
static int compare_numeric(const struct text *a, const struct text *b)
{
	const char *p = a->s, *q = b->s;
	const size_t n = sp__json_numeric(&p, a->n), m = sp__json_numeric(&q, b->n);

	return sp__json_compare_numbers(p, n, q, m);
}

static int compare_texts(const struct sp_keyset *ks, const struct sp__comp *c, const struct text *a,
			 const struct text *b)
{
	const char *end;

	switch (c->key.type) {
	case SP_KEY_NUMERIC:
		if (ks->json)
			return compare_numeric(a, b);
		return sp__number_compare(ks, a->s, a->s + a->n, b->s, b->s + b->n);
	case SP_KEY_HUMAN:
		return sp__human_compare(ks, a->s, a->s + a->n, b->s, b->s + b->n);
	case SP_KEY_GENERAL:
		return sp__general_compare(a->s, a->n, b->s, b->n);
	case SP_KEY_MONTH:
		return sp__month_of(ks, a->s, a->s + a->n, &end) -
		       sp__month_of(ks, b->s, b->s + b->n, &end);
	case SP_KEY_VERSION:
		return sp__version_compare(a->s, a->n, b->s, b->n);
	case SP_KEY_RANDOM:
		return compare_random(ks, a, b);
	case SP_KEY_TIME:
		return sp__moment_compare(a->s, a->n, b->s, b->n);
	default:
		if (c->collated)
			return compare_collated(ks, a->s, a->n, b->s, b->n);
		return sp__text_compare(c, a->s, a->n, b->s, b->n);
	}
}

static int reversed(const struct sp_key *k, int diff)
{
	return k->reverse ? (diff < 0) - (diff > 0) : diff;
}

/* Orders an empty text and another one. */
static int compare_empty(const struct sp_key *k, const struct text *a)
{
	return !a->n == (k->empty == SP_EMPTY_FIRST) ? -1 : 1;
}

/* Finds the value of a key; missing if the record is not JSON. */
static struct sp__json_value find_value(const struct sp_keyset *ks, const struct sp__comp *c,
					const char *rec, size_t bytes)
{
	struct sp__json_value values[SP__JSON_KEYS];
	struct sp__json_error unused;

	if (sp__json_find(ks->json, rec, bytes, SP__JSON_CHECK_FOUND, values, &unused))
		return (struct sp__json_value){ .p = "" };
	return values[c->path];
}

/* Compares arrays or objects; without memory, by their bytes, so that no two seem to be equal. */
static int compare_nested(const struct sp__json_value *a, const struct sp__json_value *b)
{
	struct sp__keybuf ka = { .uncut = true }, kb = { .uncut = true };
	int diff;

	if (sp__json_encode(a, &ka) || sp__json_encode(b, &kb))
		diff = sp__order_bytes(a->p, a->n, b->p, b->n);
	else
		diff = sp__order_bytes(ka.data, ka.bytes, kb.data, kb.bytes);
	sp__keybuf_release(&ka);
	sp__keybuf_release(&kb);
	return diff;
}

static int compare_typed(const struct sp__json_value *a, const struct sp__json_value *b)
{
	const int kind = (int)a->kind < (int)SP__JSON_NULL ? SP__JSON_NULL : (int)a->kind;
	const int other = (int)b->kind < (int)SP__JSON_NULL ? SP__JSON_NULL : (int)b->kind;

	if (kind != other)
		return kind - other;
	if (kind == SP__JSON_NUMBER)
		return sp__json_compare_numbers(a->p, a->n, b->p, b->n);
	if (kind == SP__JSON_TEXT)
		return sp__json_compare_texts(a, b);
	return kind < SP__JSON_ARRAY ? 0 : compare_nested(a, b);
}

static int compare_values(const struct sp_keyset *ks, const struct sp__comp *c, const char *a,
			  size_t abytes, const char *b, size_t bbytes)
{
	const struct sp__json_value va = find_value(ks, c, a, abytes);
	const struct sp__json_value vb = find_value(ks, c, b, bbytes);
	const bool empty = va.kind <= SP__JSON_NULL, other = vb.kind <= SP__JSON_NULL;

	if (c->key.empty && empty != other)
		return empty == (c->key.empty == SP_EMPTY_FIRST) ? -1 : 1;
	return reversed(&c->key, compare_typed(&va, &vb));
}

/* Compares one key, reversal included. */
static int compare_one(const struct sp_keyset *ks, const struct sp__comp *c, const char *a,
		       size_t abytes, const char *b, size_t bbytes)
{
	struct text ta = { 0 }, tb = { 0 };
	int diff;

	if (c->typed)
		return compare_values(ks, c, a, abytes, b, bbytes);
	(void)sp__key_text(ks, c, a, abytes, &ta.own, &ta.s, &ta.n);
	(void)sp__key_text(ks, c, b, bbytes, &tb.own, &tb.s, &tb.n);
	if (c->key.empty && !ta.n != !tb.n)
		diff = compare_empty(&c->key, &ta);
	else
		diff = reversed(&c->key, compare_texts(ks, c, &ta, &tb));
	sp__keybuf_release(&ta.own);
	sp__keybuf_release(&tb.own);
	return diff;
}

int sp__key_compare(const struct sp_keyset *ks, const char *a, size_t abytes, const char *b,
		    size_t bbytes)
{
	const size_t skip = ks->pub.skip;
	int diff = 0;

	a += skip;
	b += skip;
	abytes -= skip;
	bbytes -= skip;
	for (size_t i = 0; i < ks->nkeys && !diff; i++) {
		const struct sp__comp *c = &ks->comp[i];

		if (ks->pub.format.kind == SP_REC_FIXED)
			diff = sp__bkey_compare(&c->key, a, b);
		else
			diff = compare_one(ks, c, a, abytes, b, bbytes);
	}
	return diff;
}

int sp__key_last_resort(const struct sp_keyset *ks, const char *a, size_t abytes, const char *b,
			size_t bbytes)
{
	int diff;

	if (!ks->pub.last_resort)
		return 0;
	if (ks->strcoll)
		diff = compare_collated(ks, a, abytes, b, bbytes);
	else
		diff = sp__order_bytes(a, abytes, b, bbytes);
	if (!diff)
		return 0;
	return (diff < 0) != ks->pub.last_reverse ? -1 : 1;
}

int sp_keyset_compare(const struct sp_keyset *ks, const char *a, size_t abytes, const char *b,
		      size_t bbytes)
{
	int diff = sp__key_compare(ks, a, abytes, b, bbytes);

	return diff ? diff : sp__key_last_resort(ks, a, abytes, b, bbytes);
}
