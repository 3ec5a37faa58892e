/* SPDX-License-Identifier: MIT */
/*
 * Scans a table: windows are read ahead, tasks check their records and print them, or pass them to
 * a user of rows, and the output keeps the order of the records.
 *
 * Owner: the thread that scans.  A window belongs to its task from the start of the task to its
 * end.
 */
#pragma once

#include "table/read/choice.h"
#include "table/read/get.h"
#include "table/read/output.h"

/* Takes the chosen rows of each window, in the task of its slot, instead of an output. */
struct sp__rows_user {
	/* Empties what a slot has. */
	void (*begin)(void *arg, struct sp__window_slot *s);
	/*
	 * Takes n records; selected: their offsets in rows, or NULL for the first n.  Returns 0,
	 * or an error, recorded in s->err.
	 */
	int (*put)(void *arg, struct sp__window_slot *s, const struct sp__rows *rows,
		   const uint32_t *selected, uint32_t n);
	void *arg;
	double record_bytes; /* bytes that the user needs for a record, without texts */
};

struct sp__tablescan_opts {
	uint64_t lo, hi;		   /* record numbers, inclusive */
	uint64_t limit;			   /* records of output */
	bool continued;			   /* without a header line */
	uint64_t ahead_bytes;		   /* bytes of each column group; 0: as memory allows */
	uint64_t gap_bytes;		   /* longest gap of gets (read/get.h) */
	const bool *columns;		   /* columns that are read, by number */
	const struct sp__predicate *where; /* NULL: all records */
	const struct sp__table_output *output;
	/* NULL, or the records are added to it instead of printed; then output has no columns. */
	struct sp__scan_sums *sums;
	const struct sp__rows_user *user; /* NULL, or it takes the records; then output is NULL */
};

/* A scan that is open. */
struct sp__rowscan {
	struct sp__window_ring ring;
	struct sp__record_choice choice;
	const struct sp__tablescan_opts *opts;
	struct sp_table_stats *stats;
	uint64_t left;	  /* records that the limit leaves */
	uint32_t nothers; /* columns that are read, without those of the predicate */
};

/*
 * Opens a scan, which is not moved then.  Returns 0; or an error, recorded in err: -ENOMEM, or of
 * the queue.  After an error, too, it must be closed.
 */
SP_MUST_CHECK int sp__rowscan_open(struct sp__rowscan *c, struct sp__tablefile *f,
				   const struct sp__tablescan_opts *o, struct sp_table_stats *stats,
				   struct sp_errinfo *err);
/*
 * Returns SP_READY and a slot with the next records: its output, or what the user has of it, until
 * the next call; SP_LATER, if the ring has waits; SP_END; or an error, recorded in err.
 */
SP_MUST_CHECK int sp__rowscan_next(struct sp__rowscan *c, struct sp__window_slot **slot);
void sp__rowscan_close(struct sp__rowscan *c);

/* Gives the header line, if there is one, to the sink.  Returns 0 or an error, recorded in err. */
SP_MUST_CHECK int sp__tablescan_header(const struct sp__tablefile *f,
				       const struct sp__table_output *output,
				       const struct sp__reading *to);
/*
 * Scans, and gives the output to the sink.  Returns 0; a negative code of the sink; or an error,
 * recorded in err: SP_ECORRUPT, -ENOMEM, -errno.
 */
SP_MUST_CHECK int sp__tablescan(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				const struct sp__reading *to);

/*
 * The ways to scan records that a predicate chooses.
 *
 * S-scan reads all columns that are needed; SI-scan reads those of the predicate, then the cells of
 * the others that have a chosen record.
 *
 * Source: Shao 2008, section 4.5.
 *
 * Owner: the thread that scans.
 */

#define SP__SCATTERED_STEPS 2 /* steps of an SI-scan; each has an equal share of the memory */

/*
 * Sets columns[i] to true for the columns that sp__tablescan_chosen() reads: those of the output
 * or, if records are only counted, o->columns.
 */
void sp__tablescan_chosen_columns(const struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				  bool *columns);
/*
 * Gets the records whose numbers next() supplies, all of which exist, in half of the memory.
 * check: NULL, or of a get.  Errors as sp__tableget().
 */
SP_MUST_CHECK int sp__tablescan_chosen(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				       int (*next)(void *numbers, uint64_t *record), void *numbers,
				       const struct sp__tableget_check *check,
				       const struct sp__reading *to);
/* SI-scan of o->where, which is set.  Errors as sp__tablescan(). */
SP_MUST_CHECK int sp__tablescan_scattered(struct sp__tablefile *f,
					  const struct sp__tablescan_opts *o,
					  const struct sp__reading *to);
/*
 * Scans parts of the table, each by SI-scan if in the part before a smaller share of the records
 * than max_share was chosen, otherwise by S-scan.  Errors as sp__tablescan().
 */
SP_MUST_CHECK int sp__tablescan_adaptive(struct sp__tablefile *f,
					 const struct sp__tablescan_opts *o, double max_share,
					 const struct sp__reading *to);

/*
 * Returns the end of part i, from 0, of such a scan, which begins at a record: that of an A-page.
 */
uint64_t sp__tablescan_part(const struct sp__table_layout *l, uint64_t at, unsigned i);
