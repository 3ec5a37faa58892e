/* SPDX-License-Identifier: MIT */
/*
 * The numbers of the records that a predicate chooses, in ascending order.  Only the columns of the
 * predicate are read.
 *
 * Owner: the thread that reads.
 */
#pragma once

#include "table/read/choice.h"

struct sp__hits {
	struct sp__window_ring ring;
	struct sp__record_choice choice;
	struct sp_table_stats *stats;
	bool *columns;
	const uint64_t *numbers; /* of the slot that was taken last: n, next of them are used */
	uint64_t n, next;
};

/*
 * Opens the records [lo, hi] for which the predicate is true; it has one of `parts` of the memory.
 * stats receives counters of reading until the hits are closed.  Returns 0, -ENOMEM, or an error of
 * the queue, recorded in err.  After an error, too, they must be closed.
 */
SP_MUST_CHECK int sp__hits_open(struct sp__hits *h, struct sp__tablefile *f,
				const struct sp__predicate *where, uint64_t lo, uint64_t hi,
				unsigned parts, struct sp_table_stats *stats,
				struct sp_errinfo *err);
void sp__hits_close(struct sp__hits *h);
/* Returns SP_READY and a number; SP_END; or an error, recorded in err. */
SP_MUST_CHECK int sp__hits_next(struct sp__hits *h, uint64_t *record);
