/* SPDX-License-Identifier: MIT */
/*
 * Checksums of the data.  Consecutive cells of a row along dimension 0 form an extent, of 4096
 * bytes if cells are smaller, otherwise of one cell.  An extent has a checksum in the table of its
 * fragment; 0 means that it was never written.  The checksum is a sum over cells, so cells can be
 * added in any order.
 *
 * A load from CSV marks the extents that it is about to change.  If it is interrupted, an element
 * that it names is the old one, the new one, or a mixture; all other elements are unchanged.  So
 * the same load, repeated, restores a valid state.
 *
 * A struct sp__extents holds the entries of the extents of a box.
 *
 * Memory: SP__EXTENT_MEMORY for each extent, charged to the budget.
 */
#pragma once

#include "cube/file/file.h"

struct sp__extents {
	struct sp__cubefile *file;
	struct sp_cube_box box; /* dimension 0 in extents, the others in cells */
	uint64_t n;
	uint32_t *known; /* checksums in the table */
	uint64_t *sums;	 /* sums over the cells added */
};

/* Bytes of memory for each extent. */
#define SP__EXTENT_MEMORY 12

/* Grows a box of cells to whole extents along dimension 0. */
void sp__extents_whole(const struct sp__cubefile *c, struct sp_cube_box *cells);
/* Returns the block after the table of a fragment. */
uint64_t sp__extents_table_end(const struct sp__cube_superblock *h,
			       const struct sp__fragment *fragment);

/* Returns the bytes of memory for a box of whole extents. */
uint64_t sp__extents_memory(const struct sp__cubefile *c, const struct sp_cube_box *cells);
/* Reads or writes bytes of the file.  Returns 0, -errno, or SP_ECORRUPT if the file ends before. */
SP_MUST_CHECK int sp__extents_move(int fd, bool write, void *data, uint64_t bytes, uint64_t at);

/* Allocates the entries of a box of cells that are whole extents.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__extents_open(struct sp__extents *e, struct sp__cubefile *c,
				   const struct sp_cube_box *cells, struct sp_errinfo *err);
void sp__extents_close(struct sp__extents *e);
/* Reads the entries from the tables. */
SP_MUST_CHECK int sp__extents_read(struct sp__extents *e, struct sp_errinfo *err);
/* Writes the checksums of the cells that were added to the tables. */
SP_MUST_CHECK int sp__extents_write(struct sp__extents *e, struct sp_errinfo *err);

/* Marks in the tables that the extents are being changed, except those that were never written. */
SP_MUST_CHECK int sp__extents_mark(struct sp__extents *e, struct sp_errinfo *err);
/* True if an interrupted load was changing the first extent. */
bool sp__extents_changing(const struct sp__extents *e);

/* Returns the checksum of the first extent, after all its cells were added. */
uint32_t sp__extents_sum(const struct sp__extents *e);

/* True if the cell was never written. */
bool sp__extents_absent(const struct sp__extents *e, const uint64_t *x);
/* Adds a cell to the sum of its extent. */
void sp__extents_add(struct sp__extents *e, const uint64_t *x, const uint8_t *cell);
/*
 * Counts the damaged extents, after all cells were added.  first: set to a cell of the first one.
 * Extents that an interrupted load was changing do not count, since the load is to be repeated.
 */
uint64_t sp__extents_damaged(const struct sp__extents *e, uint64_t *first);
/* Counts the extents that were never written. */
uint64_t sp__extents_absent_count(const struct sp__extents *e);
