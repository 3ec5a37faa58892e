/* SPDX-License-Identifier: MIT */
/*
 * The keys of records that were appended after an index had been made, sorted.
 */
#pragma once

#include "base/mem.h"
#include "table/file/file.h"

struct sp__appended_key {
	uint64_t record;
	size_t at; /* in keys */
	uint32_t bytes;
};

/* Zeroed: none. */
struct sp__appended {
	struct sp__bytes keys;
	struct sp__appended_key *list; /* in the order of keys, then of records */
	size_t n, capacity;
	uint64_t max_bytes; /* of memory; set before reading */
};

/*
 * Reads the records from `first` on.  Returns 0; SP_EBUDGET if they need more than max_bytes, not
 * recorded; or an error of the scan, recorded.
 */
SP_MUST_CHECK int sp__appended_read(struct sp__appended *a, struct sp__tablefile *f,
				    uint32_t column, uint64_t first, struct sp_table_stats *stats,
				    struct sp_errinfo *err);
void sp__appended_free(struct sp__appended *a);
/* Returns the first element whose key is not less. */
size_t sp__appended_find(const struct sp__appended *a, const char *key, size_t bytes);
/* True if element i exists and has this key. */
bool sp__appended_is(const struct sp__appended *a, size_t i, const char *key, size_t bytes);
