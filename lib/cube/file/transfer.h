/* SPDX-License-Identifier: MIT */
/*
 * Reads or writes the cells of one query or load, in the order in which the mapping walks them.
 */
#pragma once

#include "base/task.h"
#include "cells/lanes.h"
#include "cube/file/file.h"

/*
 * Divides the cells of one query or load among threads, each with a transfer of its own.
 *
 * The transfers share the depth and the memory of one.  There is one only if the order of requests
 * matters, on a simulated device and on a drive whose tracks are known, or if little memory or
 * depth is left for more.
 */

/*
 * Takes a cell that was read, or fills one that is to be written, at coordinates x; in a dataset of
 * points x[0] is its first block.
 */
typedef void (*sp__cell_fn)(void *arg, const uint64_t *x, uint8_t *cell);

struct sp__transfer {
	struct sp__cubefile *file;
	struct sp_cube_stats *stats;
	sp__cell_fn fn; /* NULL: the bytes are not used */
	void *arg;
	struct sp__runlanes lanes;  /* one of each volume */
	struct sp__fragwalk *walks; /* their sources */
	uint64_t cells; /* cells that were moved; the statistics are changed on closing only */
	uint64_t charged_bytes, begin_ns;
};

/* Returns the longest gap that a read passes over, in blocks. */
uint64_t sp__transfer_gap(const struct sp__cube_superblock *h, bool no_coalesce);
#define SP__TRANSFER_BYTES (UINT64_C(1) << 20) /* default size of the longest request */

/*
 * Opens the queue, and allocates the lanes.  Returns 0, -ENOMEM or an error of the queue.  After an
 * error, too, the transfer must be closed.
 */
SP_MUST_CHECK int sp__transfer_open(struct sp__transfer *t, struct sp__cubefile *file,
				    struct sp_cube_stats *stats, struct sp_errinfo *err);
/* Opens one of `share` transfers that together have the depth and the memory of one. */
SP_MUST_CHECK int sp__transfer_open_share(struct sp__transfer *t, unsigned share,
					  struct sp__cubefile *file, struct sp_cube_stats *stats,
					  struct sp_errinfo *err);
/* Return the requests outstanding on each volume, and the memory of requests, of all transfers. */
unsigned sp__transfer_depth(const struct sp__cubefile *file);
uint64_t sp__transfer_memory(const struct sp__cubefile *file);
/*
 * Moves the cells of any number of boxes: begin, cells of each box, end, which waits for the last
 * one.  After an error sp__transfer_end() is not called.
 */
void sp__transfer_begin(struct sp__transfer *t, enum sp__op op, sp__cell_fn fn, void *arg);
SP_MUST_CHECK int sp__transfer_cells(struct sp__transfer *t, const struct sp_cube_box *cells);
/* Moves the cells of a box that a mapping places, on all volumes concurrently. */
SP_MUST_CHECK int sp__transfer_mapped(struct sp__transfer *t, const struct sp__mapping *m,
				      const struct sp_cube_box *cells);
/* Moves consecutive cells, by their first block. */
SP_MUST_CHECK int sp__transfer_run(struct sp__transfer *t, uint64_t block, uint64_t cells);
SP_MUST_CHECK int sp__transfer_end(struct sp__transfer *t);
/* Moves the cells of a box, from the beginning to the end. */
SP_MUST_CHECK int sp__transfer_box(struct sp__transfer *t, enum sp__op op,
				   const struct sp_cube_box *cells, sp__cell_fn fn, void *arg);
/* Waits for requests that are outstanding after an error; notes time and counters. */
void sp__transfer_close(struct sp__transfer *t);

/* The transfers of several threads. */
struct sp__transfers {
	struct sp__cubefile *file;
	struct sp_cube_stats *stats;
	unsigned n, share;	   /* open ones; most that can be */
	struct sp__transfer *list; /* share */
	uint64_t begin_ns;
};
/* Opens one transfer.  Errors as sp__transfer_open(); after an error, too, they must be closed. */
SP_MUST_CHECK int sp__transfers_open(struct sp__transfers *ts, struct sp__cubefile *file,
				     struct sp_cube_stats *stats, struct sp_errinfo *err);
/*
 * Opens transfers for that many items, as far as the system allows.  Returns the number of threads
 * among which the items can be dealt; sp__deal() then gives the number of the transfer to use.
 */
unsigned sp__transfers_for(struct sp__transfers *ts, uint64_t items);
/* Returns the transfer of a worker; its errors go to err. */
struct sp__transfer *sp__transfers_of(struct sp__transfers *ts, unsigned worker,
				      struct sp_errinfo *err);
/*
 * Moves the cells of a box.  Threads call fn concurrently, for cells of different extents if the
 * box has whole extents.
 */
SP_MUST_CHECK int sp__transfers_box(struct sp__transfers *ts, enum sp__op op,
				    const struct sp_cube_box *cells, sp__cell_fn fn, void *arg,
				    struct sp_errinfo *err);
/* Notes time and counters.  Accepts a struct that is all zero. */
void sp__transfers_close(struct sp__transfers *ts);
