/* SPDX-License-Identifier: MIT */
/*
 * Fills leaves with the entries of a range (leafrange.h).
 *
 * The separator of two leaves is the shortest prefix of the key after it that is greater than the
 * key before it (tree.c).
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "index/entrysort.h"
#include "index/leafrange.h"
#include "rec/key.h"

int sp__leafrange_init(struct sp__leafrange *r, uint32_t page_bytes)
{
	*r = (struct sp__leafrange){ 0 };
	return sp__nodefill_init(&r->fill, page_bytes, 0);
}

void sp__leafrange_free(struct sp__leafrange *r)
{
	sp__nodefill_free(&r->fill);
	sp__bytes_release(&r->entries, NULL);
	sp__bytes_release(&r->pages, NULL);
	sp__bytes_release(&r->separators, NULL);
	sp__bytes_release(&r->first, NULL);
	sp__bytes_release(&r->last, NULL);
	sp__bytes_release(&r->key, NULL);
	free(r->leaves);
	*r = (struct sp__leafrange){ 0 };
}

/* Ends the leaf that is being filled. */
static int end_leaf(struct sp__leafrange *r)
{
	size_t page = r->fill.page_bytes;

	if (sp__bytes_reserve(&r->pages, r->pages.bytes + page, NULL))
		return -ENOMEM;
	sp__nodefill_take(&r->fill, (uint8_t *)r->pages.data + r->pages.bytes);
	r->pages.bytes += page;
	return 0;
}

/* Begins a leaf with r->key, behind the key r->last. */
static int begin_leaf(struct sp__leafrange *r, bool repeated)
{
	struct sp__rangeleaf leaf = { .separator = r->separators.bytes, .repeated = repeated };

	if (!SP__ARRAY_GROW(r->leaves, r->capacity, r->n + 1))
		return -ENOMEM;
	if (r->n)
		leaf.bytes = sp__separator_bytes(&r->last, &r->key);
	r->leaves[r->n++] = leaf;
	return sp__bytes_append(&r->separators, r->key.data, leaf.bytes, NULL);
}

static int add_entry(struct sp__leafrange *r, const struct sp__keymatch *match)
{
	const uint8_t *key = (const uint8_t *)r->key.data;
	const bool repeated = r->records && !sp__order_bytes(r->last.data, r->last.bytes,
							     r->key.data, r->key.bytes);
	struct sp__bytes swap = r->last;
	int rc = 0;

	if (!r->records)
		rc = sp__bytes_set(&r->first, r->key.data, r->key.bytes, NULL);
	if (!r->records ||
	    !sp__nodefill_add(&r->fill, key, r->key.bytes, match->offset, match->bytes)) {
		if (!rc && r->records)
			rc = end_leaf(r);
		if (!rc)
			rc = begin_leaf(r, repeated);
		if (!rc &&
		    !sp__nodefill_add(&r->fill, key, r->key.bytes, match->offset, match->bytes))
			rc = SP_ESTATE;
	}
	r->records++;
	r->keys += !repeated;
	r->last = r->key;
	r->key = swap;
	return rc;
}

void sp__leafrange_make(void *arg)
{
	struct sp__leafrange *r = arg;
	const char *at = r->entries.data, *end = at + r->entries.bytes;
	struct sp__keymatch match;
	int rc = 0;

	r->pages.bytes = r->separators.bytes = r->last.bytes = 0;
	r->n = r->records = r->keys = 0;
	while (!rc && at < end) {
		rc = sp__entry_decode(&at, &r->key, &match);
		if (!rc)
			rc = add_entry(r, &match);
	}
	r->rc = rc ? rc : end_leaf(r);
}
