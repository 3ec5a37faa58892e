/* SPDX-License-Identifier: MIT */
/*
 * Compares the layouts of a table that exists, or of one that would have a schema.
 */
#include <stdlib.h>
#include "base/err.h"
#include "table/cost/ask.h"
#include "table/schema/schema_text.h"
#include "table/state.h"

#define TEXT_BYTES 32 /* mean of a text, if only the schema is known */

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

int sp_table_compare(struct sp_table *t, const struct sp_table_compare_opts *opts,
		     struct sp_table_comparison *c, struct sp_errinfo *err)
{
	struct sp__tablefile *f = &t->file;
	struct sp_run_opts run = opts->run;
	double *means = calloc(f->schema.n, sizeof(*means));
	const struct sp__cost_table stored = { .schema = &f->schema,
					       .layout = f->layout,
					       .map = f->map,
					       .records = f->superblock.records,
					       .text_bytes = means,
					       .text = sp__map_cells(&f->map, SP__AREA_TEXT) };
	const struct sp__cost_asked asked = { .name = f->path,
					      .schema = &f->schema,
					      .records = f->superblock.records,
					      .text_bytes = means,
					      .stored = &stored,
					      .layout = sp__table_layout_of(&f->layout) };
	int rc = means ? mean_texts(t, means, err) : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	run.volume = run.volume ? run.volume : f->run.volume;
	if (!rc)
		rc = sp__cost_ask(&asked, opts, &run, c, err);
	free(means);
	return rc;
}

int sp_table_compare_schema(const char *schema, uint64_t records,
			    const struct sp_table_compare_opts *opts, struct sp_table_comparison *c,
			    struct sp_errinfo *err)
{
	struct sp__table_schema s = { 0 };
	struct sp__cost_asked asked = { .name = schema, .schema = &s, .records = records };
	int rc = sp__schema_file_read(&s, schema, err);
	double *means = calloc(s.n ? s.n : 1, sizeof(*means));

	asked.text_bytes = means;
	for (uint32_t i = 0; means && i < s.n; i++) {
		s.columns[i].bounds = sp__table_type_bounded(&s.columns[i].type);
		means[i] = s.columns[i].type.kind == 't' ? TEXT_BYTES : 0;
	}
	if (!rc && !means)
		rc = sp__err(err, -ENOMEM, "malloc", NULL, -1);
	if (!rc)
		rc = sp__cost_ask(&asked, opts, &opts->run, c, err);
	free(means);
	sp__table_schema_free(&s);
	return rc;
}
