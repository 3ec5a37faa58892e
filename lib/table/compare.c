/* SPDX-License-Identifier: MIT */
/*
 * Compares the layouts of a table that exists.
 */
#include <stdlib.h>
#include "base/err.h"
#include "run/volume_spec.h"
#include "table/cost/candidates.h"
#include "table/state.h"

static int read_workload(struct sp__table_workload *w, const struct sp_table_compare_opts *o,
			 const struct sp__table_schema *schema, struct sp_errinfo *err)
{
	int rc = o->workload ? sp__table_workload_read(w, o->workload, schema, err) : 0;

	for (size_t i = 0; !rc && i < o->nqueries; i++)
		rc = sp__table_workload_add(w, o->queries[i], schema, err);
	if (!rc && !w->n)
		rc = sp__errf(err, SP_ESYNTAX, "plan", NULL, -1, "the workload has no queries");
	return rc;
}

/* Computes the mean bytes of a value of each text column. */
static int mean_texts(struct sp_table *t, double *means, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;
	uint64_t *bytes = calloc(f->schema.n, sizeof(*bytes)), cells = 0;
	int rc =
		bytes ? sp__table_begin_reading(t, err) : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	if (!rc) {
		rc = sp__table_add_texts(f, bytes, &cells, err);
		sp__table_end_reading(t);
	}
	for (uint32_t i = 0; !rc && i < f->schema.n; i++)
		means[i] = f->superblock.records ? (double)bytes[i] / (double)f->superblock.records
						 : 0;
	free(bytes);
	return rc;
}

static int compare(struct sp_table *t, const struct sp__cost_question *q, bool measure,
		   struct sp_table_comparison *c, struct sp_errinfo *err)
{
	const struct sp__tablefile *f = &t->file;
	const struct sp__cost_table stored = { .layout = f->layout,
					       .map = f->map,
					       .records = f->superblock.records,
					       .text_bytes = q->text_bytes,
					       .text = sp__map_cells(&f->map, SP__AREA_TEXT) };
	int rc = sp__cost_compare(q, measure, c, err);

	if (rc)
		return rc;
	c->stored.layout = sp__table_layout_of(&f->layout);
	rc = sp__cost_examine(q, &stored, measure, &c->stored, err);
	if (rc)
		sp_table_comparison_free(c);
	return rc;
}

int sp_table_compare(struct sp_table *t, const struct sp_table_compare_opts *opts,
		     struct sp_table_comparison *c, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;
	struct sp__table_workload w = { 0 };
	struct sp_run_opts run = opts->run;
	struct sp__cost_platform p = { 0 };
	double *means = calloc(f->schema.n, sizeof(*means));
	struct sp__cost_question q = { .schema = &f->schema,
				       .records = f->superblock.records,
				       .text_bytes = means,
				       .workload = &w,
				       .platform = &p,
				       .seed = run.seed };
	int rc = means ? read_workload(&w, opts, &f->schema, err)
		       : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	run.volume = run.volume ? run.volume : f->run.volume;
	if (!rc && opts->measure && !sp__volume_spec_simulated(&run))
		rc = sp__errf(err, SP_EUNSUP, "plan", f->path, -1,
			      "measuring layouts needs a simulated volume: --volume=sim:MODEL");
	if (!rc)
		rc = mean_texts(t, means, err);
	if (!rc)
		rc = sp__cost_platform_open(&p, &run, err);
	if (!rc)
		rc = compare(t, &q, opts->measure, c, err);
	sp__cost_platform_close(&p);
	sp__table_workload_free(&w);
	free(means);
	return rc;
}
