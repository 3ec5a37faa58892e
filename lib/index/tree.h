/* SPDX-License-Identifier: MIT */
/*
 * Writes the tree of an index from ranges of leaves.
 */
#pragma once

#include "base/mem.h"
#include "base/minmax.h"
#include "index/indexheader.h"
#include "index/node.h"
#include "io/wstream.h"

/*
 * Makes the leaves of a range of sorted entries.  Ranges are consecutive.  One ends with the first
 * entry at or after byte SP__LEAFRANGE_BYTES of its lines (indexwrite.c), and its last leaf is not
 * continued in the next range.  So the leaves depend on the entries alone, and ranges can be made
 * concurrently.  Thread rule: one thread at a time.
 */
#define SP__LEAFRANGE_BYTES ((size_t)1 << 20)

/* The separator of a leaf and the previous one of its range; the first one has none. */
struct sp__rangeleaf {
	size_t separator, bytes; /* in separators */
	bool repeated;
};

struct sp__leafrange {
	struct sp__bytes entries; /* lines of the entries, set by the caller */
	/* Results: */
	struct sp__bytes pages; /* without numbers and checksums: sp__node_seal() */
	struct sp__rangeleaf *leaves;
	size_t n, capacity;
	struct sp__bytes separators;
	struct sp__bytes first, last; /* keys */
	uint64_t records, keys;	      /* keys: different ones */
	int rc;
	/* Private: */
	struct sp__nodefill fill;
	struct sp__bytes key;
};

/* Returns the bytes of a key that separate it from the key before it. */
static inline size_t sp__separator_bytes(const struct sp__bytes *before,
					 const struct sp__bytes *key)
{
	size_t n = 0;

	while (n < key->bytes && n < before->bytes && key->data[n] == before->data[n])
		n++;
	return sp__min(n + 1, key->bytes);
}
SP_MUST_CHECK int sp__leafrange_init(struct sp__leafrange *r, uint32_t page_bytes);
void sp__leafrange_free(struct sp__leafrange *r);
/* Makes the leaves of r->entries.  Sets r->rc to 0 or -ENOMEM. */
void sp__leafrange_make(void *r);

/* The node of a level that is being filled; of level 0: the last leaf, which is not written yet. */
struct sp__treelevel {
	struct sp__nodefill fill;
	struct sp__bytes separator; /* between this node and the previous one */
	bool repeated;
	uint64_t written; /* nodes */
};

struct sp__tree {
	struct sp__wstream *out;
	struct sp__index_header *header; /* its end_page is the next page; root is set by finish */
	struct sp__treelevel level[SP__NODE_LEVELS];
	struct sp__bytes last; /* the last key */
	uint8_t *page, *leaf;  /* leaf: the last one */
};

/*
 * out: borrowed; its offset is that of the first page, after the header.
 * header: borrowed; its lengths are set.  The tree sets the members that describe it.
 */
SP_MUST_CHECK int sp__tree_init(struct sp__tree *t, struct sp__wstream *out,
				struct sp__index_header *header);
void sp__tree_free(struct sp__tree *t); /* accepts a struct that is all zero */
/* Adds the leaves of the next range.  Their keys have at most sp__node_key_max() bytes. */
SP_MUST_CHECK int sp__tree_put(struct sp__tree *t, const struct sp__leafrange *r);
SP_MUST_CHECK int sp__tree_finish(struct sp__tree *t);
