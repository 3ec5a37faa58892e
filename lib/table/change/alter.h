/* SPDX-License-Identifier: MIT */
/*
 * Gives a table another schema, as one transaction: columns are added, dropped, renamed, and get
 * other types.  Cells of column groups whose columns stay as they are are not written.
 *
 * Thread rule: one thread; tasks check cells.
 */
#pragma once

#include <spindle/tablealter.h>
#include "table/file/file.h"

#define SP__ALTER_NEW UINT32_MAX

struct sp__alter_plan {
	struct sp__schema schema; /* after the change; owned */
	/* Of each of its columns: the number before, or SP__ALTER_NEW; owned. */
	uint32_t *from;
	/* Values of new columns, as of an update; others are NULL. */
	const char *const *set;
	size_t nset;
};

/*
 * Carries out a plan, and commits.  The schema moves to the file.  Errors are recorded in err; then
 * the file must be closed, unless f->unfinished is false.
 */
SP_MUST_CHECK int sp__tablealter(struct sp__tablefile *f, struct sp__alter_plan *plan,
				 struct sp_table_stats *stats, struct sp_errinfo *err);
