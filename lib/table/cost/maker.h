/* SPDX-License-Identifier: MIT */
/*
 * A query whose requests are being made: by scan.c, get.c and changes.c, which follow what
 * table/read and table/change do.
 */
#pragma once

#include "table/cost/query.h"
#include "table/cost/requests.h"

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
