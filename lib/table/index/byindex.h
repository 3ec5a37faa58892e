/* SPDX-License-Identifier: MIT */
/*
 * Scans records whose value of a column is in a range, through the index of the column.
 *
 * Owner: the thread that scans.
 */
#pragma once

#include <spindle/table.h>
#include "base/mem.h"
#include "columns/predicate.h"
#include "index/indexfile.h"
#include "io/queue.h"
#include "table/read/scan.h"

/*
 * Finds the range of keys of a column whose records a predicate chooses.
 *
 * Thread rule: pure; any number of threads.
 */

/* A range of keys (columnkey.h); zeroed: all keys. */
struct sp__keyrange {
	uint32_t column;
	bool empty;
	bool has_low, has_high;
	bool open; /* a key that is equal to high is not in the range */
	struct sp__bytes low, high;
};

/* What a scan of a range reads. */
struct sp__keyrange_estimate {
	double records;	 /* records of the index in the range */
	double pages;	 /* pages of the index that a scan of the range reads */
	unsigned levels; /* levels of the tree */
	uint32_t page_bytes;
	uint64_t table_records; /* records of the table that the index has */
};
/*
 * Estimates what a scan of a range reads.  Looks up both bounds by requests of this queue: one page
 * for each level of the tree.  The number of records is exact if both are in one leaf; leaves
 * between them have the mean number of the index.  Returns 0, or an error: SP_ECORRUPT, -ENOMEM,
 * -errno.
 */
SP_MUST_CHECK int sp__keyrange_estimate(struct sp__keyrange_estimate *e,
					const struct sp__keyrange *r, const struct sp__index *ix,
					const struct sp__queue_opts *queue,
					struct sp_table_stats *stats, struct sp_errinfo *err);

#define SP__NO_INDEX 1

struct sp__byindex_opts {
	const char *path; /* file of the index; NULL: the default one */
	/*
	 * True if the scan shall take place; NULL: it must.  The first estimate is of a range
	 * without records: no page of the index has been read then.
	 */
	bool (*wanted)(void *arg, const struct sp__keyrange_estimate *e);
	void *arg;
};

/*
 * Gives the records that o->where, which is set, chooses, in the order of their numbers.  Returns
 * as sp__tablescan(); SP_EUNSUP if the predicate is not a range of one column; SP_ECORRUPT if a
 * record does not have the value that the index says; or an error of the index, as
 * sp__keyfind_open().
 *
 * With wanted() it returns SP__NO_INDEX, before any output, if the predicate is not a range, the
 * scan is not wanted or, without a path, there is no index that can be used.
 */
SP_MUST_CHECK int sp__tablescan_by_index(struct sp__tablefile *f,
					 const struct sp__tablescan_opts *o,
					 const struct sp__byindex_opts *by,
					 const struct sp__reading *to);
