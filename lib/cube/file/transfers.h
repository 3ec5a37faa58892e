/* SPDX-License-Identifier: MIT */
/*
 * Divides the cells of one query or load among threads, each with a transfer of its own.
 *
 * The transfers share the depth and the memory of one.  There is one only if the order of requests
 * matters, on a simulated device and on a drive whose tracks are known, or if little memory or
 * depth is left for more.
 */
#pragma once

#include "base/deal.h"
#include "cube/file/transfer.h"

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
