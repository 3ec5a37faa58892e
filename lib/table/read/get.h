/* SPDX-License-Identifier: MIT */
/*
 * Reads records by their numbers.
 *
 * Numbers are taken in batches.  A batch is sorted; its records are read in windows, each cell
 * once, and given in the order of the numbers.  The first batches are small, so that their
 * records come soon; later ones are as large as there is memory for their output, since the
 * larger a batch, the more of the cells that a request reads are needed.
 *
 * Owner: the thread that reads.
 */
#pragma once

#include "table/layout/layout.h"
#include "table/read/output.h"
#include "table/read/ranges.h"
#include "table/read/choice.h"

#define SP__TABLEGET_ROWS_SHARE 8 /* directory rows have this share of the working memory */

/* Compares records with what an index has of them.  Any number of tasks call check(). */
struct sp__tableget_check {
	uint32_t column; /* column of the index; it is read, too */
	/* Returns what the number that next() supplied last was found by; NULL: check() knows. */
	uint64_t (*found_by)(const void *arg);
	/* Looks at the first of rows.  Returns 0; or an error, recorded in err: it does not fit. */
	int (*check)(const void *arg, uint64_t found_by, const struct sp__rows *rows,
		     struct sp_errinfo *err);
	const void *arg;
};

struct sp__tableget_opts {
	/* Supplies the next number.  Returns SP_READY, SP_END, or an error, recorded in err. */
	int (*next)(void *arg, uint64_t *record);
	/* Receives a number that no record has.  Returns 0 or an error. */
	int (*absent)(void *arg, uint64_t record);
	void *arg;
	bool exist;	     /* next() supplies only records that are there */
	unsigned parts;	     /* the get has one of so many parts of the memory; 0: 1 */
	uint64_t gap_bytes;  /* the longest gap between cells that takes less time than a request */
	const bool *columns; /* columns that are read, by number */
	const struct sp__table_output *output;
	struct sp__scan_sums *sums; /* sums as in a scan; then no number is supplied twice */
	/* NULL, or compares each record before it is used; its column is one of `columns`. */
	const struct sp__tableget_check *check;
};

/*
 * Returns 0; a negative code of next(), absent(), check() or the sink; or an error, recorded in
 * err: SP_ECORRUPT, -ENOMEM, -errno.
 */
SP_MUST_CHECK int sp__tableget(struct sp__tablefile *f, const struct sp__tableget_opts *o,
			       const struct sp__reading *to);

/* How records are read, by the memory that there is. */
struct sp__tableget_plan {
	unsigned parts; /* the windows have one of so many parts of the memory */
	unsigned slots; /* windows */
	uint64_t slot_bytes;
	uint64_t gap_cells;
	uint64_t batch_bytes; /* memory of a batch: its numbers and output */
	uint32_t batch;	      /* records of the largest batch, as far as output is known */
	double more_bytes;    /* bytes of a record in a window, besides cells of values */
};

/*
 * Plans gets.  groups: the column groups that are read; ntexts: columns of text that are read;
 * printed_bytes: of a record, without texts.
 */
void sp__tableget_plan(struct sp__tableget_plan *p, const struct sp_run_opts *run, unsigned parts,
		       const struct sp__table_layout *l, const bool *groups, uint32_t ntexts,
		       double printed_bytes, uint64_t gap_bytes);
/* Returns the records of the batch after one of so many; 0: of the first one. */
uint32_t sp__tableget_next(const struct sp__tableget_plan *p, uint32_t batch);
/* True if a window, which has n records, has no memory for another one. */
bool sp__tableget_full(const struct sp__tableget_plan *p, const struct sp__layout_gather *g,
		       uint64_t n);
