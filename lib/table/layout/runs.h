/* SPDX-License-Identifier: MIT */
/*
 * The runs of consecutive cells of the data area that scans and gets read.
 *
 * Reading makes its requests of these runs, and costs are predicted from them, so a prediction
 * counts what is read.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include "table/layout/layout.h"

#define SP__TABLE_REQUEST_BYTES (UINT64_C(1) << 20) /* of the longest request */

/* Cells of one line of cells. */
struct sp__layout_run {
	uint64_t cell; /* of the data area */
	uint64_t cells;
};

/* Sets groups[f] to true if column group f has one of the columns.  Returns the number of these. */
uint32_t sp__layout_groups(const struct sp__table_layout *l, const bool *columns, bool *groups);

/*
 * Returns the A-pages from `page` on that a scan of these column groups reads together: at most
 * `pages`, at most so many that no run exceeds `bytes` (but one A-page at least), and, if there are
 * several column groups, those of one strip.  If lanes are apart, the mapping divides their runs.
 */
uint64_t sp__layout_window(const struct sp__table_layout *l, const bool *groups, uint64_t page,
			   uint64_t pages, uint64_t bytes);
/*
 * Returns the records of the window that begins at record `at` and has `bytes` of memory for the
 * cells of these column groups and for `more` bytes per record: whole A-pages of
 * sp__layout_window(), or, if an A-page needs more memory, a part of one.
 */
uint64_t sp__layout_window_records(const struct sp__table_layout *l, const bool *groups,
				   uint64_t at, uint64_t bytes, double more);
/* Returns the lines of cells that a column group has. */
static inline uint32_t sp__layout_lines_of(const struct sp__table_layout *l, uint32_t group)
{
	return l->lanes ? l->groups[group].cells : 1;
}
/*
 * Returns the run of line k of a column group that has its cells with records [first, last], which
 * are in one strip if there are several column groups.  The run of a lane can be empty.
 */
struct sp__layout_run sp__layout_run(const struct sp__table_layout *l, uint32_t group, uint32_t k,
				     uint64_t first, uint64_t last);

/* Returns the cell of the data area that has the values of a record in a column group. */
static inline uint64_t sp__layout_record_cell(const struct sp__table_layout *l, uint32_t group,
					      uint64_t record)
{
	return sp__layout_cell(l, record / l->page_records, group,
			       (uint32_t)(record % l->page_records) /
				       l->groups[group].cell_records);
}

/*
 * Records in ascending order whose cells are read together.  A gap between two cells of a column
 * group that is not longer than gap_cells is read as well, since that takes less time than another
 * request.
 */
struct sp__layout_gather {
	const struct sp__table_layout *layout;
	const bool *groups; /* that are read */
	uint64_t gap_cells;
	uint64_t slack_cells; /* memory of a request besides its cells, if it is widened */
	uint64_t more;	      /* cells of one more record, at most */
	uint64_t cells;	      /* so far, gaps and slack included */
	uint64_t *next; /* of each line of cells: the cell of the data area after the last one */
};

/* align_bytes: of requests.  Returns 0 or -ENOMEM; begins at the first record. */
SP_MUST_CHECK int sp__layout_gather_open(struct sp__layout_gather *g,
					 const struct sp__table_layout *l, const bool *groups,
					 uint64_t gap_cells, uint64_t align_bytes);
void sp__layout_gather_close(struct sp__layout_gather *g);
/* Empties it. */
void sp__layout_gather_begin(struct sp__layout_gather *g);
/* Counts the cells of a record. */
void sp__layout_gather_add(struct sp__layout_gather *g, uint64_t record);
