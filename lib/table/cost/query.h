/* SPDX-License-Identifier: MIT */
/*
 * The cost of a query on a table: the requests that it makes, and their time.
 */
#pragma once

#include "table/cost/platform.h"
#include "table/cost/subject.h"
#include "table/cost/workload.h"

struct sp__table_cost {
	double requests; /* of reads and writes */
	double seeks;	 /* requests that do not begin where the one before ended */
	double bytes;
	double seconds;
	bool scattered; /* a scan: the cells of matching records are read alone (SI-scan) */
};

struct sp__cost_opts {
	const struct sp__cost_platform *platform;
	bool measure;  /* on the simulated device, even if a geometry is given */
	uint64_t seed; /* of random records */
	/*
	 * About so many requests are made; the cost of a query that has more is scaled.  0: about a
	 * million.
	 */
	uint64_t requests_max;
};

/*
 * Makes the requests of a query on the device of the options, one after the other as the command
 * makes them.  Random records are drawn.  Returns 0, -ENOMEM, or an error of the device.
 */
SP_MUST_CHECK int sp__table_query_cost(const struct sp__cost_table *t,
				       const struct sp__table_query *q,
				       const struct sp__cost_opts *o, struct sp__table_cost *cost,
				       struct sp_errinfo *err);
