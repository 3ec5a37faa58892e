/* SPDX-License-Identifier: MIT */
/*
 * The ways to scan records that a predicate chooses.
 *
 * S-scan reads all columns that are needed; SI-scan reads those of the predicate, then the cells of
 * the others that have a chosen record.
 *
 * Source: Shao 2008, section 4.5.
 *
 * Owner: the thread that scans.
 */
#pragma once

#include "table/read/get.h"
#include "table/read/scan.h"

#define SP__SCATTERED_STEPS 2 /* of an SI-scan; each has an equal share of the memory */

/*
 * Sets columns[i] to true for the columns that sp__tablescan_chosen() reads: those of the output
 * or, if records are only counted, o->columns.
 */
void sp__tablescan_chosen_columns(const struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				  bool *columns);
/*
 * Gets the records whose numbers next() supplies, all of which exist, in half of the memory.
 * check: NULL, or of a get.  Errors as sp__tableget().
 */
SP_MUST_CHECK int sp__tablescan_chosen(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				       int (*next)(void *numbers, uint64_t *record), void *numbers,
				       const struct sp__tableget_check *check,
				       const struct sp__reading *to);
/* SI-scan of o->where, which is set.  Errors as sp__tablescan(). */
SP_MUST_CHECK int sp__tablescan_scattered(struct sp__tablefile *f,
					  const struct sp__tablescan_opts *o,
					  const struct sp__reading *to);
/*
 * Scans parts of the table, each by SI-scan if in the part before a smaller share of the records
 * than max_share was chosen, otherwise by S-scan.  Errors as sp__tablescan().
 */
SP_MUST_CHECK int sp__tablescan_adaptive(struct sp__tablefile *f,
					 const struct sp__tablescan_opts *o, double max_share,
					 const struct sp__reading *to);

/*
 * Returns the end of part i, from 0, of such a scan, which begins at a record: that of an A-page.
 */
uint64_t sp__tablescan_part(const struct sp__table_layout *l, uint64_t at, unsigned i);
