/* SPDX-License-Identifier: MIT */
/*
 * The requests of one query or load: takes cells in the order in which the mapping walks them,
 * makes requests of those that follow each other, and keeps some of them outstanding.
 */
#ifndef SP__CUBE_TRANSFER_H
#define SP__CUBE_TRANSFER_H

#include "cube/cube_impl.h"
#include "io/queue.h"

/* Looks at a cell that was read, or fills one that is to be written. */
typedef void (*sp__cell_fn)(void *arg, const uint64_t *x, uint8_t *cell);

/* Cells that follow each other. */
struct sp__cellrun {
	uint64_t block, cells;
};

#define SP__REQUEST_RUNS 64

/* A request, and the runs of cells in it; between them are gaps. */
struct sp__cellrequest {
	struct sp__request r;
	unsigned nruns;
	struct sp__cellrun runs[SP__REQUEST_RUNS];
};

struct sp__transfer {
	struct sp_cube *cube;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__queue *queue;
	enum sp__op op;
	sp__cell_fn fn; /* NULL: nobody looks at the bytes */
	void *arg;
	uint64_t gap_blocks;	 /* the longest gap that is read to save a request */
	uint64_t request_blocks; /* of the longest request */
	unsigned depth, nfree;
	uint8_t *pool;
	size_t pool_bytes;
	struct sp__cellrequest *requests;
	struct sp__cellrequest **free;
	struct sp__cellrun runs[SP__REQUEST_RUNS]; /* not submitted yet */
	unsigned nruns;
	uint64_t last_end; /* of the request before */
	uint64_t begin_ns;
};

/* The longest gap that is read, in blocks. */
uint64_t sp__transfer_gap(const struct sp__cube_head *h, bool no_coalesce);
#define SP__TRANSFER_BYTES (UINT64_C(1) << 20) /* of the longest request, unless it is given */

SP_MUST_CHECK int sp__transfer_open(struct sp__transfer *t, struct sp_cube *cube, enum sp__op op,
				    struct sp_cube_stats *stats, struct sp_errinfo *err);
/*
 * Moves the cells of one box after the other, and waits for the last one.  After an error there
 * is no end.
 */
void sp__transfer_begin(struct sp__transfer *t, enum sp__op op, sp__cell_fn fn, void *arg);
SP_MUST_CHECK int sp__transfer_cells(struct sp__transfer *t, const struct sp_cube_box *cells);
SP_MUST_CHECK int sp__transfer_end(struct sp__transfer *t);
/* Moves the cells of a box, with the op given on opening. */
SP_MUST_CHECK int sp__transfer_box(struct sp__transfer *t, const struct sp_cube_box *cells,
				   sp__cell_fn fn, void *arg);
/* Waits for what is outstanding after an error; notes time and counters. */
void sp__transfer_close(struct sp__transfer *t);

#endif
