/* SPDX-License-Identifier: MIT */
/*
 * Reads records by their numbers.
 *
 * Numbers are taken in batches that grow 1, 2, 4 ...; the cells of a batch are read together, each
 * once, and the records are given in the order of the numbers.
 *
 * Owner: the thread that reads.
 */
#pragma once

#include "table/read/output.h"
#include "table/read/ranges.h"
#include "table/read/sums.h"

struct sp__tableget_opts {
	/* Supplies the next number.  Returns SP_READY, SP_END, or an error, recorded in err. */
	int (*next)(void *arg, uint64_t *record);
	/* Receives a number that no record has.  Returns 0 or an error. */
	int (*absent)(void *arg, uint64_t record);
	void *arg;
	bool exist;	     /* next() supplies only records that are there */
	unsigned parts;	     /* of the memory, of which it has one; 0: 1 */
	const bool *columns; /* that are read, by number */
	const struct sp__table_output *output;
	struct sp__scan_sums *sums; /* as of a scan; then no number is supplied twice */
};

/*
 * Returns 0; a negative code of next(), absent() or the sink; or an error, recorded in err:
 * SP_ECORRUPT, -ENOMEM, -errno.
 */
SP_MUST_CHECK int sp__tableget(struct sp__tablefile *f, const struct sp__tableget_opts *o,
			       sp_table_sink sink, void *arg, struct sp_table_stats *stats,
			       struct sp_errinfo *err);

/*
 * Returns the largest batch of records whose cells and output have space in a window.  groups: the
 * column groups that are read; ntexts: columns of text that are read; printed_bytes: of a record,
 * without texts.
 */
uint32_t sp__tableget_batch(const struct sp_run_opts *run, const struct sp__table_layout *l,
			    const bool *groups, uint32_t ntexts, double printed_bytes);
