/* SPDX-License-Identifier: MIT */
/* Opens queries whose records are taken step by step (pull.h). */
#include <stdlib.h>
#include <spindle/table.h>
#include "base/err.h"
#include "table/pull.h"
#include "table/schema/names.h"

/* Finds the columns of the query and of its predicate. */
static int find_columns(struct sp__tablepull *p, const struct sp_table_query *query,
			struct sp_errinfo *err)
{
	const struct sp__table_schema *s = &p->file.schema;
	int rc = sp__names_find(s, query->columns, &p->columns, &p->n, err);

	if (rc)
		return rc;
	p->read = calloc(s->n, sizeof(*p->read));
	if (!p->read)
		return sp__err(err, -ENOMEM, "scan", NULL, -1);
	for (uint32_t i = 0; i < p->n; i++)
		p->read[p->columns[i]] = true;
	rc = query->where ? sp__predicate_parse(&p->where, query->where, s, err) : 0;
	if (!rc && p->where)
		sp__predicate_columns(p->where, p->read);
	return rc;
}

int sp__tablepull_open(struct sp__tablepull *p, const char *path, const struct sp_run_opts *run,
		       const struct sp__env *plan, const struct sp_table_query *query,
		       struct sp_errinfo *err)
{
	int rc;

	*p = (struct sp__tablepull){ .file = { .fd = -1 } };
	if (query->agg ||
	    (query->access != SP_TABLE_ACCESS_AUTO && query->access != SP_TABLE_S_SCAN))
		return sp__errf(
			err, SP_EUNSUP, "scan", path, -1,
			"a stream of records has no aggregates, and is read by S-scan alone");
	rc = sp__tablefile_open_in(&p->file, path, run, plan, false, err);
	if (rc)
		return rc;
	p->file.env.err = err;
	rc = sp__tablefile_blank(&p->file, err);
	if (!rc)
		rc = sp__tablefile_begin_reading(&p->file, err);
	p->reading = !rc;
	if (!rc)
		rc = find_columns(p, query, err);
	p->opts = (struct sp__tablescan_opts){ .lo = query->lo,
					       .hi = query->hi,
					       .limit = query->limit,
					       .continued = true,
					       .columns = p->read,
					       .where = p->where };
	return rc;
}

void sp__tablepull_close(struct sp__tablepull *p)
{
	if (p->scan.ring.file)
		sp__rowscan_close(&p->scan);
	sp__clotho_detach_file(&p->pool);
	if (p->reading)
		sp__tablefile_end_reading(&p->file);
	(void)sp__tablefile_close(&p->file);
	sp__predicate_free(p->where);
	free(p->columns);
	free(p->read);
}
