/* SPDX-License-Identifier: MIT */
/*
 * Batches of records and the statuses of asynchronous iterators.  This header declares no function.
 *
 * A batch is a span of consecutive whole records.  A record of a line format includes its
 * terminator; other records have a fixed length.  A batch is borrowed: it is valid until the next
 * call on the operator that returned it.  To keep records longer, copy them and charge the copy to
 * a budget.
 *
 * A next() function returns one of the statuses below or a negative error (spindle/error.h).  After
 * SP_END or an error, every further call returns the same value.
 *
 * Source: Iyengar et al. 2008, section 3 (asynchronous iterator).
 */
#ifndef SPINDLE_BATCH_H
#define SPINDLE_BATCH_H

#include <stddef.h>

enum sp_status {
	SP_END = 0,   /* no more records; the batch is not changed */
	SP_READY = 1, /* the batch holds at least one record */
	SP_LATER = 2, /* progress needs pending I/O or a worker: wait, then call again */
};

struct sp_batch {
	const char *data; /* first byte of the first record */
	size_t bytes;	  /* length of the span, which ends with a whole record */
};

#endif
