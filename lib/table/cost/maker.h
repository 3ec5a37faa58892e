/* SPDX-License-Identifier: MIT */
/*
 * A query whose requests are being made, by query.c and changes.c.
 */
#pragma once

#include "table/cost/query.h"
#include "table/cost/requests.h"

/* A query that is being made. */
struct sp__cost_maker {
	struct sp__cost_requests r;
	const struct sp__table_query *q;
	const struct sp__cost_opts *o;
	bool *groups;		      /* needed, by column group */
	bool *first;		      /* of a scan with a predicate: those that it needs */
	bool *output;		      /* and those of the output */
	uint64_t *numbers;	      /* of the records of a batch */
	double scale;		      /* of the cost, if not all requests are made */
	uint64_t requests_max, begun; /* begun: requests made before this pass */
};

/* Issues the cells of records [at, end), each column group by itself.  Returns 0 or an error. */
SP_MUST_CHECK int sp__cost_window(struct sp__cost_maker *m, const bool *groups, uint64_t at,
				  uint64_t end);
/* True if enough requests have been made to scale the rest; notes the scale. */
bool sp__cost_enough(struct sp__cost_maker *m, uint64_t at, uint64_t end);
/* changes.c: make the requests of an update or an append.  Return 0 or an error. */
SP_MUST_CHECK int sp__cost_update(struct sp__cost_maker *m);
SP_MUST_CHECK int sp__cost_append(struct sp__cost_maker *m);
