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
 * Copies the schema of a table.  Dictionaries are charged to the budget of `from`; with grow, one
 * that is full becomes one of more words, and that becomes text.  Returns 0, SP_EBUDGET or -ENOMEM;
 * the caller frees the schema in any case.
 */
SP_MUST_CHECK int sp__copy_schema(const struct sp__tablefile *from, struct sp__schema *to,
				  bool grow);

#define SP__COPY_CONSTANT UINT32_MAX

/* Where the values of the new table are from. */
struct sp__copy_sources {
	/* Of each new column: its number in `from`; or SP__COPY_CONSTANT, with the value that all
	   records have: as stored, or a struct sp__new_text.  NULL: the columns of `from`. */
	const uint32_t *columns;
	const uint8_t *const *constants;
	bool deleted; /* also records that are deleted */
};

/*
 * Writes all records to a table that was created with such a schema; it must be committed next.
 * sources: NULL: all columns, and the records that are not deleted.  Errors are recorded in err.
 */
SP_MUST_CHECK int sp__copy_records(struct sp__tablefile *from, struct sp__tablefile *to,
				   const struct sp__copy_sources *sources,
				   struct sp_table_stats *stats, struct sp_errinfo *err);
