/* SPDX-License-Identifier: MIT */
/*
 * Locks the files of a table: at any time it has one writer, or any number of readers.  A reader
 * has the locks while it opens the table and during each command, a writer while it is open.
 */
#pragma once

#include "table/file/file.h"

/*
 * Locks one file, which is open under this name.  Returns 0; or SP_ESTATE if another program has
 * it, or has given the name to another file.
 */
SP_MUST_CHECK int sp__tablefile_lock(const struct sp__tablefile *f, int fd, const char *name,
				     struct sp_errinfo *err);
/* Releases the locks of all files that are open. */
void sp__tablefile_unlock(const struct sp__tablefile *f);
