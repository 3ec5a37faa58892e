/* SPDX-License-Identifier: MIT */
/*
 * Locks the files of a table: at any time it has one writer, or any number of readers.  A reader
 * has the locks while it opens the table and during each command, or with keep_lock while it is
 * open, as a writer.
 */
#pragma once

#include "table/file/file.h"

/*
 * Opens a file of the table under this name and locks it.  Returns 0; SP_ESTATE, with the reason in
 * err, if another program has it; or -errno, -EINTR among them, without.
 */
SP_MUST_CHECK int sp__tablefile_open_locked(const struct sp__tablefile *f, const char *name,
					    int *fd, struct sp_errinfo *err);
/* Releases the locks of all files that are open. */
void sp__tablefile_unlock(const struct sp__tablefile *f);
