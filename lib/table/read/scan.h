/* SPDX-License-Identifier: MIT */
/*
 * Scans a table: windows are read ahead, tasks check and print their records, and the output keeps
 * the order of the records.
 *
 * Owner: the thread that scans.  A window belongs to its task from the start of the task to its
 * end.
 */
#pragma once

#include "table/read/output.h"
#include "table/read/ranges.h"
#include "table/read/sums.h"
#include "table/where/predicate.h"

struct sp__tablescan_opts {
	uint64_t lo, hi;		   /* record numbers, inclusive */
	uint64_t limit;			   /* records of output */
	bool continued;			   /* without a header line */
	uint64_t gap_bytes;		   /* of gets (read/get.h) */
	const bool *columns;		   /* that are read, by number */
	const struct sp__predicate *where; /* NULL: all records */
	const struct sp__table_output *output;
	/* NULL, or the records are added to it instead of printed; then output has no columns. */
	struct sp__scan_sums *sums;
};

/* Gives the header line, if there is one, to the sink.  Returns 0 or an error, recorded in err. */
SP_MUST_CHECK int sp__tablescan_header(const struct sp__tablefile *f,
				       const struct sp__table_output *output, sp_table_sink sink,
				       void *arg, struct sp_table_stats *stats,
				       struct sp_errinfo *err);
/*
 * Scans, and gives the output to the sink.  Returns 0; a negative code of the sink; or an error,
 * recorded in err: SP_ECORRUPT, -ENOMEM, -errno.
 */
SP_MUST_CHECK int sp__tablescan(struct sp__tablefile *f, const struct sp__tablescan_opts *o,
				sp_table_sink sink, void *arg, struct sp_table_stats *stats,
				struct sp_errinfo *err);
