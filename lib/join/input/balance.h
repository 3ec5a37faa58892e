/* SPDX-License-Identifier: MIT */
/*
 * The last line of defence: a join that has lost or duplicated a record ends with
 * SP_EBALANCE, before its output gets its name.
 *
 * A tally (base/tally.h) is a number of records and an order-independent sum over them; its
 * bytes are not used here.  Each part that takes over records from another counts them
 * again, and the tallies are compared when that stage, partition or input has ended:
 *
 *	input       bytes that the scan has read = bytes of the records processed, and of
 *	            those left unread because the other input has ended
 *	merge join  records cut off = paired, written alone or passed over (merge.c); if it is
 *	            given up, up to the disorder; and the records of a group each time it is
 *	            gone through (presorted.c)
 *	stage       build side: read = in the table + spilled
 *	            probe side: read = looked up + dropped by the filter + spilled
 *	partition   written (in a sort-hash join: after the sweep) = read back by a stage, by
 *	            each pass of block nested loops, or alone if the other side has none
 *	all stages  read + read back = in tables + looked up + dropped + alone + spilled, and
 *	            spilled = read back: no partition was omitted or joined twice
 *	result      bytes held (presorted.c) or put into a sort (ordered.c) = bytes that came
 *	            back; a table gone through in order (ordered.c) has all records put into it
 *
 * Hash joins sum the hashes of keys, which are available and the same at all depths
 * (keying.h); inputs and merge joins sum bytes.
 *
 * Each tally is written by one file.  Of a stage: read of the build side by stage.c, read
 * of the probe side, looked_up and filtered by probing.c; kept is what table.c has made slots
 * for; of spilled spill.c sums the hashes and the writer counts the records.  (Nested
 * loops have nothing but blocks: read is kept there, and compared with the partition.)
 * Those of the join are added up by balance.c.  All belong to the thread of the join, which
 * adds those of the bundles that other threads have probed (workers.c).
 *
 * A join that has failed, as when the reader of its output has gone, is not checked.
 */
#ifndef SP__JOIN_INPUT_BALANCE_H
#define SP__JOIN_INPUT_BALANCE_H

#include <spindle/api.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/tally.h"

struct sp__join_inputs;

/* All of these: 0 or SP_EBALANCE, recorded. */

/* Of file 0 or 1, at a place named for the message: is the output equal to the input? */
SP_MUST_CHECK int sp__balance_same(struct sp__join_inputs *in, int side, const char *where,
				   const struct sp__tally *came, const struct sp__tally *went);
/* The same for numbers of bytes. */
SP_MUST_CHECK int sp__balance_bytes(struct sp__join_inputs *in, const char *where, uint64_t came,
				    uint64_t went);
/* The inputs of a join that has ended, except parts that need not be read. */
SP_MUST_CHECK int sp__balance_sources(struct sp__join_inputs *in);

#endif
