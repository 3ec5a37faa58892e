/* SPDX-License-Identifier: MIT */
/*
 * Changes values of columns in place.
 *
 * The caller chooses the records, in ascending order, and gives each its new values.  All changed
 * cells, those of the directory too, go through the journal of the file (table/file/redo.h), so
 * the records are chosen from the state before while the update is made, and all values change or
 * none.  Only cells that change are read and written; if a pool has the update unit page, all cells
 * of their A-pages.
 *
 *	sp__tableupdate_open(); sp__tableupdate_put() for each record; sp__tableupdate_finish();
 *	sp__tableupdate_close()
 *
 * Thread rule: one thread.
 */
#pragma once

#include <spindle/table.h>
#include "cells/lanes.h"
#include "table/clotho/attach.h"
#include "table/file/file.h"
#include "table/write/writer.h"

/*
 * Reads consecutive cells of the file in windows, one request each.
 *
 * Thread rule: one thread.
 */

#define SP__READER_BYTES (UINT32_C(64) << 10) /* bytes of a window, which has at least one cell */

struct sp__cellreader {
	struct sp__tablefile *file;
	uint8_t *data;
	uint32_t max;	       /* cells of a window */
	uint64_t first, cells; /* in memory */
};

/* Returns the cells of a window. */
static inline uint32_t sp__cellreader_max(uint32_t cell_bytes)
{
	return cell_bytes < SP__READER_BYTES ? SP__READER_BYTES / cell_bytes : 1;
}

/* Returns 0 or -ENOMEM.  The memory is charged to the file's budget. */
SP_MUST_CHECK int sp__cellreader_open(struct sp__cellreader *r, struct sp__tablefile *file,
				      struct sp_errinfo *err);
void sp__cellreader_close(struct sp__cellreader *r);
/*
 * Sets *data to a cell of the file, until the next call, and reads no cell from `end` on.  The
 * caller checks the cell.  Returns 0 or the error of reading.
 */
SP_MUST_CHECK int sp__cellreader_get(struct sp__cellreader *r, uint64_t cell, uint64_t end,
				     const uint8_t **data, struct sp_errinfo *err);
/* Forgets what is in memory. */
static inline void sp__cellreader_forget(struct sp__cellreader *r)
{
	r->cells = 0;
}

/* The new value of a text column. */
struct sp__new_text {
	const char *text;
	uint32_t bytes; /* NULL is the byte SP__TEXT_NULL */
};

/* A column that is changed. */
struct sp__update_column {
	uint32_t column;
	/* Where a record's new values have this one: as stored, or a struct sp__new_text. */
	uint32_t at;
};

/* A record that is changed. */
struct sp__update_entry {
	uint32_t record; /* from the first one of the batch */
	const uint8_t *values;
};

/* The records of some directory rows. */
struct sp__update_batch {
	uint64_t first; /* record, the first one of a directory row */
	size_t n, capacity;
	size_t max; /* a batch ends with the directory row in which it has so many */
	struct sp__update_entry *entries;
	/*
	 * Of text column k and entry i: shifts[k * capacity + i] is how much later the texts end
	 * in the directory row from this record on.
	 */
	int64_t *shifts;
	uint64_t charged;
};

struct sp__tableupdate {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	const struct sp__update_column *columns; /* borrowed */
	uint32_t n;
	uint32_t *texts; /* number of each column among those of text */
	uint32_t ntexts;
	bool bounds; /* a changed column has bounds */
	struct sp__update_batch batch;
	struct sp__cellreader reader;
	struct sp__areastream
		directory;	/* the directory is read: a row is as before until it is written */
	uint8_t *row, *old_row; /* rows of the directory */
	uint8_t *cells;		/* a window of cells of texts that are being made */
	uint32_t *ends;		/* ends of the texts of a directory row */
	uint64_t records;	/* put so far */
	struct sp__io_counters io; /* requests that read cells which change */
	char engine[32];
};

/*
 * Begins an update of at most max_records records; max_text: bytes of the longest new text.
 * Returns 0, -ENOMEM, -EFBIG, or -errno.  After an error of any function the update must be closed,
 * and then the file.
 */
