/* SPDX-License-Identifier: MIT */
/*
 * Checks pages of an index one by one, in batches: their checksums, and the entries of leaves.
 *
 * What concerns several batches or the tree is left to the caller (indexcheck.c).
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "base/mem.h"
#include "base/task.h"
#include "index/lookup.h"
#include "index/node.h"

#define SP__LEAFCHECK_BYTES ((size_t)256 << 10)

/* A page that was checked. */
struct sp__leafcheck_page {
	struct sp__node node;
	uint64_t separator; /* of a leaf, from the leaf before it in the batch; a checksum */
};

struct sp__leafcheck {
	/* Set by the caller: */
	uint32_t page_bytes;
	uint64_t number; /* of the first page */
	size_t n;
	uint8_t *pages;
	/* Results: */
	struct sp__leafcheck_page *list; /* SP__LEAFCHECK_BYTES / page_bytes of them */
	size_t good;			 /* pages before the first bad one */
	const char *reason;		 /* why that one is bad; NULL: there is no memory */
	size_t first_leaf;		 /* n: there is none */
	struct sp__bytes first, last;	 /* keys */
	uint64_t first_offset, last_offset;
	uint64_t entries, keys, sum;
	/* Private: */
	struct sp__bytes key;
	struct sp__task task;
	bool busy;
};

SP_MUST_CHECK int sp__leafcheck_init(struct sp__leafcheck *b, uint32_t page_bytes);
void sp__leafcheck_free(struct sp__leafcheck *b);
/* Checks the pages of a batch. */
void sp__leafcheck_run(void *b);

/* Returns the checksum of an entry of a leaf, or of a record. */
uint64_t sp__leafcheck_sum(const void *key, size_t bytes, const struct sp__keymatch *match);
/* Returns the checksum of a separator. */
uint64_t sp__leafcheck_separator(const struct sp__bytes *key, size_t bytes, bool repeated);
/* Sets key to the whole key of an entry. */
SP_MUST_CHECK int sp__leafcheck_key(const struct sp__node *n, const struct sp__nodeentry *e,
				    struct sp__bytes *key);
