/* SPDX-License-Identifier: MIT */
/*
 * The layout of a table: which columns share cells, and in which cell and at which offset the value
 * of a record is.  Pure arithmetic: there is no table of pages.
 *
 * A column group is a set of columns that share cells.  An A-page is R consecutive records; it has
 * cells of each column group, its minipages.  A strip is consecutive A-pages whose cells lie column
 * group by column group, so a scan of few columns reads long runs of cells.  Strips have 1, 2, 4
 * ... A-pages up to strip_max, then always strip_max.  Records, A-pages, and cells of the data area
 * are numbered from 0.
 *
 * If lanes are apart, all A-pages are one strip, and cell j of the minipages is a lane of its own:
 * cells of consecutive A-pages in one lane have consecutive numbers.  The numbers then say nothing
 * of places, which a mapping decides (place/lanemap.h).
 *
 * A line of cells is what consecutive numbers run along: the cells of a column group, or of a lane
 * if lanes are apart.
 *
 * Record r is in A-page r / R, at position r % R there; in each column group it is in cell
 * (r % R) / n of the minipage, at position (r % R) % n of that cell, n = cell_records.
 *
 * Source: Shao 2008, chapter 4.
 *
 * Thread rule: immutable once made.
 */
#pragma once

#include <math.h>
#include "columns/schema.h"

#define SP__TABLE_CELL_MIN 512 /* bytes */
#define SP__TABLE_CELL_MAX 65536
#define SP__CELL_TRAILER_BYTES 8 /* at the end of each cell (table/file/cell.h) */
#define SP__PAGE_RECORDS_MAX (UINT32_C(1) << 24)
#define SP__TABLE_RECORDS_MAX (UINT64_C(1) << 48)
#define SP__LANE_PAGES (UINT64_C(1) << 34) /* numbers that a lane has, if lanes are apart, */
#define SP__LANES_MAX 4096		   /* and the maximum of lanes */
#define SP__STRIP_BYTES 1000000	       /* the shortest run of a column group in the largest strip */
#define SP__DIRECTORY_ROW_RECORDS 2048 /* the fewest, if all columns share cells */

struct sp__column_group {
	uint32_t ncolumns;
	uint32_t *columns;     /* numbers of columns */
	bool rows;	       /* inside a cell record by record, otherwise column by column */
	uint32_t record_bytes; /* sum of the columns' bytes */
	uint32_t cell_records; /* maximum of a cell */
	uint32_t cells;	       /* cells of an A-page: the minipage */
	uint64_t first_lane;   /* cells of the column groups before this one in an A-page */
};

/* Value i of a cell of this column is at base + i * stride. */
struct sp__column_place {
	uint32_t group, base, stride, bytes;
};

struct sp__table_layout {
	uint32_t cell_bytes;
	uint32_t page_records; /* R, of an A-page */
	uint32_t strip_max;    /* A-pages, a power of two; 0: strips double without end */
	bool lanes;	       /* are apart; strip_max is 0 */
	bool empty_lane;       /* lane 0 has no values */
	bool strips;	       /* the data area has whole strips, even of one column group */
	/* Set by the file: */
	uint64_t stripe_pages; /* windows end where stripes do, */
	bool one_stripe;       /* and have at most one */
	uint32_t align_bytes;  /* alignment of requests on a simulated device; 0: as for the file */
	uint64_t page_cells;   /* cells of an A-page, the empty lane included */
	uint32_t row_pages;    /* A-pages of a directory row */
	uint32_t ngroups, ncolumns;
	uint32_t nlines; /* lines of cells: column groups, or lanes */
	struct sp__column_group *groups;
	struct sp__column_place *places; /* place of each column */
};

/* One of the four points that have a name. */
struct sp__layout_form {
	bool one_group;	     /* all columns share cells, otherwise each has cells of its own */
	bool rows;	     /* of that column group */
	bool endless;	     /* strips double without end */
	uint32_t cell_bytes; /* unless the user chooses */
};

/* NSM, PAX, DSM, CSM: the order of the public names. */
extern const struct sp__layout_form sp__layout_forms[4];

struct sp__layout_opts {
	const struct sp__layout_form *form;
	/*
	 * The number, from 1, of the list of columns that share cells with this one, by column; 0:
	 * none.  NULL: no lists.  Only of forms in which each column has cells of its own.
	 */
	const uint32_t *together;
	uint32_t cell_bytes;   /* 0: the form's */
	uint32_t page_records; /* 0: cell_bytes - 8; with one column group those of a cell */
	uint64_t strip_bytes;  /* of a column group in the largest strip; 0: SP__STRIP_BYTES */
	bool lanes, empty_lane;
};

/*
 * Makes the layout of a schema; frees nothing.  Returns 0; -ENOMEM; SP_ESYNTAX if an option is out
 * of range; or SP_EUNSUP if a record of a column group exceeds a cell.
 */
SP_MUST_CHECK int sp__layout_make(struct sp__table_layout *l, const struct sp__schema *schema,
				  const struct sp__layout_opts *o, struct sp_errinfo *err);
