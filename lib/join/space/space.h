/* SPDX-License-Identifier: MIT */
/* Temporary space for the records of a join. */
#ifndef SP__JOIN_SPACE_SPACE_H
#define SP__JOIN_SPACE_SPACE_H

#include "join/input/inputs.h"
#include "spill/store.h"

/*
 * Opens a store for so many runs; 0: unknown.  buffered: leave gathering requests to the page
 * cache. 0 or an error.
 */
SP_MUST_CHECK int sp__joinspace_open(struct sp__spill **spill, const struct sp__join_inputs *in,
				     uint32_t page_bytes, uint64_t runs, bool buffered);
/* Counts what the store was used for, before it is closed; accepts NULL. */
void sp__joinspace_note(const struct sp__join_inputs *in, struct sp__spill *spill);

#endif
