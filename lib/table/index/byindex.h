/* SPDX-License-Identifier: MIT */
/*
 * Scans records whose value of a column is in a range, through the index of the column.
 *
 * Owner: the thread that scans.
 */
#pragma once

#include "table/index/estimate.h"
#include "table/read/scan.h"

#define SP__NO_INDEX 1

struct sp__byindex_opts {
	const char *path; /* of the index; NULL: the default one */
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
