/* SPDX-License-Identifier: MIT */
/*
 * Cuts the records of a scan into the ranges of windows, with their directory rows.
 *
 * Owner: the thread that reads.
 */
#pragma once

#include "table/read/window.h"

struct sp__scan_ranges {
	struct sp__tablefile *file;
	bool rows_needed;      /* directory rows, for places of texts or for bounds */
	uint64_t window_bytes; /* memory for the cells, texts and output of a window */
	double printed_bytes;  /* printed bytes of a record, without texts */
	uint64_t at, end;      /* records left */
	uint8_t *rows;	       /* directory rows in memory */
	uint64_t first_row, nrows, max_rows;
	uint64_t pages_skipped;
	/* True if no record of a directory row can be selected; NULL: all rows are read. */
	bool (*skip)(const void *arg, struct sp__tablefile *f, uint8_t *row);
	const void *skip_arg;
};

/*
 * Reads directory rows in portions of rows_bytes, if they are needed.  Returns 0 or -ENOMEM.  After
 * an error, too, it must be closed.
 */
SP_MUST_CHECK int sp__ranges_open(struct sp__scan_ranges *r, uint64_t rows_bytes);
#define SP__RANGES_BYTES 65536 /* for reading rows in order */
void sp__ranges_close(struct sp__scan_ranges *r);
/*
 * Returns the directory row of a record, valid until the next call; NULL if rows are not needed.
 * *rc: 0, or an error, recorded in err.
 */
uint8_t *sp__ranges_row(struct sp__scan_ranges *r, uint64_t record, int *rc,
			struct sp_errinfo *err);
/* Returns the bytes of a record's texts, the average of its directory row; row: NULL: none. */
double sp__ranges_text_bytes(const struct sp__scan_ranges *r, const struct sp__window *w,
			     uint64_t record, uint8_t *row);
/*
 * Adds the next records to an empty window.  Returns SP_READY, SP_END if none are left, or an
 * error, recorded in err.
 */
SP_MUST_CHECK int sp__ranges_next(struct sp__scan_ranges *r, struct sp__window *w,
				  struct sp_errinfo *err);
