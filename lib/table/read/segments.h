/* SPDX-License-Identifier: MIT */
/*
 * Segments: cells that are consecutive in the file and in memory.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "io/queue.h"

/*
 * Adjoining cells of one line of cells (layout.h) or column of text, read by one request.  A line
 * that begins within a track continues at its beginning: then two segments share a request.
 */
struct sp__segment {
	struct sp__request request;
	bool shares;	    /* the request of the segment before */
	bool in_frame;	    /* of a pool: it has no request */
	uint64_t cell;	    /* the first one: of the data area, or of the file for texts */
	uint64_t file_cell; /* the first one */
	uint64_t cells;
	uint8_t *at; /* their bytes */
};

struct sp__segments {
	struct sp__segment *list; /* in the order of their cells */
	size_t n, capacity;
};

/*
 * Adds cells of one line or column of text that follow those added before.  Cells that
 * adjoin in the file, or have a gap of at most gap_cells, are one segment, of at most `most` cells.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__segments_add(struct sp__segments *s, uint64_t most, uint64_t cell,
				   uint64_t file_cell, uint64_t cells, uint64_t gap_cells);
