/* SPDX-License-Identifier: MIT */
/*
 * Makes keys of the values of a column: bytes whose order is the order of the values.
 *
 * Thread rule: pure; any number of threads.
 */
#pragma once

#include "columns/schema.h"
#include "columns/vector.h"
#include "table/read/ring.h"

#define SP__COLUMNKEY_SPACE 8

/*
 * Returns the key of value i of a column, in space or where the value is.  NULL: the value is NULL.
 */
struct sp__slice sp__columnkey(const struct sp__column *c, const struct sp__vector *v, uint32_t i,
			       uint8_t space[SP__COLUMNKEY_SPACE]);
/*
 * Makes the key of a text that a user gives, in b.  Returns 0; 1: the column cannot have this
 * value; or -ENOMEM.
 */
SP_MUST_CHECK int sp__columnkey_of_text(const struct sp__column *c, const char *text, size_t n,
					struct sp__bytes *b);

/*
 * Scans one column, and gives the keys of its values in the order of the records.
 *
 * Owner: the thread that scans; tasks make the keys.
 */

struct sp__columnscan_opts {
	uint32_t column;
	uint64_t first;	       /* record */
	unsigned memory_share; /* 1 / memory_share of the memory of a scan */
	/* Receives the key of a value that is not NULL.  Returns 0 or an error, recorded. */
	int (*each)(void *arg, uint64_t record, const char *key, size_t bytes);
	void *arg;
};

/*
 * Gives values of deleted records, too.  Returns 0, the error of each(), or one that is recorded in
 * err: SP_ECORRUPT, -ENOMEM, -errno.
 */
SP_MUST_CHECK int sp__columnscan(struct sp__tablefile *f, const struct sp__columnscan_opts *o,
				 struct sp_table_stats *stats, struct sp_errinfo *err);
