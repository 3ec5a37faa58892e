/* SPDX-License-Identifier: MIT */
/*
 * Tables without data.
 *
 * Source: Shao 2008, section 4.8.
 *
 * Thread rule: any number of threads may create tables.
 */
#ifndef SPINDLE_TABLERUN_H
#define SPINDLE_TABLERUN_H

#include <spindle/table.h>

/*
 * Creates a table without data: requests for the cells of its records take the time of a simulated
 * volume and move no bytes.  On it run sp_table_scan() without a predicate and aggregates,
 * sp_table_get() and sp_table_update() of record numbers, all with `discard`, and
 * sp_table_compare(); other calls return SP_EUNSUP.  They make the requests that they would make if
 * the table had been loaded, with new values within the bounds of their directory rows.  The file
 * has no space for cells.
 * opts: run, layout, workload, together, cell_bytes, page_records and schema are used.
 * Returns 0; SP_ESYNTAX if an option or the schema is wrong; SP_EUNSUP if a column is a text, or
 * the volume is not simulated; -ENOSPC if it is too small; or another error of sp_table_load().
 */
SP_API SP_MUST_CHECK int sp_table_create(const char *table, uint64_t records,
					 const struct sp_table_load_opts *opts,
					 struct sp_errinfo *err);

#endif