SP_MUST_CHECK int sp__tableupdate_open(struct sp__tableupdate *u, struct sp__tablefile *file,
				       const struct sp__update_column *columns, uint32_t n,
				       uint64_t max_records, uint32_t max_text,
				       struct sp_errinfo *err);
/*
 * Changes a record, which follows the one before.  values stays valid until the update is closed.
 */
SP_MUST_CHECK int sp__tableupdate_put(struct sp__tableupdate *u, uint64_t record,
				      const uint8_t *values);
/* Commits.  Returns 0 when all changes are on the device. */
SP_MUST_CHECK int sp__tableupdate_finish(struct sp__tableupdate *u);
/* Adds the requests so far to the counters of a call. */
void sp__tableupdate_note(const struct sp__tableupdate *u, struct sp_table_stats *stats);
void sp__tableupdate_close(struct sp__tableupdate *u);

/*
 * Deletes records: sets their bits among the tombstones.  Numbers of records stay, and their values
 * stay in their cells until the table is converted.
 *
 *	sp__tabledelete_open(); sp__tabledelete_put() for each record; sp__tabledelete_finish();
 *	sp__tabledelete_close()
 *
 * Thread rule: one thread.
 */

struct sp__tabledelete {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	uint64_t records; /* deleted so far */
};

/* After an error of any function the delete must be closed, and then the file. */
SP_MUST_CHECK int sp__tabledelete_open(struct sp__tabledelete *d, struct sp__tablefile *file,
				       struct sp_errinfo *err);
/* Deletes a record, which follows the one before; one that is deleted stays so. */
SP_MUST_CHECK int sp__tabledelete_put(struct sp__tabledelete *d, uint64_t record);
/* Commits.  Returns 0 when all records are deleted on the device. */
SP_MUST_CHECK int sp__tabledelete_finish(struct sp__tabledelete *d);
void sp__tabledelete_close(struct sp__tabledelete *d);

/*
 * Appends records to a table.
 *
 * New cells are written behind the cells of the state before, and become part of the table when the
 * next superblock counts.  Cells of the last A-page and of the directory that are partly full go
 * through the journal, so the table is as before until then.
 *
 *	sp__tableappend_open(); sp__tablewriter_put(&a->writer, ...); sp__tableappend_finish();
 *	sp__tableappend_close()
 *
 * Thread rule: one thread.
 */

struct sp__tableappend {
	struct sp__tablefile *file;
	struct sp_errinfo *err;
	struct sp__tablewriter writer;
};

/* After an error of any function the append must be closed, and then the file. */
SP_MUST_CHECK int sp__tableappend_open(struct sp__tableappend *a, struct sp__tablefile *file,
				       uint64_t memory_bytes, struct sp_errinfo *err);
/* Commits.  Returns 0 when all records are on the device. */
SP_MUST_CHECK int sp__tableappend_finish(struct sp__tableappend *a);
void sp__tableappend_close(struct sp__tableappend *a);

/*
 * Changes the cells of a column group.
 */

/* Returns the sizes of the requests that read cells, of one volume. */
struct sp__runlanes_opts sp__patch_lanes(const struct sp_run_opts *run, unsigned depth,
					 uint32_t cell_bytes);
/*
 * Reads the cells of column group f in which records of the batch are, and puts them into the
 * journal with the new values.  If texts were moved, all later ends of their directory row change,
 * too.  Returns 0, SP_ECORRUPT, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__patch_group(struct sp__tableupdate *u, uint32_t f);

/*
 * Changes the texts of a column in a directory row.
 */

/*
 * Changes the texts of entries [from, to) of the batch, which are the changed records of directory
 * row e, and computes their shifts; i: number of the column in the update.  If texts have another
 * length than before, all of the directory row move to new cells, and the entry of the directory is
 * changed.  Returns 0, SP_ECORRUPT, -EFBIG, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__newtexts_change(struct sp__tableupdate *u, uint32_t i, uint64_t e,
				      size_t from, size_t to, uint8_t *entry);
