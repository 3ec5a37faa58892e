/* SPDX-License-Identifier: MIT */
/*
 * Finds the range of keys of a column whose records a predicate chooses.
 *
 * Thread rule: pure; any number of threads.
 */
#pragma once

#include "base/mem.h"
#include "table/where/predicate.h"

/* A range of keys (columnkey.h); zeroed: all keys. */
struct sp__keyrange {
	uint32_t column;
	bool empty;
	bool has_low, has_high;
	bool open; /* a key that is equal to high is not in the range */
	struct sp__bytes low, high;
};

/*
 * Finds the range of a predicate: comparisons of one column with literals, joined by "and", each of
 * which is true for consecutive values.  The predicate is true for the records of these keys, and
 * for no other one.  Returns 0; 1: the predicate is not such a range; or -ENOMEM.  To be freed in
 * each case.
 */
SP_MUST_CHECK int sp__keyrange_find(struct sp__keyrange *r, const struct sp__predicate *w,
				    const struct sp__table_schema *schema);
/* True if a key is in the range; that of NULL, NULL, is not. */
bool sp__keyrange_has(const struct sp__keyrange *r, struct sp__slice key);
void sp__keyrange_free(struct sp__keyrange *r);
