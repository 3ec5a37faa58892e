/* SPDX-License-Identifier: MIT */
/*
 * Cells that clients changed without a journal: they stay in memory, and the one that was changed
 * least recently leaves when there are more bytes than the memory has.  Cells in a frame of a pool
 * leave with the frame.
 *
 * Thread rule: one thread.
 */
#pragma once

#include <sys/queue.h>
#include "base/rng.h"
#include <spindle/error.h>

struct sp__changed_cell {
	TAILQ_ENTRY(sp__changed_cell) order; /* the one changed least recently first */
	struct sp__changed_cell *next;	     /* next cell of the bucket */
	unsigned table;
	uint64_t cell; /* number of the cell in its file */
	uint32_t bytes;
};

struct sp__changed {
	TAILQ_HEAD(sp__changed_cells, sp__changed_cell) order, leaving;
	struct sp__changed_cell **buckets;
	uint64_t nbuckets; /* a power of two */
	uint64_t bytes, max_bytes;
};

/* Returns 0 or -ENOMEM, and then, too, it must be closed. */
SP_MUST_CHECK int sp__changed_open(struct sp__changed *c, uint64_t max_bytes);
void sp__changed_close(struct sp__changed *c);
/* Changes a cell.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__changed_put(struct sp__changed *c, unsigned table, uint64_t cell,
				  uint32_t bytes);
/* Lets a cell leave, if it was changed. */
void sp__changed_leave(struct sp__changed *c, unsigned table, uint64_t cell);
/* Removes a cell that has to leave; the caller frees it.  NULL: none has to. */
struct sp__changed_cell *sp__changed_take(struct sp__changed *c);
