/* SPDX-License-Identifier: MIT */
/*
 * Copies the records of a table that are not deleted to a new table, whose layout and types of
 * dictionaries can differ.
 *
 * Thread rule: one thread; tasks check cells.
 */
#pragma once

#include <spindle/table.h>
#include "table/file/file.h"

/*
 * Copies the schema of a table.  Dictionaries are charged to the budget of `from`; one that is full
 * becomes one of more words, and that becomes text.  Returns 0, SP_EBUDGET or -ENOMEM; the caller
 * frees the schema in any case.
 */
SP_MUST_CHECK int sp__copy_schema(const struct sp__tablefile *from, struct sp__schema *to);
/*
 * Writes all records to a table that was created with such a schema; it must be committed next.
 * Errors are recorded in err.
 */
SP_MUST_CHECK int sp__copy_records(struct sp__tablefile *from, struct sp__tablefile *to,
				   struct sp_table_stats *stats, struct sp_errinfo *err);
