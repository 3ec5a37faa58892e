/* SPDX-License-Identifier: MIT */
/*
 * Compares the layouts of a table that exists, or of one that would have a schema.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/cost/ask.h"
#include "table/runqueries.h"
#include "table/schema/schema_text.h"
#include "table/state.h"

int sp__table_mean_texts(struct sp__tablefile *f, double *means, struct sp_errinfo *err)
{
	uint64_t *bytes = calloc(f->schema.n, sizeof(*bytes)), cells = 0;
	int rc = bytes ? sp__table_add_texts(f, bytes, &cells, err)
		       : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	for (uint32_t i = 0; !rc && i < f->schema.n; i++)
		means[i] = f->superblock.records ? (double)bytes[i] / (double)f->superblock.records
						 : 0;
	free(bytes);
	return rc;
}

static int measure_stored(struct sp_table *t, const struct sp_table_compare_opts *opts,
			  struct sp_table_comparison *c, struct sp_errinfo *err)
{
	struct sp__table_workload w = { 0 };
	int rc = sp__cost_read_workload(&w, opts, &t->file.schema, t->file.path, err);

	if (!rc)
		rc = sp__table_run_queries(t, &w, opts->run.seed, &c->stored, err);
	sp__table_workload_free(&w);
	if (rc)
		sp_table_comparison_free(c);
	return rc;
}

int sp_table_compare(struct sp_table *t, const struct sp_table_compare_opts *opts,
		     struct sp_table_comparison *c, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;
	struct sp_run_opts run = opts->run;
	double *means = calloc(f->schema.n, sizeof(*means));
	const struct sp__cost_table stored = { .file = f,
					       .schema = &f->schema,
					       .layout = f->layout,
					       .map = f->map,
					       .records = f->superblock.records,
					       .text_bytes = means,
					       .text = sp__map_cells(&f->map, SP__AREA_TEXT),
					       .tombstones = f->superblock.deleted
								     ? f->tombstones.written
								     : 0 };
	const struct sp__cost_asked asked = { .name = f->path,
					      .schema = &f->schema,
					      .records = f->superblock.records,
					      .text_bytes = means,
					      .stored = &stored,
					      .layout = sp__table_layout_of(&f->layout) };
	int rc = means ? sp__table_begin_reading(t, false, err)
		       : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	run.volume = run.volume ? run.volume : f->drive;
	if (!rc) {
		rc = sp__table_mean_texts(f, means, err);
		if (!rc)
			rc = sp__cost_ask(&asked, opts, &run, c, err);
		sp__table_end_reading(t);
	}
	if (!rc && opts->measure_stored)
		rc = measure_stored(t, opts, c, err);
	free(means);
	return rc;
}

int sp_table_compare_schema(const char *schema, uint64_t records,
			    const struct sp_table_compare_opts *opts, struct sp_table_comparison *c,
			    struct sp_errinfo *err)
{
	struct sp__table_schema s = { 0 };
	const struct sp__cost_asked asked = { .name = schema, .schema = &s, .records = records };
	int rc = sp__schema_file_read(&s, schema, err);

	for (uint32_t i = 0; i < s.n; i++)
		s.columns[i].bounds = sp__table_type_bounded(&s.columns[i].type);
	if (!rc)
		rc = sp__cost_ask(&asked, opts, &opts->run, c, err);
	sp__table_schema_free(&s);
	return rc;
}
