/* SPDX-License-Identifier: MIT */
/*
 * Answers questions: turns the texts of a query into what the inner rooms take.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/read/scan.h"
#include "table/schema/names.h"
#include "table/state.h"

/* A query, ready to run. */
struct query {
	struct sp__table_output output;
	bool *columns; /* that are read, by number */
};

static int open_query(struct query *q, const struct sp__tablefile *f,
		      const struct sp_table_query *query, struct sp_errinfo *err)
{
	uint32_t *columns, n;
	int rc = sp__names_find(&f->schema, query->columns, &columns, &n, err);

	if (rc)
		return rc;
	q->columns = calloc(f->schema.n, sizeof(*q->columns));
	for (uint32_t i = 0; q->columns && i < n; i++)
		q->columns[columns[i]] = true;
	rc = sp__output_open(&q->output, &f->schema, query->format, columns, n, err);
	return q->columns || rc ? rc : sp__err(err, -ENOMEM, "scan", f->path, -1);
}

static void close_query(struct query *q)
{
	sp__output_close(&q->output);
	free(q->columns);
}

int sp_table_scan(struct sp_table *t, const struct sp_table_query *query, sp_table_sink sink,
		  void *arg, struct sp_table_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp_table_stats unused;
	struct query q = { 0 };
	int rc;

	err = err ? err : &own;
	stats = stats ? stats : &unused;
	*stats = (struct sp_table_stats){ 0 };
	rc = sp__table_begin_reading(t, err);
	if (rc)
		return rc;
	rc = open_query(&q, &t->file, query, err);
	if (!rc) {
		const struct sp__tablescan_opts o = { .lo = query->lo,
						      .hi = query->hi,
						      .limit = query->limit,
						      .columns = q.columns,
						      .output = &q.output };

		rc = sp__tablescan(&t->file, &o, sink, arg, stats, err);
	}
	close_query(&q);
	sp__env_note(&t->file.env, &stats->run, true);
	sp__table_end_reading(t);
	return rc;
}