/*
 * Computes all other members from cell_bytes, page_records, strip_max, lanes, empty_lane and, of
 * each column group, columns and rows, which can be those of a damaged file.  page_records may be
 * 0.  Returns 0; -ENOMEM; -EINVAL if they contradict each other or the schema; or -E2BIG if a
 * record of column group *group exceeds a cell.
 */
SP_MUST_CHECK int sp__layout_compute(struct sp__table_layout *l, const struct sp__schema *schema,
				     uint32_t *group);
void sp__layout_free(struct sp__table_layout *l);

/* The strip of an A-page. */
struct sp__strip {
	uint64_t first, pages; /* A-pages */
};

static inline struct sp__strip sp__layout_strip(const struct sp__table_layout *l, uint64_t page)
{
	const uint64_t max = l->strip_max;
	uint64_t pages;

	if (l->lanes)
		return (struct sp__strip){ 0, SP__LANE_PAGES };
	if (max && page >= max - 1)
		return (struct sp__strip){ page - ((page + 1) & (max - 1)), max };
	pages = UINT64_C(1) << (63 - __builtin_clzll(page + 1));
	return (struct sp__strip){ pages - 1, pages };
}

/* Returns the cell of the data area that is cell j of the minipage of an A-page of this strip. */
static inline uint64_t sp__layout_strip_cell(const struct sp__table_layout *l,
					     const struct sp__strip *s, uint64_t page,
					     uint32_t group, uint32_t j)
{
	const struct sp__column_group *g = &l->groups[group];

	if (l->lanes)
		return s->pages * (g->first_lane + j) + page;
	return s->first * l->page_cells + s->pages * g->first_lane + (page - s->first) * g->cells +
	       j;
}

static inline uint64_t sp__layout_cell(const struct sp__table_layout *l, uint64_t page,
				       uint32_t group, uint32_t j)
{
	struct sp__strip s = sp__layout_strip(l, page);

	return sp__layout_strip_cell(l, &s, page, group, j);
}

/* A cell of the data area: cell j of the minipage of a column group. */
struct sp__layout_position {
	uint64_t page;
	uint32_t group, j;
};

/* The inverse of sp__layout_cell(). */
struct sp__layout_position sp__layout_position(const struct sp__table_layout *l, uint64_t cell);

/* Returns the line of cells that has cell j of the minipages of a column group. */
static inline uint32_t sp__layout_line(const struct sp__table_layout *l, uint32_t group, uint32_t j)
{
	return l->lanes ? (uint32_t)l->groups[group].first_lane + j : group;
}

/* Returns the A-pages that so many records need. */
static inline uint64_t sp__layout_pages(const struct sp__table_layout *l, uint64_t records)
{
	return records / l->page_records + (records % l->page_records != 0);
}

/* Returns the records of a full directory row. */
static inline uint64_t sp__layout_row_records(const struct sp__table_layout *l)
{
	return (uint64_t)l->page_records * l->row_pages;
}

/* Returns the records of an A-page in a table of so many records. */
static inline uint32_t sp__layout_page_records(const struct sp__table_layout *l, uint64_t records,
					       uint64_t page)
{
	uint64_t first = page * l->page_records;

	if (first >= records)
		return 0;
	return records - first < l->page_records ? (uint32_t)(records - first) : l->page_records;
}

/* Returns the records in the cell of a position, in a table of so many records. */
uint32_t sp__layout_cell_records(const struct sp__table_layout *l, uint64_t records,
				 const struct sp__layout_position *at);
/*
 * Returns the cells of the data area of so many records: with one column group those of its
 * A-pages, unless `strips` is set; otherwise those of all its strips, since the cells of an A-page
 * are all over a strip.  Lanes are not apart.
 */
uint64_t sp__layout_data_cells(const struct sp__table_layout *l, uint64_t records);
/* Returns the directory rows of so many records. */
uint64_t sp__layout_rows(const struct sp__table_layout *l, uint64_t records);

/*
 * The runs of consecutive cells of the data area that scans and gets read.
 *
 * Reading makes its requests of these runs, and costs are predicted from them, so a prediction
 * counts what is read.
 *
 * Thread rule: pure functions.
 */

#define SP__TABLE_REQUEST_BYTES (UINT64_C(1) << 20) /* bytes of the longest request */

/* Cells of one line of cells. */
struct sp__layout_run {
	uint64_t cell; /* cell of the data area */
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

/*
 * How many cells random records touch, and when it pays to read only these.
 *
 * Source: Shao 2008, section 4.5, for the switch between S-scan and SI-scan.
 *
 * Thread rule: pure functions.
 */

/* Returns the share of cells of n records that have a record, if each is chosen with this share. */
static inline double sp__cells_touched(double share, double n)
{
	return -expm1(n * log1p(-share));
}

/*
 * Returns the share of records below which reading only the touched cells of n records takes less
 * time than reading all.  rho: bytes per second of reads of single cells, divided by those of a
 * sequential read.
 */
static inline double sp__share_switch(double rho, double n)
{
	return rho < 1 ? -expm1(log1p(-rho) / n) : 1;
}
