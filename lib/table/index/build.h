/* SPDX-License-Identifier: MIT */
/*
 * Makes the index of a column: a scan of the column, a sort, the tree of lib/index.
 */
#pragma once

#include "index/indexfile.h"
#include "table/file/file.h"

/* Returns the default path of an index, TABLE.COLUMN.index; to be freed; NULL: no memory. */
char *sp__tableindex_path(const struct sp__tablefile *f, uint32_t column);
/*
 * Makes an index; the file appears when it is complete.  Returns 0; SP_EUNSUP if a text is too long
 * or the path is not that of a regular file; SP_EBUDGET; SP_ECORRUPT; -ENOMEM; or -errno.
 */
SP_MUST_CHECK int sp__tableindex_build(struct sp__tablefile *f, uint32_t column, const char *path,
				       struct sp_table_stats *stats, struct sp_errinfo *err);

/*
 * Opens the index of a column, and refuses one that is not of the column as it is.
 */

/*
 * Opens an index; path: NULL: the default one.  Errors as in sp__keyfind_open().  To be closed
 * after an error, too.
 */
SP_MUST_CHECK int sp__tableindex_open(struct sp__index *ix, struct sp__tablefile *f,
				      uint32_t column, const char *path, struct sp_errinfo *err);
/*
 * Describes why an index cannot be used, and the command that makes it.  Returns code.  path: as
 * above.
 */
int sp__tableindex_refuse(const struct sp__tablefile *f, uint32_t column, const char *path,
			  int code, const char *reason, struct sp_errinfo *err);
/*
 * Checks a record number of an index: numbers of one key, or sorted ones, ascend from *least, and
 * are of records that the index was made of.  Returns 0, and sets *least, or SP_ECORRUPT.
 */
SP_MUST_CHECK int sp__tableindex_number(const struct sp__index *ix, const struct sp__tablefile *f,
					uint32_t column, const char *path, uint64_t record,
					uint64_t *least, struct sp_errinfo *err);
/* Describes that a record does not have the value that the index says.  Returns SP_ECORRUPT. */
int sp__tableindex_misfit(const struct sp__tablefile *f, uint32_t column, const char *path,
			  uint64_t record, struct sp_errinfo *err);
