/* SPDX-License-Identifier: MIT */
/*
 * A table whose costs are predicted: one that is stored, or one that would be.
 *
 * Thread rule: one thread; a query of an append adds parts to a placement along tracks, and removes
 * them.
 */
#pragma once

#include "table/file/file.h"
#include "table/layout/layout.h"

struct sp__cost_table {
	/* Under a lock for reading; for the places of texts.  NULL: it is not stored. */
	struct sp__tablefile *file;
	const struct sp__schema *schema; /* borrowed */
	struct sp__table_layout layout;
	struct sp__table_map map;
	uint64_t records;
	const double *text_bytes; /* mean of a value, by column; 0: not a text; borrowed */
	bool text;		  /* a column is a text */
	uint64_t tombstones;	  /* cells with the bits of deleted records; 0: none is deleted */
};

/*
 * Plans the file of a table of so many records as load writes it: superblocks, directory, and for
 * each strip, or part along tracks, its cells and those of its texts.  The layout is made by
 * sp__layout_make() and belongs to the table, as a placement without parts does that map.semiseq
 * names.  After an error, too, the table must be freed.  Returns 0, -ENOMEM, -EFBIG, or -ENOSPC:
 * the tracks have no place.
 */
SP_MUST_CHECK int sp__cost_table_plan(struct sp__cost_table *t, const struct sp__schema *schema,
				      uint64_t records, const double *text_bytes);
void sp__cost_table_free(struct sp__cost_table *t);

/* Returns the end of the directory row of a record. */
uint64_t sp__cost_row_end(const struct sp__cost_table *t, uint64_t record);
/*
 * Finds the cell of the file, and the bytes, of the texts of a column in the row that has a record.
 */
void sp__cost_text_plan(const struct sp__cost_table *t, uint32_t column, uint64_t record,
			uint64_t *first, uint64_t *bytes);
/* Estimates the bytes of a printed value of a column, with a separator. */
double sp__cost_printed_bytes(const struct sp__cost_table *t, uint32_t column);
/* Returns the bytes of the file, on the first drive; on all; and the share that values take. */
uint64_t sp__cost_table_bytes(const struct sp__cost_table *t);
uint64_t sp__cost_table_space(const struct sp__cost_table *t);
double sp__cost_table_fill(const struct sp__cost_table *t);
