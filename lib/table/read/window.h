/* SPDX-License-Identifier: MIT */
/*
 * A window: records of a table in memory, with the column groups that a query needs.
 *
 * The records are ranges in ascending order, each within one directory row.  They are read in two
 * rounds of requests: the cells of values, then the cells of texts, whose places follow from the
 * ends in the first round.  A request reads adjoining cells, in the first round short gaps between
 * them as well: nobody looks at the cells of a gap.  Cells stay where they were read, and rows of
 * the window point into them; only texts are joined without the trailers of cells.
 *
 * If the table has a pool, the cells of values are in frames, which stay pinned until the window is
 * emptied.  The window itself reads those of A-pages that have no frame.
 *
 *	sp__window_begin(), sp__window_add() for each range
 *	sp__window_submit(), sp__window_ready() until it returns SP_READY
 *	if sp__window_cached(): sp__window_copy() by any thread instead, and then sp__window_ready()
 *	sp__window_check(), then sp__window_next() or sp__window_rows(), by any thread
 *
 * Owner: the thread that reads; after SP_READY the thread that has the window.
 */
#pragma once

#include "base/minmax.h"
#include "columns/vector.h"
#include "io/queue.h"
#include "table/clotho/attach.h"
#include "table/layout/layout.h"

/*
 * Segments: cells that are consecutive in the file and in memory.
 *
 * Thread rule: one thread.
 */

/*
 * Adjoining cells of one line of cells (layout.h) or column of text, read by one request.  A line
 * that begins within a track continues at its beginning: then two segments share a request.
 */
struct sp__segment {
	struct sp__request request;
	bool shares;	    /* the request of the segment before */
	bool in_frame;	    /* it is in a frame of a pool, and has no request */
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

/*
 * Requests that are submitted together: a batch waits until the queue has place for all of it, so a
 * large one would leave the device idle.
 */
#define SP__WINDOW_TOGETHER 16

/* The texts of a column in a range. */
struct sp__range_text {
	uint64_t first;	 /* cell of the file where the texts of the directory row begin */
	uint32_t bytes;	 /* bytes of the directory row's texts */
	uint32_t before; /* end of the text before the range */
	uint32_t end;	 /* end of its last text */
	size_t offset;	 /* offset of the first text in the joined bytes */
};

struct sp__window_range {
	uint64_t first, n; /* records */
};

struct sp__window {
	struct sp__io_owner owner; /* owner of all requests */
	struct sp__tablefile *file;
	struct sp__requests *requests;
	bool *groups;		     /* column groups that are read */
	struct sp__groupset set;     /* of a pool: these, */
	uint64_t record_bytes;	     /* the bytes of a cell of each, */
	struct sp__clotho_pin *pins; /* and npins frames with them */
	size_t npins, pins_capacity;
	/* Set by the user: few records are read, each of which is a range; else frames at most. */
	bool few;
	uint64_t max_frames;
	bool passes;	 /* the whole read needs more frames than the pool has */
	uint32_t *texts; /* columns of text that are read */
	uint32_t ntexts;
	uint64_t gap_cells; /* the longest gap that is read; set by the user */
	struct sp__window_range *ranges;
	size_t nranges, ranges_capacity;
	struct sp__range_text *range_texts; /* ntexts of each range */
	size_t range_texts_capacity;
	struct sp__segments *values;	    /* segments of each line of cells */
	struct sp__segments *text_segments; /* segments of each column of text */
	char **joined;	    /* texts of each column of text, in the memory of their cells */
	uint8_t *memory[2]; /* memory of both rounds */
	size_t memory_bytes[2];
	unsigned round; /* 0: values, 1: texts, 2: complete */
	bool submitted; /* the requests of the round */
	bool copies;	/* they are carried out immediately */
	unsigned outstanding;
	struct sp__io_counters io;  /* requests that were carried out immediately */
	uint64_t cells_read, bytes; /* bytes: memory of these cells */
	struct sp__vector *vectors; /* vector of each column, for sp__window_rows() */
	size_t range, *cursors;	    /* where the last rows were: range, segment of each group */
	uint64_t taken;		    /* records of that range, by sp__window_next() */
};

/*
 * Opens a window that reads the columns for which columns[] is true.  Returns 0 or -ENOMEM, and
 * then, too, it must be closed.
 */
SP_MUST_CHECK int sp__window_open(struct sp__window *w, struct sp__tablefile *f,
				  struct sp__requests *requests, const bool *columns);
/* Frees all.  No request may be outstanding. */
void sp__window_close(struct sp__window *w);

/* Empties the window. */
void sp__window_begin(struct sp__window *w);
/*
 * Adds records of one directory row, after all others.  row: the bytes of the directory row; NULL
 * if no column of text is read.  Returns 0, SP_ECORRUPT if a text cannot be where the row says, or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__window_add(struct sp__window *w, uint64_t first, uint64_t n, uint8_t *row);
/* Adds the requests of the round.  Returns 0, -ENOMEM, or an error of the queue. */
SP_MUST_CHECK int sp__window_submit(struct sp__window *w);
/* True if all cells of values are in the page cache.  Not with a pool. */
bool sp__window_cached(const struct sp__window *w);
/*
 * Reads the cells of values, and those of texts if they are in the page cache too, without a queue.
 * Returns SP_READY when all cells are in memory; SP_LATER: sp__window_ready() reads the texts; or
 * an error, recorded in err.
 */
SP_MUST_CHECK int sp__window_copy(struct sp__window *w, struct sp_errinfo *err);
/*
 * Continues when requests may have been completed.  Returns SP_READY when all cells are in memory,
 * SP_LATER while requests are outstanding, or an error, recorded in err.
 */
SP_MUST_CHECK int sp__window_ready(struct sp__window *w, struct sp_errinfo *err);
/* Checks all cells, and joins texts.  Returns 0; or SP_ECORRUPT, recorded in err. */
SP_MUST_CHECK int sp__window_check(struct sp__window *w, struct sp_errinfo *err);
/*
 * Returns rows from record `at` of a range on, whose vectors each lie in one cell and one directory
 * row.  Valid until the next call.  Records are asked for in ascending order, or after
 * sp__window_rewind().
 */
struct sp__rows sp__window_rows(struct sp__window *w, uint64_t at);
/* Gets the next rows, in the order of the ranges.  Returns false after the last ones. */
bool sp__window_next(struct sp__window *w, struct sp__rows *rows);
void sp__window_rewind(struct sp__window *w);

/* What the files that implement window.h share. */

/* Returns the cells of the longest request. */
static inline uint64_t sp__window_max_cells(const struct sp__window *w)
{
	return sp__max(SP__TABLE_REQUEST_BYTES / w->file->layout.cell_bytes, 1);
}

/* True if the end of the text before the range is a value of the table. */
static inline bool sp__window_has_before(const struct sp__table_layout *l, uint64_t first)
{
	return first % sp__layout_row_records(l) != 0;
}

/*
 * Returns the run of line k of a column group with records [first, first + n), and with the end of
 * the text before them.
 */
struct sp__layout_run sp__window_run(const struct sp__window *w, uint32_t group, uint32_t k,
				     uint64_t first, uint64_t n);
/* True if a column group has a column of text that is read. */
bool sp__window_has_text(const struct sp__window *w, uint32_t group);
/* Adds cells of the data area that are a run, except those that are there.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__window_add_run(struct sp__window *w, struct sp__segments *s,
				     struct sp__layout_run run);
/* Returns the end of a text whose cell is in memory; the cursor begins at 0. */
uint32_t sp__window_end_at(const struct sp__window *w, uint32_t column, uint64_t record,
			   size_t *cursor);
