/* SPDX-License-Identifier: MIT */
/*
 * The directory of a table: a row for each A-page, or for a few of them (layout.row_pages).
 *
 * A row has an entry of 16 bytes for each column with bounds: the least and the greatest value, 8
 * bytes each, as stored and followed by zeros; both are NULL if all values are.  A text column has
 * an entry for its bytes: first cell of the file (8 bytes), cells (4), bytes (4); they lie one
 * value after the other over the payloads of these cells.  Entry k of row e is entry e * n + k of
 * the area; (B - 8) / 16 entries are in a cell.
 *
 * Rows are read and written in windows (table/file/areastream.h).
 */
#pragma once

#include "table/file/file.h"

/*
 * Tombstones: a bit for each record, 1 if it was deleted, the lowest bit of a byte first.  Their
 * area is made at the first delete; records behind its last cell are not deleted.
 */

/* Sets f->tombstones.  cells: those that have been written. */
void sp__tombstones_open(struct sp__tablefile *f, uint64_t cells);
/*
 * Read and write the bits of records [first, first + n), first a multiple of 8; bits has n / 8
 * bytes, rounded up, and bits behind the last record are 0.  Errors as in sp__areastream_read().
 */
SP_MUST_CHECK int sp__tombstones_read(struct sp__tablefile *f, uint64_t first, uint64_t n,
				      uint8_t *bits, struct sp_errinfo *err);
SP_MUST_CHECK int sp__tombstones_write(struct sp__tablefile *f, uint64_t first, uint64_t n,
				       const uint8_t *bits, struct sp_errinfo *err);
/* Returns 1 if the record exists, 0 if there is none of that number, or an error of reading. */
SP_MUST_CHECK int sp__tombstones_exists(struct sp__tablefile *f, uint64_t record,
					struct sp_errinfo *err);

#define SP__ENTRY_BYTES 16

/* The bytes of a text column in a directory row. */
struct sp__text_place {
	uint64_t first; /* cell of the file */
	uint32_t cells, bytes;
};

/*
 * Sets f->entries, f->row_entries and f->directory from schema and layout.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__directory_open(struct sp__tablefile *f);
/* Returns the entries of a row: of columns that have bounds or are texts. */
uint32_t sp__directory_entries(const struct sp__schema *s);
/* Returns the bytes of a cell that entries can have. */
static inline uint32_t sp__directory_usable(uint32_t cell_bytes)
{
	return sp__cell_payload(cell_bytes) / SP__ENTRY_BYTES * SP__ENTRY_BYTES;
}
/* Returns the cells of the directory of so many rows. */
uint64_t sp__directory_cells(const struct sp__tablefile *f, uint64_t rows);

/* Returns the bytes of a row. */
static inline size_t sp__directory_row_bytes(const struct sp__tablefile *f)
{
	return (size_t)f->row_entries * SP__ENTRY_BYTES;
}
/* Returns the entry of a column in a row; the column has one. */
static inline uint8_t *sp__directory_entry(const struct sp__tablefile *f, uint8_t *row,
					   uint32_t column)
{
	return row + (size_t)f->entries[column] * SP__ENTRY_BYTES;
}
void sp__directory_set_text(uint8_t *entry, const struct sp__text_place *t);
struct sp__text_place sp__directory_text(const uint8_t *entry);
/* True if the cells are cells of texts, and their payloads have the bytes. */
bool sp__directory_text_possible(const struct sp__tablefile *f, const struct sp__text_place *t);

/* Read and write rows [first, first + n).  Errors as in sp__areastream_read(). */
SP_MUST_CHECK int sp__directory_read_rows(struct sp__tablefile *f, uint64_t first, uint64_t n,
					  uint8_t *rows, struct sp_errinfo *err);
SP_MUST_CHECK int sp__directory_write_rows(struct sp__tablefile *f, uint64_t first, uint64_t n,
					   const uint8_t *rows, struct sp_errinfo *err);
/*
 * Calls fn with each row, in windows.  Returns 0, the code of fn, which ends the walk, or an error
 * of reading.
 */
SP_MUST_CHECK int sp__directory_each(struct sp__tablefile *f, int (*fn)(void *arg, uint8_t *row),
				     void *arg, struct sp_errinfo *err);
