/* SPDX-License-Identifier: MIT */
/*
 * Records sorted by the number of their partition on their way to temporary space, so
 * that many pages of one partition are written in a row.
 *
 * This is replacement selection on partition numbers: memory holds as many records as
 * fit, and for what comes in something of the partition goes out that is going out at
 * the time, until there is nothing left of it.  Records of that partition or of a higher
 * number still go with this run, lower ones with the next: so the partitions go round in
 * turn, and a queue for each takes the place of a heap.
 *
 * Memory is cut into small cells, of which each queue is a chain; records go through
 * as bytes, across cells.  What goes out is a cell.  Of memory a cell for each partition is
 * not full, and eight bytes of a cell are not the records'.
 *
 * Source: Wang & Cherniack 2006, section 3.2 and figure 5.
 */
#ifndef SP__JOIN_SWEEP_H
#define SP__JOIN_SWEEP_H

#include <spindle/api.h>
#include <stddef.h>
#include <stdint.h>

#define SP__SWEEP_CELL 512u

struct sp__sweep_queue;

/* Where bytes go: the next of a partition, in which so many records begin. 0 or an error. */
typedef int sp__sweep_fn(void *ctx, unsigned part, const char *data, size_t bytes,
			 unsigned records);

struct sp__sweep {
	char *mem;
	uint32_t ncells, used, free_list;
	struct sp__sweep_queue *queues; /* NULL: closed */
	unsigned nparts, now;
	sp__sweep_fn *out;
	void *ctx;
};

/* mem: at least one cell for each of nparts; the caller's. 0 or -ENOMEM. */
SP_MUST_CHECK int sp__sweep_open(struct sp__sweep *s, unsigned nparts, void *mem, size_t bytes,
				 sp__sweep_fn *out, void *ctx);
/* A record with its terminator. */
SP_MUST_CHECK int sp__sweep_put(struct sp__sweep *s, unsigned part, const char *rec, size_t bytes);
/* All that is left goes out. */
SP_MUST_CHECK int sp__sweep_finish(struct sp__sweep *s);
void sp__sweep_close(struct sp__sweep *s); /* accepts one all zero */

#endif
