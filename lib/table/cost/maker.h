/* SPDX-License-Identifier: MIT */
/*
 * A query whose requests are being made: by scan.c, get.c and changes.c, which follow what
 * table/read and table/change do.
 */
#pragma once

#include "base/rng.h"
#include "predict/timer.h"
#include "table/cost/candidates.h"
#include "table/cost/subject.h"
#include "table/layout/layout.h"

/*
 * The requests of one query: cells that adjoin in the file are joined to requests of at most
 * SP__TABLE_REQUEST_BYTES, and those are issued to a device.  Two requests of a window are one if
 * the second ends where the first begins (read/window.h).
 *
 * Functions return 0 or an error of the device.
 *
 * Thread rule: one thread.
 */

/* Returns the unit of requests: of files as in io/volume.c. */
static inline uint32_t sp__cost_align_bytes(const struct sp__table_layout *l)
{
	return l->align_bytes ? l->align_bytes : 4096;
}

/* Random numbers of records in ascending order, for which no memory is needed. */
struct sp__cost_draws {
	struct sp__rng rng;
	uint64_t first, records; /* of which they are drawn */
	uint64_t left;
	uint64_t last; /* UINT64_MAX to begin */
	double at;     /* of the records, from 0 to 1: the last one */
};

/* Cells [first, end) of an area that were read last. */
struct sp__cost_memory {
	uint64_t first, end;
};

/* The caller sets table and rng and opens the device; the rest is zero to begin. */
struct sp__cost_requests {
	const struct sp__cost_table *table;
	struct sp__timer device;
	struct sp__rng rng;
	uint64_t max_cells;	       /* of a request; 0: SP__TABLE_REQUEST_BYTES */
	uint64_t first, cells;	       /* of the file: the request that is being joined */
	uint64_t cell;		       /* of an area: its first one */
	uint64_t before, before_cells; /* of the file: a request that the next one can adjoin */
	bool write, align;	       /* align: requests are widened to units of the file */
	uint64_t taken;		       /* cells behind the end of the file */
	uint8_t *row;		       /* of the directory of a table that is stored */
	struct sp__cost_memory in_memory[SP__AREAS];
};
/* Returns the next number that is not the one before, or UINT64_MAX. */
uint64_t sp__cost_draw(struct sp__cost_draws *d);
/* Reads or writes cells of an area. */
SP_MUST_CHECK int sp__cost_cells(struct sp__cost_requests *r, bool write, enum sp__table_area area,
				 uint64_t cell, uint64_t cells);
/* Writes or reads a cell of the file. */
SP_MUST_CHECK int sp__cost_file_cell(struct sp__cost_requests *r, bool write, uint64_t cell);
/* Reads a cell of the data area, and the gap before it if it is not longer. */
SP_MUST_CHECK int sp__cost_cell(struct sp__cost_requests *r, uint64_t cell, uint64_t gap_cells);
/* Finds the mean of a column's texts in the directory row that has a record. */
SP_MUST_CHECK int sp__cost_text_mean(struct sp__cost_requests *r, uint32_t column, uint64_t record,
				     double *bytes);
/*
 * Reads the cells of a column's texts of records [at, end), which are in one directory row and
 * follow those read before; but not a cell that was read last.  Texts of a row are taken to be of
 * equal length.
 */
SP_MUST_CHECK int sp__cost_texts(struct sp__cost_requests *r, uint32_t column, uint64_t at,
				 uint64_t end);
/*
 * Reads bytes [at, at + bytes) of an area whose cells have so many each, except cells that are in
 * memory, by the requests of table/file/areastream.h, and waits for each.  No request may be held.
 */
SP_MUST_CHECK int sp__cost_now(struct sp__cost_requests *r, enum sp__table_area area,
			       uint32_t usable, uint64_t at, uint64_t bytes);
/*
 * Writes cells of the data area that the table would have, as one run: those that it does not have
 * are so many cells behind the end of the file.
 */
SP_MUST_CHECK int sp__cost_new_cells(struct sp__cost_requests *r, uint64_t cell, uint64_t cells,
				     uint64_t behind);
/* Writes bytes so many cells behind the end of the file, and waits for them. */
SP_MUST_CHECK int sp__cost_behind(struct sp__cost_requests *r, uint64_t cells, uint64_t bytes);
/* Writes a superblock and waits for it. */
SP_MUST_CHECK int sp__cost_commit(struct sp__cost_requests *r);
/* Issues the request that is being joined: the next cells begin another. */
SP_MUST_CHECK int sp__cost_flush(struct sp__cost_requests *r);
/* Waits for all requests. */
SP_MUST_CHECK int sp__cost_wait(struct sp__cost_requests *r);

#define SP__COST_DRAWS (1 << 18) /* records of an update or a get: what would follow is scaled */

/* A query that is being made. */
struct sp__cost_maker {
	struct sp__cost_requests r;
	const struct sp__table_query *q;
	const struct sp__cost_opts *o;
	bool *columns;		      /* that a scan reads */
	bool *groups;		      /* needed, by column group */
	bool *first;		      /* of a scan with a predicate: those that it needs */
	bool *output;		      /* and those of the output */
	double scale;		      /* of the cost, if not all requests are made */
	bool stopped;		      /* enough of them have been made */
	uint64_t requests_max, begun; /* begun: requests made before this pass */
};

/*
 * Returns the time of computing a record of the query: its values, except those of some columns
 * (NULL: of none), and the bytes of their text.
 */
double sp__cost_record_ns(const struct sp__cost_maker *m, const bool *except, bool printed);
/* True if one of these columns has bounds. */
bool sp__cost_bounded(const struct sp__cost_maker *m, const bool *columns);
/* Compares two uint64_t, for qsort(). */
int sp__cost_order(const void *a, const void *b);
/* Returns the number of columns of text among these. */
uint32_t sp__cost_count_texts(const struct sp__cost_maker *m, const bool *columns);
/*
 * Returns the first record whose value is read of a column group, so that a record can be: the one
 * before if the end of its text is needed.  columns: that are read.
 */
uint64_t sp__cost_first(const struct sp__cost_maker *m, const bool *columns, uint32_t group,
			uint64_t record);
/*
 * Issues the cells of columns of records [at, end), each line of cells by itself.  Returns 0 or an
 * error.
 */
SP_MUST_CHECK int sp__cost_window(struct sp__cost_maker *m, const bool *columns, const bool *groups,
				  uint64_t at, uint64_t end);
/*
 * True if enough requests have been made to scale the rest, when `at` of `end` have been done;
 * notes the scale.
 */
bool sp__cost_enough(struct sp__cost_maker *m, uint64_t at, uint64_t end);

/* Return 0 or an error. */
SP_MUST_CHECK int sp__cost_update(struct sp__cost_maker *m);
SP_MUST_CHECK int sp__cost_append(struct sp__cost_maker *m);
