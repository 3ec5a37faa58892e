/* SPDX-License-Identifier: MIT */
/*
 * The workload of a table: the queries whose cost decides between layouts.
 *
 *	[WEIGHT] scan COLUMNS [where COLUMNS SHARE]
 *	[WEIGHT] get N COLUMNS
 *	[WEIGHT] update N COLUMNS
 *	[WEIGHT] append N
 *
 * COLUMNS: names with commas between them, in double quotes if needed, or * for all.  SHARE: of the
 * records, from 0 to 1 or in percent.  N: random records of one command.
 */
#pragma once

#include "columns/schema.h"

enum sp__table_query_kind { SP__QUERY_SCAN, SP__QUERY_GET, SP__QUERY_UPDATE, SP__QUERY_APPEND };

struct sp__table_query {
	enum sp__table_query_kind kind;
	double weight;
	bool *columns;	  /* by number: read or changed; of a scan those of records that match */
	bool *where;	  /* of a scan: those that the predicate needs; NULL: no predicate */
	double share;	  /* of the records that match; 1 without a predicate */
	uint64_t records; /* of a get, update or append */
	char *text;	  /* without the weight */
};

/* Zero to begin. */
struct sp__table_workload {
	size_t n;
	struct sp__table_query *queries;
};

/*
 * Adds the queries of a file, or of one line.  Returns 0; -ENOMEM; an error of reading; or
 * SP_ESYNTAX, with the line, the reason and, for a column that the schema does not have, the
 * nearest name.  Queries that were added before an error stay.
 */
SP_MUST_CHECK int sp__table_workload_read(struct sp__table_workload *w, const char *path,
					  const struct sp__schema *schema, struct sp_errinfo *err);
SP_MUST_CHECK int sp__table_workload_add(struct sp__table_workload *w, const char *line,
					 const struct sp__schema *schema, struct sp_errinfo *err);
void sp__table_workload_free(struct sp__table_workload *w);
