/* SPDX-License-Identifier: MIT */
/*
 * Scans one column, and gives the keys of its values in the order of the records.
 *
 * Owner: the thread that scans; tasks make the keys.
 */
#pragma once

#include "table/index/columnkey.h"
#include "table/read/ring.h"

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
