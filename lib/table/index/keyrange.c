/* SPDX-License-Identifier: MIT */
/*
 * Finds the range of keys that a predicate chooses (keyrange.h): each comparison narrows the range
 * of all keys.  The successor of a key in the order of bytes is the key and a byte 0, so that the
 * lower bound is always in the range.
 */
#include "rec/key.h"
#include "table/index/columnkey.h"
#include "table/index/keyrange.h"
#include "table/where/program.h"

#define NO_RANGE 1

static int narrow_low(struct sp__keyrange *r, struct sp__slice key, bool open)
{
	/* No key is between a key and the one with a byte 0 behind it. */
	const int order = r->has_low ? sp__order_bytes(key.p, key.n, r->low.data, r->low.bytes) : 1;

	if (order < 0 || (!order && !open))
		return 0;
	r->has_low = true;
	if (sp__bytes_set(&r->low, key.p, key.n, NULL))
		return -ENOMEM;
	return open ? sp__bytes_append(&r->low, "", 1, NULL) : 0;
}

static int narrow_high(struct sp__keyrange *r, struct sp__slice key, bool open)
{
	const int order =
		r->has_high ? sp__order_bytes(key.p, key.n, r->high.data, r->high.bytes) : -1;

	if (order > 0 || (!order && !open))
		return 0;
	r->has_high = true;
	r->open = open;
	return sp__bytes_set(&r->high, key.p, key.n, NULL);
}

/* Narrows the range to keys that have one of these orders to a key. */
static int narrow(struct sp__keyrange *r, struct sp__slice key, unsigned orders)
{
	const bool open = !(orders & SP__ORDER_EQUAL);
	int rc = 0;

	if (orders == (SP__ORDER_LESS | SP__ORDER_MORE))
		return NO_RANGE;
	r->empty |= !orders;
	if (!(orders & SP__ORDER_LESS))
		rc = narrow_low(r, key, open);
	if (!rc && !(orders & SP__ORDER_MORE))
		rc = narrow_high(r, key, open);
	return rc;
}

/* Narrows the range to keys that begin with a text. */
static int narrow_prefix(struct sp__keyrange *r, struct sp__slice text)
{
	struct sp__bytes end = { 0 };
	int rc = narrow_low(r, text, false);

	while (text.n && (uint8_t)text.p[text.n - 1] == UINT8_MAX)
		text.n--;
	if (rc || !text.n)
		return rc;
	rc = sp__bytes_set(&end, text.p, text.n, NULL);
	if (!rc) {
		end.data[text.n - 1] = (char)((uint8_t)end.data[text.n - 1] + 1);
		rc = narrow_high(r, (struct sp__slice){ end.data, end.bytes }, true);
	}
	sp__bytes_release(&end, NULL);
	return rc;
}

/* NULL, which has no key, is the least number of a type with a sign, or the greatest one. */
static int narrow_numbers(struct sp__keyrange *r, const struct sp__table_column *c,
			  const struct sp__predicate_step *s)
{
	const struct sp__vector low = { .data = (const uint8_t *)&s->low };
	const struct sp__vector high = { .data = (const uint8_t *)&s->high };
	uint8_t space[SP__COLUMNKEY_SPACE];
	struct sp__slice key;
	int rc = 0;

	if (s->negated)
		return NO_RANGE;
	key = sp__columnkey(c, &low, 0, space);
	r->empty |= s->empty || (!key.p && sp__predicate_unsigned(&c->type));
	if (key.p)
		rc = narrow_low(r, key, false);
	key = sp__columnkey(c, &high, 0, space);
	r->empty |= !key.p && !sp__predicate_unsigned(&c->type);
	return rc || !key.p ? rc : narrow_high(r, key, false);
}

