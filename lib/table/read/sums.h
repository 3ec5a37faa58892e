/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of a scan: a state for each slot of a ring, which its task adds records to, and the
 * line of results.
 *
 * Owner: the thread that scans; an element of `slots` belongs to the task of its slot.
 */
#pragma once

#include "table/read/ring.h"
#include "table/where/aggregates.h"

struct sp__scan_sums {
	const struct sp__aggregates *aggregates;
	struct sp__aggregates_state *slots[SP__RING_SLOTS];
};

/* Makes the states.  Returns 0 or -ENOMEM.  After an error, too, they must be closed. */
SP_MUST_CHECK int sp__scan_sums_open(struct sp__scan_sums *s,
				     const struct sp__aggregates *aggregates);
void sp__scan_sums_close(struct sp__scan_sums *s);
/*
 * Adds n records of a slot, in its task; selected: their offsets in rows, or NULL for the first n.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__scan_sums_add(struct sp__scan_sums *s, const struct sp__window_slot *slot,
				    const struct sp__rows *rows, const uint32_t *selected,
				    uint32_t n);
/*
 * Merges the states and gives a header line, if the table has one, and a line of results to the
 * sink, in the style of the table.  Returns 0; a negative code of the sink; SP_EUNSUP for records
 * of fixed length; or -ENOMEM.
 */
SP_MUST_CHECK int sp__scan_sums_print(struct sp__scan_sums *s, struct sp__tablefile *f,
				      enum sp_table_format format, const struct sp__reading *to);
