/* SPDX-License-Identifier: MIT */
/*
 * The requests of one query or load: takes cells in the order in which the mapping walks them,
 * makes requests of those that follow each other, and keeps some of them outstanding on each
 * volume.
 */
#pragma once

#include "cube/file/file.h"
#include "datafile/lanes.h"
#include "io/queue.h"

/*
 * Looks at a cell that was read, or fills one that is to be written, at coordinates x; in a
 * dataset of points x[0] is its first block.
 */
typedef void (*sp__cell_fn)(void *arg, const uint64_t *x, uint8_t *cell);

/* A request, and the runs of cells in it; between them are gaps. */
struct sp__cellrequest {
	struct sp__request r;
	struct sp__runlane *lane;
	unsigned nruns;
	struct sp__cellrun runs[SP__REQUEST_RUNS];
};

struct sp__transfer {
	struct sp__cubefile *file;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__queue *queue;
	enum sp__op op;
	sp__cell_fn fn; /* NULL: nobody looks at the bytes */
	void *arg;
	struct sp__runlane_rules rules;
	unsigned nlanes, depth;	    /* depth: outstanding requests of each lane */
	struct sp__runlane *lanes;  /* of the volumes */
	struct sp__fragwalk *walks; /* their sources */
	uint8_t *pool;
	size_t pool_bytes, charged_bytes;
	unsigned nrequests, nfree;
	struct sp__cellrequest *requests;
	struct sp__cellrequest **free;
	uint64_t begin_ns;
};

/* The longest gap that is read, in blocks. */
uint64_t sp__transfer_gap(const struct sp__cube_superblock *h, bool no_coalesce);
#define SP__TRANSFER_BYTES (UINT64_C(1) << 20) /* of the longest request, unless it is given */

SP_MUST_CHECK int sp__transfer_open(struct sp__transfer *t, struct sp__cubefile *file,
				    enum sp__op op, struct sp_cube_stats *stats,
				    struct sp_errinfo *err);
/*
 * Moves the cells of one box after the other, and waits for the last one.  After an error there
 * is no end.
 */
void sp__transfer_begin(struct sp__transfer *t, enum sp__op op, sp__cell_fn fn, void *arg);
SP_MUST_CHECK int sp__transfer_cells(struct sp__transfer *t, const struct sp_cube_box *cells);
/* The same with cells that follow each other, by their first block. */
SP_MUST_CHECK int sp__transfer_run(struct sp__transfer *t, uint64_t block, uint64_t cells);
SP_MUST_CHECK int sp__transfer_end(struct sp__transfer *t);
/* Moves the cells of a box, with the op given on opening. */
SP_MUST_CHECK int sp__transfer_box(struct sp__transfer *t, const struct sp_cube_box *cells,
				   sp__cell_fn fn, void *arg);
/* Waits for what is outstanding after an error; notes time and counters. */
void sp__transfer_close(struct sp__transfer *t);
