/* SPDX-License-Identifier: MIT */
/*
 * Batches and the statuses of asynchronous iterators.
 *
 * A batch is a span of consecutive whole records, each with its terminator
 * (line formats) or of fixed length.  It is borrowed: valid until the next call
 * on the operator that returned it.  To keep records longer, copy them and
 * charge the copy to a budget.
 *
 * next() on an operator returns one of the statuses below or a negative error
 * (spindle/error.h).  After SP_END or an error every further call returns the
 * same value.  Source: Iyengar et al. 2008, section 3 (asynchronous iterator).
 */
#ifndef SPINDLE_BATCH_H
#define SPINDLE_BATCH_H

#include <stddef.h>

enum sp_status {
	SP_END = 0,   /* no more records; the batch is untouched */
	SP_READY = 1, /* the batch holds at least one record */
	SP_LATER = 2, /* progress needs pending I/O or a worker: wait first */
};

struct sp_batch {
	const char *data; /* first byte of the first record */
	size_t bytes;	  /* length of the span; ends with a whole record */
};

#endif
