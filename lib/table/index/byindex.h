/* SPDX-License-Identifier: MIT */
/*
 * Scans records whose value of a column is in a range, through the index of the column.
 *
 * Owner: the thread that scans.
 */
#pragma once

#include "table/read/scan.h"

/*
 * Gives the records that o->where, which is set, chooses, in the order of their numbers.  path: of
 * the index; NULL: the default one.  Returns as sp__tablescan(); SP_EUNSUP if the predicate is not
 * a range of one column; or an error of the index, as sp__keyfind_open().
 */
SP_MUST_CHECK int sp__tablescan_by_index(struct sp__tablefile *f,
					 const struct sp__tablescan_opts *o, const char *path,
					 sp_table_sink sink, void *arg,
					 struct sp_table_stats *stats, struct sp_errinfo *err);
