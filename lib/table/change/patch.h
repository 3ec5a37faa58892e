/* SPDX-License-Identifier: MIT */
/*
 * Changes the cells of a column group.
 */
#pragma once

#include "datafile/lanes.h"
#include "table/change/update.h"

/* Returns the sizes of the requests that read cells, of one volume. */
struct sp__runlanes_opts sp__patch_lanes(const struct sp_run_opts *run, unsigned depth,
					 uint32_t cell_bytes);
/*
 * Reads the cells of column group f in which records of the batch are, and puts them into the
 * journal with the new values.  If texts were moved, all later ends of their directory row change,
 * too.  Returns 0, SP_ECORRUPT, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__patch_group(struct sp__tableupdate *u, uint32_t f);
