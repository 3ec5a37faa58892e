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

#include "base/mem.h"
#include "columns/vector.h"
#include "table/file/directory.h"
#include "table/write/slabs.h"

/*
 * Collects the texts of a directory row, and writes them to cells of their own: the texts of each
 * column one behind the other over the payloads of consecutive cells.
 *
 * Thread rule: one thread.
 */

struct sp__text_column {
	struct sp__bytes pending; /* not written */
	uint64_t bytes;		  /* bytes of the directory row, pending ones included */
	uint64_t first;		  /* cells that are reserved for it in the file; */
	uint64_t reserved, written;
	struct sp__text_place old; /* cells that are released at the end of the directory row */
};

struct sp__texts {
	struct sp__slabs *slabs;
	struct sp__tablefile *file;
	bool fresh; /* it has no state yet: space that is released is free immediately */
	struct sp_errinfo *err;
	uint32_t n;
	struct sp__text_column *columns;
	uint64_t pending, max_pending; /* bytes of all columns */
	struct sp__slab *out;	       /* cells that are complete, from first_out on; or NULL */
	uint64_t first_out;
	uint32_t cells_out;
};

/* Prepares n columns of text, which may keep about max_pending bytes in memory. */
SP_MUST_CHECK int sp__texts_open(struct sp__texts *t, struct sp__slabs *slabs,
				 struct sp__tablefile *file, uint32_t n, uint64_t max_pending,
				 struct sp_errinfo *err);
void sp__texts_close(struct sp__texts *t);
/*
 * Continues a directory row: the texts of column k so far are in these cells, which the column
 * releases at the end of the row.  done: as below.  Returns 0, SP_ECORRUPT, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__texts_continue(struct sp__texts *t, uint32_t k, struct sp__tablefile *file,
				     const struct sp__text_place *place, double done);
/* Returns the bytes of texts that can be added until twice max_pending are in memory. */
uint64_t sp__texts_room(const struct sp__texts *t);
/* Returns the bytes of texts as they are stored. */
uint64_t sp__text_refs_bytes(const struct sp__text_ref *refs, size_t n);
/* Adds texts of n records to column k, and puts their ends in place of their offsets. */
SP_MUST_CHECK int sp__texts_add(struct sp__texts *t, uint32_t k, const char *base,
				struct sp__text_ref *refs, size_t n);
/*
 * Writes texts if more than max_pending bytes are in memory.  done: the share of the directory
 * row's records that have been added, to estimate the length of the rest.
 */
SP_MUST_CHECK int sp__texts_limit(struct sp__texts *t, double done);
/* Ends a directory row: places[k] is set for each column. */
SP_MUST_CHECK int sp__texts_end_row(struct sp__texts *t, struct sp__text_place *places);
/* Writes what is still in a buffer. */
SP_MUST_CHECK int sp__texts_flush(struct sp__texts *t);

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