static int narrow_floats(struct sp__keyrange *r, const struct sp__table_column *c,
			 const struct sp__predicate_step *s)
{
	const float narrow_number = (float)s->number;
	const bool is_narrow = c->type.bytes == sizeof(narrow_number);
	const struct sp__vector v = { .data = is_narrow ? (const uint8_t *)&narrow_number
							: (const uint8_t *)&s->number };
	uint8_t space[SP__COLUMNKEY_SPACE];
	const struct sp__slice key = sp__columnkey(c, &v, 0, space);

	return key.p ? narrow(r, key, s->orders) : NO_RANGE;
}

/* Finds the least and the greatest word that are chosen.  False: a word between them is not. */
static bool chosen_words(const struct sp__dictionary *d, const struct sp__predicate_step *s,
			 struct sp__slice *least, struct sp__slice *greatest)
{
	*least = *greatest = (struct sp__slice){ NULL, 0 };
	for (uint32_t code = 1; code < s->n; code++) {
		const struct sp__slice word = sp__dictionary_word(d, code);

		if (s->words[code] != SP__TRUE)
			continue;
		if (!least->p || sp__order_bytes(word.p, word.n, least->p, least->n) < 0)
			*least = word;
		if (!greatest->p || sp__order_bytes(word.p, word.n, greatest->p, greatest->n) > 0)
			*greatest = word;
	}
	for (uint32_t code = 1; least->p && code < s->n; code++) {
		const struct sp__slice word = sp__dictionary_word(d, code);

		if (s->words[code] != SP__TRUE &&
		    sp__order_bytes(word.p, word.n, least->p, least->n) > 0 &&
		    sp__order_bytes(word.p, word.n, greatest->p, greatest->n) < 0)
			return false;
	}
	return true;
}

static int narrow_words(struct sp__keyrange *r, const struct sp__table_column *c,
			const struct sp__predicate_step *s)
{
	struct sp__slice least, greatest;
	int rc;

	if (!chosen_words(&c->words, s, &least, &greatest))
		return NO_RANGE;
	r->empty |= !least.p;
	if (!least.p)
		return 0;
	rc = narrow_low(r, least, false);
	return rc ? rc : narrow_high(r, greatest, false);
}

static int narrow_step(struct sp__keyrange *r, const struct sp__table_column *c,
		       const struct sp__predicate_step *s)
{
	const struct sp__slice text = { s->text, s->text_bytes };

	switch (s->kind) {
	case SP__STEP_RANGE:
		return narrow_numbers(r, c, s);
	case SP__STEP_FLOAT:
		return narrow_floats(r, c, s);
	case SP__STEP_TEXT:
		return s->prefix ? narrow_prefix(r, text) : narrow(r, text, s->orders);
	case SP__STEP_WORD:
		return narrow_words(r, c, s);
	default:
		return NO_RANGE;
	}
}

int sp__keyrange_find(struct sp__keyrange *r, const struct sp__predicate *w,
		      const struct sp__table_schema *schema)
{
	int rc = 0, order;

	*r = (struct sp__keyrange){ .column = w->steps[0].column };
	for (size_t i = 0; !rc && i < w->n; i++) {
		const struct sp__predicate_step *s = &w->steps[i];

		if (s->kind != SP__STEP_AND)
			rc = s->column == r->column ? narrow_step(r, &schema->columns[r->column], s)
						    : NO_RANGE;
	}
	if (rc)
		return rc;
	r->has_low &= r->low.bytes > 0; /* no key is less than an empty one */
	if (r->has_high) {
		order = sp__order_bytes(r->low.data, r->low.bytes, r->high.data, r->high.bytes);
		r->empty |= order > 0 || (!order && r->open);
	}
	return 0;
}

bool sp__keyrange_has(const struct sp__keyrange *r, struct sp__slice key)
{
	int order;

	if (!key.p || r->empty ||
	    (r->has_low && sp__order_bytes(key.p, key.n, r->low.data, r->low.bytes) < 0))
		return false;
	order = r->has_high ? sp__order_bytes(key.p, key.n, r->high.data, r->high.bytes) : -1;
	return order < 0 || (!order && !r->open);
}

void sp__keyrange_free(struct sp__keyrange *r)
{
	sp__bytes_release(&r->low, NULL);
	sp__bytes_release(&r->high, NULL);
}
