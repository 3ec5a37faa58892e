/* SPDX-License-Identifier: MIT */
/*
 * Writes the values of consecutive records to the cells of a table: those of each column group, of
 * texts, and of the directory.  The bytes written do not depend on how the records are divided into
 * calls.
 *
 * With slabs.fills the values are only placed: they must stay until sp__fills_run() has copied
 * them, which a task may do.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/write/fills.h"
#include "table/write/texts.h"

/* The cells of a line of cells (layout.h) that are in memory. */
struct sp__line_cells {
	struct sp__slab *slab; /* NULL: none */
	uint64_t first;	       /* cell of the file */
	uint32_t cells, max;   /* complete, and possible */
	uint32_t records;      /* in the cell after these */
	size_t fill;	       /* number of its last one, and 1; 0: none */
	bool old;	       /* a cell of the state before, for the journal */
};

struct sp__tablewriter {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	uint64_t records; /* put so far */
	struct sp__slabs slabs;
	struct sp__line_cells *lines;
	struct sp__texts texts;
	uint32_t *text_columns; /* the number of each column among those of text */
	uint32_t ntexts;
	uint32_t step; /* records that are added together, at most */
	/* Not written yet; the last one gets records. */
	TAILQ_HEAD(sp__row_list, sp__row_entry) rows;
	struct sp__row_entry *spare;
	uint8_t *row; /* a directory row */
};

/*
 * Opens a writer for a created table without records, which uses about memory_bytes.  Returns 0,
 * -ENOMEM, or an error of the queue.  After an error, too, it must be closed.
 */
SP_MUST_CHECK int sp__tablewriter_open(struct sp__tablewriter *w, struct sp__tablefile *file,
				       uint64_t memory_bytes, struct sp_errinfo *err);
/*
 * Lets tasks copy values: slabs.fills can be set before each sp__tablewriter_put(), for the task
 * that then calls sp__fills_run().  relieve(arg) waits for the oldest of these tasks, and returns
 * false if there is none.
 */
void sp__tablewriter_divide(struct sp__tablewriter *w, bool (*relieve)(void *arg), void *arg);
/*
 * Continues after the last record of a table that is open to change; called before the first
 * sp__tablewriter_put(), after sp__redo_begin() for sp__tablewriter_old_cells() cells.  The last
 * directory row's texts move to new cells.  Returns 0, SP_ECORRUPT, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__tablewriter_continue(struct sp__tablewriter *w);
/* Returns the maximum of cells of the state before that further records change. */
uint64_t sp__tablewriter_old_cells(const struct sp__tablefile *file);
/*
 * Adds n records: columns[i] has the values of column i, which are copied, or placed.  The offsets
 * of texts are changed.
 */
SP_MUST_CHECK int sp__tablewriter_put(struct sp__tablewriter *w, size_t n,
				      const struct sp__column_values *columns);
/* Writes all cells, after all fills; then the table has all records, and must be committed. */
SP_MUST_CHECK int sp__tablewriter_finish(struct sp__tablewriter *w);
/* Returns the cells of the longest request that writes values. */
uint32_t sp__tablewriter_cells(const struct sp__table_layout *l, uint64_t memory_bytes);
/* Adds its requests, and names the engine. */
void sp__tablewriter_note(const struct sp__tablewriter *w, struct sp_run_stats *stats);
/* Waits for outstanding requests.  Accepts a struct that is all zero. */
void sp__tablewriter_close(struct sp__tablewriter *w);
