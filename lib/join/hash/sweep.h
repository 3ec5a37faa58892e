/* SPDX-License-Identifier: MIT */
/*
 * Sorts records by partition number before they are written to temporary space, so that many pages
 * of one partition are written together.
 *
 * Algorithm: replacement selection on partition numbers.  Memory holds as many records as fit, and
 * input displaces records of the partition being written, until none of it is left.  Records of
 * that partition or a higher one still belong to the current pass, lower ones to the next.  So
 * partitions are written cyclically, and a queue per partition replaces a heap.
 *
 * Memory is divided into small cells; each queue is a chain of cells, and records are stored as
 * bytes, across cells.  A cell is the unit of output.  The overhead is one partly filled cell per
 * partition, and 8 bytes per cell.
 *
 * Source: Wang & Cherniack 2006, section 3.2 and figure 5.
 */
#pragma once

#include <spindle/api.h>

#define SP__SWEEP_CELL 512u

struct sp__sweep_queue;

/* Receives the next bytes of a partition, and the number of records that begin in them. */
typedef int sp__sweep_fn(void *ctx, unsigned partition, const char *data, size_t bytes,
			 unsigned records);

struct sp__sweep {
	char *mem;
	uint32_t ncells, used, free_list;
	struct sp__sweep_queue *queues; /* NULL: closed */
	unsigned npartitions, now;
	sp__sweep_fn *out;
	void *ctx;
};

/* mem: at least one cell per partition, owned by the caller.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__sweep_open(struct sp__sweep *s, unsigned npartitions, void *mem, size_t bytes,
				 sp__sweep_fn *out, void *ctx);
/* Puts a record with its terminator. */
SP_MUST_CHECK int sp__sweep_put(struct sp__sweep *s, unsigned partition, const char *rec,
				size_t bytes);
/* Outputs everything left. */
SP_MUST_CHECK int sp__sweep_finish(struct sp__sweep *s);
void sp__sweep_close(struct sp__sweep *s); /* accepts a zeroed struct */
