/* SPDX-License-Identifier: MIT */
/*
 * The bytes of an area, over the payloads of its cells: directory and tombstones.  They are read
 * and written in windows, since they can exceed the memory.
 *
 * Consecutive cells are in memory: those of the last window that was read, or those that changed
 * since the last flush.  What lies together in the file is read or written by one request, since
 * the next one would come a revolution later on a drive.  A window that ends inside a cell keeps
 * that cell, so that the next window can continue it.  Cells that the state before has are changed
 * by the journal (table/file/redo.h); then windows must be written in ascending order, and a cell
 * that was passed cannot be changed again.
 */
#pragma once

#include "table/file/cell.h"
#include "table/file/map.h"

#define SP__AREASTREAM_BYTES 131072 /* of the cells in memory, if they are more than one */

struct sp__tablefile;

struct sp__areastream {
	enum sp__table_area area;
	enum sp__cell_kind kind;
	uint32_t usable;      /* bytes of a cell's payload */
	uint64_t written;     /* cells that have been written; those after them are zero */
	uint64_t old;	      /* of them, cells of the state before */
	uint64_t passed;      /* cells below it were changed since then */
	uint64_t first, end;  /* cells of the area that are in memory */
	uint64_t changed, to; /* of them: those that are to be written */
	uint8_t *cells;	      /* NULL until it is needed */
	uint64_t capacity;    /* cells that it can have */
};

/* Returns the cells of which one window can be in memory. */
static inline uint64_t sp__areastream_max(uint32_t cell_bytes)
{
	return cell_bytes < SP__AREASTREAM_BYTES ? SP__AREASTREAM_BYTES / cell_bytes : 1;
}

/* Returns another reader of the cells that have been written, with memory of its own. */
static inline struct sp__areastream sp__areastream_other(const struct sp__areastream *s)
{
	return (struct sp__areastream){ .area = s->area,
					.kind = s->kind,
					.usable = s->usable,
					.written = s->written,
					.old = s->old };
}

/*
 * Reads bytes [at, at + bytes) of the area, zeros where nothing has been written.  Returns 0,
 * SP_ECORRUPT, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__areastream_read(struct sp__tablefile *f, struct sp__areastream *s,
				      uint64_t at, size_t bytes, void *to, struct sp_errinfo *err);
/* Writes these bytes, and adds cells to the area as needed. */
SP_MUST_CHECK int sp__areastream_write(struct sp__tablefile *f, struct sp__areastream *s,
				       uint64_t at, size_t bytes, const void *from,
				       struct sp_errinfo *err);
/*
 * Gives the area at least so many cells; it doubles, so that it has few extents.  Returns 0,
 * -ENOMEM or -EFBIG.
 */
SP_MUST_CHECK int sp__areastream_reserve(struct sp__tablefile *f, const struct sp__areastream *s,
					 uint64_t cells, struct sp_errinfo *err);
/* Writes what has changed in memory. */
SP_MUST_CHECK int sp__areastream_flush(struct sp__tablefile *f, struct sp__areastream *s,
				       struct sp_errinfo *err);
/* After a commit: all cells that were written are those of the state before. */
void sp__areastream_settle(struct sp__areastream *s);
