/* SPDX-License-Identifier: MIT */
/*
 * Reads consecutive cells of the file in windows, one request each.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/file/file.h"

#define SP__READER_BYTES (UINT32_C(64) << 10) /* of a window, but at least a cell */

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
