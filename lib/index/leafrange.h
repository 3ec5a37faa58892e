/* SPDX-License-Identifier: MIT */
/*
 * Makes the leaves of a range of sorted entries.
 *
 * Ranges are consecutive.  One ends with the first entry at or after byte SP__LEAFRANGE_BYTES of
 * its lines (entrysort.c), and its last leaf is not continued in the next range.  So the leaves
 * depend on the entries alone, and ranges can be made concurrently.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "base/mem.h"
#include "base/minmax.h"
#include "index/node.h"

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
