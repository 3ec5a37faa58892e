/* SPDX-License-Identifier: MIT */
/*
 * A query whose consumer takes the records step by step: it has its own open table.
 *
 * sp__tablepull_open(); set opts.user or opts.output; sp__rowscan_open() of scan;
 * sp__rowscan_next(); sp__tablepull_close().
 *
 * Owner: the consumer.
 */
#pragma once

#include "table/clotho/attach.h"
#include "table/read/scan.h"

struct sp__tablepull {
	struct sp__tablefile file;
	struct sp__clotho_file pool; /* attached by the consumer; its file is NULL: none */
	bool reading;		     /* under a shared lock */
	uint32_t *columns, n;	     /* columns of the query, in its order */
	bool *read;		     /* columns that are read, by number */
	struct sp__predicate *where;
	struct sp_table_stats stats;
	struct sp__tablescan_opts opts;
	struct sp__rowscan scan;
};

/*
 * Opens the table, and finds what the query names.  plan: the environment of a plan of which the
 * query is a part; NULL: none.  Returns 0; SP_ESYNTAX; SP_EUNSUP for aggregates, or an access other
 * than S-scan; or an error of sp__tablefile_open(); recorded in err.  After an error, too, it must
 * be closed.
 */
SP_MUST_CHECK int sp__tablepull_open(struct sp__tablepull *p, const char *path,
				     const struct sp_run_opts *run, const struct sp__env *plan,
				     const struct sp_table_query *query, struct sp_errinfo *err);
void sp__tablepull_close(struct sp__tablepull *p);
