/* SPDX-License-Identifier: MIT */
/*
 * Opens the index of a column, and refuses one that is not of the column as it is.
 */
#pragma once

#include "index/indexfile.h"
#include "table/file/file.h"

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
