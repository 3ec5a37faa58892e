/* SPDX-License-Identifier: MIT */
/*
 * Steps of a commit that opening a table needs, too.
 */
#pragma once

#include "table/file/file.h"

/* Writes the cells of the journal in place, if the superblock names one, and ends the change. */
SP_MUST_CHECK int sp__tablefile_finish(struct sp__tablefile *f, struct sp_errinfo *err);
/* Returns 0, or -ENOSPC if a device is too small for the cells that were taken. */
SP_MUST_CHECK int sp__tablefile_check_space(const struct sp__tablefile *f, struct sp_errinfo *err);

/*
 * Removes what is behind the cells of the last state in a plain file: a change that failed, or a
 * process that was killed, left it.
 */
void sp__tablefile_cut(const struct sp__tablefile *f);
