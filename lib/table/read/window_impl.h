/* SPDX-License-Identifier: MIT */
/* What the files that implement window.h share. */
#pragma once

#include "base/minmax.h"
#include "table/layout/runs.h"
#include "table/read/window.h"

/* Returns the cells of the longest request. */
static inline uint64_t sp__window_max_cells(const struct sp__window *w)
{
	return sp__max(SP__TABLE_REQUEST_BYTES / w->file->layout.cell_bytes, 1);
}

/* True if the end of the text before the range is a value of the table. */
static inline bool sp__window_has_before(const struct sp__table_layout *l, uint64_t first)
{
	return first % sp__layout_row_records(l) != 0;
}

/*
 * Returns the run of line k of a column group with records [first, first + n), and with the end of
 * the text before them.
 */
struct sp__layout_run sp__window_run(const struct sp__window *w, uint32_t group, uint32_t k,
				     uint64_t first, uint64_t n);
/* True if a column group has a column of text that is read. */
bool sp__window_has_text(const struct sp__window *w, uint32_t group);
/* Adds cells of the data area that are a run, except those that are there.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__window_add_run(struct sp__window *w, struct sp__segments *s,
				     struct sp__layout_run run);
/* Returns the end of a text whose cell is in memory; the cursor begins at 0. */
uint32_t sp__window_end_at(const struct sp__window *w, uint32_t column, uint64_t record,
			   size_t *cursor);
