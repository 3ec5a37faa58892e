/* SPDX-License-Identifier: MIT */
/*
 * Makes the index of a column: a scan of the column, a sort, the tree of lib/index.
 */
#pragma once

#include "table/file/file.h"

/* Returns the default path of an index, TABLE.COLUMN.index; to be freed; NULL: no memory. */
char *sp__tableindex_path(const struct sp__tablefile *f, uint32_t column);
/*
 * Makes an index; the file appears when it is complete.  Returns 0; SP_EUNSUP if a text is too long
 * or the path is not that of a regular file; SP_EBUDGET; SP_ECORRUPT; -ENOMEM; or -errno.
 */
SP_MUST_CHECK int sp__tableindex_build(struct sp__tablefile *f, uint32_t column, const char *path,
				       struct sp_table_stats *stats, struct sp_errinfo *err);
