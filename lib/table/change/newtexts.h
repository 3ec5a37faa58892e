/* SPDX-License-Identifier: MIT */
/*
 * Changes the texts of a column in a directory row.
 */
#pragma once

#include "table/change/update.h"

/*
 * Changes the texts of entries [from, to) of the batch, which are the changed records of directory
 * row e, and computes their shifts; i: number of the column in the update.  If texts have another
 * length than before, all of the directory row move to new cells, and the entry of the directory is
 * changed.  Returns 0, SP_ECORRUPT, -EFBIG, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__newtexts_change(struct sp__tableupdate *u, uint32_t i, uint64_t e,
				      size_t from, size_t to, uint8_t *entry);
