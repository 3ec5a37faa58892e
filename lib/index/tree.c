/* SPDX-License-Identifier: MIT */
/*
 * Loads a tree in bulk.
 *
 * Each level has one node in memory.  A full node is written as the next page of the file, and
 * becomes an entry of the level above.  So leaves are stored in the order of their keys, inner
 * nodes are stored between them, and the root is the last page.
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
#include "base/minmax.h"
#include "index/tree.h"
#include "rec/key.h"

int sp__tree_init(struct sp__tree *t, struct sp__wstream *out, struct sp__index_header *header)
{
	*t = (struct sp__tree){ .out = out, .header = header, .page = malloc(header->page_bytes) };
	header->levels = 1;
	header->end_page = header->header_bytes / header->page_bytes;
	return t->page ? sp__nodefill_init(&t->level[0].fill, header->page_bytes, 0) : -ENOMEM;
}

void sp__tree_free(struct sp__tree *t)
{
	for (unsigned i = 0; i < SP__NODE_LEVELS; i++) {
		sp__nodefill_free(&t->level[i].fill);
		sp__bytes_release(&t->level[i].separator, NULL);
	}
	sp__bytes_release(&t->last, NULL);
	free(t->page);
	*t = (struct sp__tree){ 0 };
}

static const uint8_t *bytes_of(const struct sp__bytes *b)
{
	return (const uint8_t *)b->data;
}

static int write_node(struct sp__tree *t, unsigned level)
{
	sp__nodefill_take(&t->level[level].fill, t->header->end_page, t->page);
	t->level[level].written++;
	if (!level)
		t->header->last_leaf = t->header->end_page;
	t->header->root = t->header->end_page++;
	return sp__wstream_put(t->out, t->page, t->header->page_bytes);
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

/* Sets the separator between the leaf that begins with this key and the previous leaf. */
static int separate(struct sp__tree *t, const uint8_t *key, size_t bytes, bool repeated)
{
	const uint8_t *last = bytes_of(&t->last);
	size_t n = 0;

	while (n < bytes && n < t->last.bytes && key[n] == last[n])
		n++;
	t->level[0].repeated = repeated;
	return sp__bytes_set(&t->level[0].separator, (const char *)key, sp__min(n + 1, bytes),
			     NULL);
}

int sp__tree_put(struct sp__tree *t, const uint8_t *key, size_t bytes, uint64_t offset,
		 uint64_t length)
{
	struct sp__nodefill *leaf = &t->level[0].fill;
	bool repeated =
		t->header->records && !sp__order_bytes(t->last.data, t->last.bytes, key, bytes);
	int rc = 0;

	t->header->records++;
	t->header->keys += !repeated;
	if (!sp__nodefill_add(leaf, key, bytes, offset, length)) {
		rc = write_node(t, 0);
		if (!rc)
			rc = add_above(t, 0);
		if (!rc)
			rc = separate(t, key, bytes, repeated);
		if (!rc && !sp__nodefill_add(leaf, key, bytes, offset, length))
			rc = SP_ESTATE;
	}
	return rc || repeated ? rc : sp__bytes_set(&t->last, (const char *)key, bytes, NULL);
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
