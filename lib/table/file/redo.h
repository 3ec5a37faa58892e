/* SPDX-License-Identifier: MIT */
/*
 * The journal of a change in place: all changed cells are written in place, or none.
 *
 * 1. Changed cells are records of a journal (cells/journal.h) behind the cells of the file: type
 *    1, the number of the cell (8 bytes) and its bytes.  A record of type 2 with their number (8)
 *    and the table's id (8) ends it.
 * 2. A superblock that names the journal makes the change count.
 * 3. The cells are written in place.
 * 4. A superblock without a journal ends the change.
 *
 * If a program stops between 2 and 4, the next one that opens the table does 3 and 4.
 */
#pragma once

#include "table/file/file.h"

/*
 * Begins a change of at most max_cells cells of the state before.  Returns 0, or -EFBIG.  The
 * journal has no space in the map; cells that are taken meanwhile lie behind it.
 */
SP_MUST_CHECK int sp__redo_begin(struct sp__tablefile *f, uint64_t max_cells,
				 struct sp_errinfo *err);
/*
 * Adds a changed cell, which is sealed.  Of two changes of one cell the later one counts.  Returns
 * 0, -ENOSPC, -ENOMEM, SP_ESTATE if there are more than max_cells, or -errno.
 */
SP_MUST_CHECK int sp__redo_put(struct sp__tablefile *f, uint64_t cell, const uint8_t *data,
			       struct sp_errinfo *err);
/* Gives up a change that was not committed: the file must be closed next. */
void sp__redo_abandon(struct sp__tablefile *f);

/* For commits: ends the journal, and fills in its place in the superblock. */
SP_MUST_CHECK int sp__redo_end(struct sp__tablefile *f, struct sp_errinfo *err);
/*
 * Checks the journal that the superblock names, and writes its cells in place.  Writing the next
 * superblock syncs them first.
 */
SP_MUST_CHECK int sp__redo_apply(struct sp__tablefile *f, struct sp_errinfo *err);
/* Returns the bytes of a journal of so many cells. */
uint64_t sp__redo_bytes(uint32_t cell_bytes, uint64_t cells);
#define SP__REDO_SORTED 1024 /* cells that are written in place in the order of the file, at most */
/* Returns how many they are with so much memory. */
static inline size_t sp__redo_sorted(uint64_t memory_bytes, uint32_t cell_bytes)
{
	const uint64_t n = memory_bytes / 32 / cell_bytes;

	return n < SP__REDO_SORTED ? (size_t)n : SP__REDO_SORTED;
}
