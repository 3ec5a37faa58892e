/* SPDX-License-Identifier: MIT */
/* Provides temporary space for the records of a join. */
#pragma once

#include "join/input/inputs.h"

/*
 * Opens a store for a number of runs; 0: unknown.  buffered: the page cache gathers requests.  0 or
 * an error.
 */
SP_MUST_CHECK int sp__joinspace_open(struct sp__spill **spill, const struct sp__join_inputs *in,
				     uint32_t page_bytes, uint64_t runs, bool buffered);
/* Adds the use of the store to the counters, before it is closed; accepts NULL. */
void sp__joinspace_note(const struct sp__join_inputs *in, struct sp__spill *spill);
