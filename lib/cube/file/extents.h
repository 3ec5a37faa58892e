/* SPDX-License-Identifier: MIT */
/*
 * Checksums of the data.  Some consecutive cells of a row along dimension 0 form an extent, of
 * 4096 bytes if cells are smaller, which has a checksum in the table of its fragment; 0 means that
 * it was never written.  The checksum is a sum over cells, so they may come in any order.
 *
 * A load of points marks the extents that it is going to change.  After an interruption each of
 * their elements that it names is the old one, the new one, or something between, and all others
 * are what they were; so the same load, done again, sets it right.
 *
 * An object of this kind holds the entries of the extents of a box, which are charged to the
 * budget.
 */
#pragma once

#include "cube/file/file.h"

struct sp__extents {
	struct sp__cubefile *file;
	struct sp_cube_box box; /* dimension 0 in extents, the others in cells */
	uint64_t n;
	uint32_t *known; /* as in the table */
	uint64_t *sums;	 /* of the cells added */
};

/* Bytes of memory for each extent. */
#define SP__EXTENT_MEMORY 12

/* Grows a box of cells to whole extents along dimension 0. */
void sp__extents_whole(const struct sp__cubefile *c, struct sp_cube_box *cells);
/* The block after the table of a fragment. */
uint64_t sp__extents_table_end(const struct sp__cube_superblock *h,
			       const struct sp__fragment *fragment);

/* Bytes of memory for a box of whole extents. */
uint64_t sp__extents_memory(const struct sp__cubefile *c, const struct sp_cube_box *cells);
/* Reads or writes a piece of the file; SP_ECORRUPT: it ends before. */
SP_MUST_CHECK int sp__extents_move(int fd, bool write, void *data, uint64_t bytes, uint64_t at);

/* For a box of cells that are whole extents. */
SP_MUST_CHECK int sp__extents_open(struct sp__extents *e, struct sp__cubefile *c,
				   const struct sp_cube_box *cells, struct sp_errinfo *err);
void sp__extents_close(struct sp__extents *e);
SP_MUST_CHECK int sp__extents_read(struct sp__extents *e, struct sp_errinfo *err);
/* Writes the checksums of the cells that were added. */
SP_MUST_CHECK int sp__extents_write(struct sp__extents *e, struct sp_errinfo *err);

/* Writes into the table that the extents are being changed, but not of those never written. */
SP_MUST_CHECK int sp__extents_mark(struct sp__extents *e, struct sp_errinfo *err);
/* Whether a load that was interrupted was changing the first extent. */
bool sp__extents_changing(const struct sp__extents *e);

/* What the table is to have for the first extent, after all its cells were added. */
uint32_t sp__extents_sum(const struct sp__extents *e);

/* Whether the cell was never written. */
bool sp__extents_absent(const struct sp__extents *e, const uint64_t *x);
void sp__extents_add(struct sp__extents *e, const uint64_t *x, const uint8_t *cell);
/*
 * After all cells were added: the damaged extents; first: a cell of the first of them.  Those that
 * a load was changing, which is to be done again, do not count.
 */
uint64_t sp__extents_damaged(const struct sp__extents *e, uint64_t *first);
uint64_t sp__extents_absent_count(const struct sp__extents *e);
