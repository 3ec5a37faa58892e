/* SPDX-License-Identifier: MIT */
/*
 * A cell: the unit of a table's file.  Cell c is at byte c * B of the file, B from 512 to 65536.
 *
 * Format: B - 8 bytes of payload, whose unused rest is zero; then little-endian: the number of
 * records (2 bytes), the kind (2), and a checksum (4) of all bytes before it, the table's id and
 * the number of the cell.  So a cell at the wrong place or of another table does not count.
 */
#pragma once

#include <stdbool.h>
#include <string.h>
#include "base/rng.h"
#include "table/layout/layout.h"

/* These numbers are in the file. */
enum sp__cell_kind {
	SP__CELL_VALUES = 1, /* records of a column group */
	SP__CELL_TEXT,
	SP__CELL_SCHEMA,
	SP__CELL_MAP,
	SP__CELL_DIRECTORY,
	SP__CELL_TOMBSTONES,
};

/* Returns the bytes of a cell's payload. */
static inline uint32_t sp__cell_payload(uint32_t cell_bytes)
{
	return cell_bytes - SP__CELL_TRAILER_BYTES;
}

static inline uint32_t sp__cell_records(const uint8_t *cell, uint32_t cell_bytes)
{
	const uint8_t *at = cell + sp__cell_payload(cell_bytes);

	return at[0] | (uint32_t)at[1] << 8;
}

/* Returns a number that follows from the contents of a sealed cell, and its place. */
static inline uint64_t sp__cell_digest(const uint8_t *cell, uint32_t cell_bytes, uint64_t number)
{
	uint32_t sum;

	memcpy(&sum, cell + cell_bytes - sizeof(sum), sizeof(sum));
	return sp__mix64(sum ^ sp__mix64(number));
}

/* Completes a cell whose payload is final: writes the last 8 bytes.  records: at most 65535. */
void sp__cell_seal(uint8_t *cell, uint32_t cell_bytes, uint32_t records, enum sp__cell_kind kind,
		   uint64_t id, uint64_t number);

/* What is wrong with a cell that was read. */
enum sp__cell_fault {
	SP__CELL_SOUND,
	SP__CELL_UNWRITTEN, /* all bytes are zero */
	SP__CELL_DAMAGED,   /* damaged, or of another table */
	SP__CELL_KIND,	    /* a valid cell of another kind */
	SP__CELL_RECORDS,   /* a valid cell with another number of records */
};

/* True if the checksum is that of this cell of this table. */
bool sp__cell_valid(const uint8_t *cell, uint32_t cell_bytes, uint64_t id, uint64_t number);
/* Checks a cell that must have this kind and this number of records. */
enum sp__cell_fault sp__cell_check(const uint8_t *cell, uint32_t cell_bytes, uint32_t records,
				   enum sp__cell_kind kind, uint64_t id, uint64_t number);
/*
 * Finds the number for which a cell whose checksum differs would be valid, from 0 to cells - 1: it
 * was written to the wrong place.  Returns false if there is none.
 */
bool sp__cell_find(const uint8_t *cell, uint32_t cell_bytes, uint64_t id, uint64_t cells,
		   uint64_t *number);
/* Returns the name of a kind of cells in messages. */
const char *sp__cell_kind_name(enum sp__cell_kind kind);
