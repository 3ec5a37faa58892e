/* SPDX-License-Identifier: MIT */
/*
 * Estimates from the tree of an index what a scan of a range reads.
 *
 * Owner: the thread that scans.
 */
#pragma once

#include "index/indexfile.h"
#include "table/file/file.h"
#include "table/index/keyrange.h"

struct sp__keyrange_estimate {
	double records;	 /* of the index, in the range */
	double pages;	 /* of the index, that a scan of the range reads */
	unsigned levels; /* of the tree */
	uint32_t page_bytes;
	uint64_t table_records; /* that the index has, of the table */
};

/* Sets the estimate of a range without records: the least that a scan reads. */
void sp__keyrange_min(struct sp__keyrange_estimate *e, const struct sp__index *ix);
/*
 * Looks up both bounds: one page for each level of the tree.  The number of records is exact if
 * both are in one leaf; leaves between them have the mean number of the index.  Returns 0, or an
 * error: SP_ECORRUPT, -ENOMEM, -errno.
 */
SP_MUST_CHECK int sp__keyrange_estimate(struct sp__keyrange_estimate *e,
					const struct sp__keyrange *r, const struct sp__index *ix,
					const struct sp__tablefile *f, struct sp_table_stats *stats,
					struct sp_errinfo *err);
