/* SPDX-License-Identifier: MIT */
/*
 * Loads a tree in bulk.
 *
 * Leaves are made range by range; the last one is kept in memory, and so is one node of
 * each level above.  A full node is written as the next page of the file, and becomes an entry of
 * the level above.  So leaves are stored in the order of their keys, inner nodes are stored between
 * them, and the root is the last page.
 *
 * The separator of two nodes is the shortest prefix of the key after it that is greater than the
 * key before it.  If both keys are equal, the separator is that key, and its entry is marked
 * repeated, so a search begins in the previous node.
 *
 * Rejected: a link from each leaf to the next one.  The page of the next leaf is not known when a
 * leaf is written, and a scan that reads the pages in order finds that leaf anyway.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "index/indexwrite.h"
#include "index/node.h"
#include "index/tree.h"
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

int sp__tree_init(struct sp__tree *t, struct sp__wstream *out, struct sp__index_header *header)
{
	*t = (struct sp__tree){ .out = out,
				.header = header,
				.page = malloc(header->page_bytes),
				.leaf = malloc(header->page_bytes) };
	header->levels = 1;
	header->end_page = header->header_bytes / header->page_bytes;
	if (!t->page || !t->leaf || sp__nodefill_init(&t->level[0].fill, header->page_bytes, 0))
		return -ENOMEM;
	sp__nodefill_take(&t->level[0].fill, t->leaf); /* empty, unless another one replaces it */
	return 0;
}

void sp__tree_free(struct sp__tree *t)
{
	for (unsigned i = 0; i < SP__NODE_LEVELS; i++) {
		sp__nodefill_free(&t->level[i].fill);
		sp__bytes_release(&t->level[i].separator, NULL);
	}
	sp__bytes_release(&t->last, NULL);
	free(t->page);
	free(t->leaf);
	*t = (struct sp__tree){ 0 };
}

static const uint8_t *bytes_of(const struct sp__bytes *b)
{
	return (const uint8_t *)b->data;
}

static int write_node(struct sp__tree *t, unsigned level)
{
	uint8_t *page = level ? t->page : t->leaf;

	if (level)
		sp__nodefill_take(&t->level[level].fill, page);
	else
		t->header->last_leaf = t->header->end_page;
	sp__node_seal(page, t->header->page_bytes, t->header->end_page);
	t->level[level].written++;
	t->header->root = t->header->end_page++;
	return sp__wstream_put(t->out, page, t->header->page_bytes);
}

/* Adds the node written last as an entry of the level above. */
static int add_above(struct sp__tree *t, unsigned below)
{
	const struct sp__treelevel *child = &t->level[below];
	unsigned level = below + 1;
	struct sp__treelevel *l = &t->level[level];
	uint64_t page = t->header->root;
	int rc = 0;

	if (level == t->header->levels) {
		rc = sp__nodefill_init(&l->fill, t->header->page_bytes, level);
		t->header->levels++;
	}
	if (rc || sp__nodefill_add(&l->fill, bytes_of(&child->separator), child->separator.bytes,
				   page, child->repeated))
		return rc;
	rc = write_node(t, level);
	if (!rc)
		rc = add_above(t, level);
	if (!rc)
		rc = sp__bytes_set(&l->separator, child->separator.data, child->separator.bytes,
				   NULL);
	l->repeated = child->repeated;
	if (!rc && !sp__nodefill_add(&l->fill, bytes_of(&child->separator), child->separator.bytes,
				     page, child->repeated))
		rc = SP_ESTATE;
	return rc;
}

/* Writes the last leaf, and keeps another one. */
static int put_leaf(struct sp__tree *t, const uint8_t *page, const char *separator, size_t bytes,
		    bool repeated)
{
	int rc = 0;

	if (t->header->records) {
		rc = write_node(t, 0);
		if (!rc)
			rc = add_above(t, 0);
		if (!rc)
			rc = sp__bytes_set(&t->level[0].separator, separator, bytes, NULL);
	}
	t->level[0].repeated = repeated;
	memcpy(t->leaf, page, t->header->page_bytes);
	return rc;
}

int sp__tree_put(struct sp__tree *t, const struct sp__leafrange *r)
{
	const uint8_t *page = (const uint8_t *)r->pages.data;
	bool repeated = t->header->records && !sp__order_bytes(t->last.data, t->last.bytes,
							       r->first.data, r->first.bytes);
	int rc = put_leaf(t, page, r->first.data, sp__separator_bytes(&t->last, &r->first),
			  repeated);

	t->header->records += r->records;
	t->header->keys += r->keys - repeated;
	for (size_t i = 1; !rc && i < r->n; i++) {
		const struct sp__rangeleaf *l = &r->leaves[i];

		page += t->header->page_bytes;
		rc = put_leaf(t, page, r->separators.data + l->separator, l->bytes, l->repeated);
	}
	return rc ? rc : sp__bytes_set(&t->last, r->last.data, r->last.bytes, NULL);
}

int sp__tree_finish(struct sp__tree *t)
{
	int rc = 0;

	for (unsigned level = 0; !rc && level < t->header->levels; level++) {
		bool root = level + 1 == t->header->levels && !t->level[level].written;

		rc = write_node(t, level);
		if (!rc && !root)
			rc = add_above(t, level);
	}
	return rc;
}
