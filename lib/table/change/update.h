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
#include "table/change/cellreader.h"
#include "table/clotho/attach.h"

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
	uint32_t *texts; /* of each column: its number among those of text */
	uint32_t ntexts;
	bool bounds; /* a changed column has bounds */
	struct sp__update_batch batch;
	struct sp__cellreader reader;
	struct sp__areastream directory; /* which is read: a row is as before until it is written */
	uint8_t *row, *old_row;		 /* of the directory */
	uint8_t *cells;			 /* of texts, which are being made: a window */
	uint32_t *ends;			 /* of the texts of a directory row */
	uint64_t records;		 /* put so far */
	struct sp__io_counters io;	 /* of the requests that read cells which change */
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
