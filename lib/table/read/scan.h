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
#include "table/read/output.h"
#include "table/read/sums.h"

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
	double record_bytes; /* that it needs for a record, without texts */
};

struct sp__tablescan_opts {
	uint64_t lo, hi;		   /* record numbers, inclusive */
	uint64_t limit;			   /* records of output */
	bool continued;			   /* without a header line */
	uint64_t ahead_bytes;		   /* of each column group; 0: as memory allows */
	uint64_t gap_bytes;		   /* of gets (read/get.h) */
	const bool *columns;		   /* that are read, by number */
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
	uint64_t left;	  /* of the limit */
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
