/* SPDX-License-Identifier: MIT */
/*
 * Compares the layouts of a table that exists, or of one that would have a schema.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <spindle/table.h>
#include "base/err.h"
#include "base/rng.h"
#include "columns/schema_text.h"
#include "table/cost/ask.h"
#include "table/cost/workload.h"
#include "table/state.h"

/*
 * Runs the queries of a workload on the table as it is stored, and takes the time: scans without a
 * predicate, and gets of random records.  Others would need values, or change the table.
 */

#define GETS 256 /* records, repetitions included: a mean needs some */

/* Supplies random record numbers. */
struct numbers {
	struct sp__rng rng;
	uint64_t records, left;
	char text[24];
};

static int next_number(void *numbers, const char **key, size_t *bytes)
{
	struct numbers *n = numbers;

	if (!n->left)
		return 0;
	n->left--;
	*bytes = (size_t)snprintf(n->text, sizeof(n->text), "%llu",
				  (unsigned long long)sp__rng_below(&n->rng, n->records));
	*key = n->text;
	return 1;
}

static int drop(void *arg, const char *data, size_t bytes)
{
	(void)arg;
	(void)data;
	(void)bytes;
	return 0;
}

/* Lists the columns of a query, each in quotes.  NULL: no memory. */
static char *list_columns(const struct sp__schema *s, const bool *columns)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	bool any = false;

	if (!f)
		return NULL;
	for (uint32_t i = 0; i < s->n; i++) {
		if (!columns[i])
			continue;
		fputs(any ? ",\"" : "\"", f);
		for (const char *c = s->columns[i].name; *c; c++) {
			if (*c == '"')
				putc('"', f);
			putc(*c, f);
		}
		putc('"', f);
		any = true;
	}
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

static int run_get(struct sp_table *t, const struct sp__table_query *q, const char *columns,
		   uint64_t seed, struct sp_errinfo *err)
{
	struct numbers n = { .rng = { seed },
			     .records = t->file.superblock.records,
			     .left = q->records };
	struct sp_table_get get = SP_TABLE_GET_INIT;

	get.columns = columns;
	get.discard = true;
	get.keys = next_number;
	get.keys_arg = &n;
	return sp_table_get(t, &get, drop, NULL, NULL, err);
}

static int run_query(struct sp_table *t, const struct sp__table_query *q, uint64_t seed,
		     double *seconds, struct sp_errinfo *err)
{
	struct sp_table_query scan = SP_TABLE_QUERY_INIT;
	uint64_t begin_ns = sp__env_now_ns(&t->file.env);
	uint64_t times = q->kind == SP__QUERY_GET ? (GETS - 1) / q->records + 1 : 1;
	char *columns = list_columns(&t->file.schema, q->columns);
	int rc = columns ? 0 : sp__err(err, -ENOMEM, "malloc", NULL, -1);

	scan.columns = columns;
	scan.discard = true;
	for (uint64_t i = 0; !rc && i < times; i++)
		rc = q->kind == SP__QUERY_GET ? run_get(t, q, columns, sp__mix64(seed + i), err)
					      : sp_table_scan(t, &scan, drop, NULL, NULL, err);
	*seconds = (double)(sp__env_now_ns(&t->file.env) - begin_ns) * 1e-9 / (double)times;
	free(columns);
	return rc;
}

/*
 * Sets measured_s of the costs of a table as it is stored; NaN for queries that cannot be run.
 * Returns 0 or an error of sp_table_scan() or sp_table_get().
 */
static int table_run_queries(struct sp_table *t, const struct sp__table_workload *w, uint64_t seed,
			     struct sp_table_candidate *c, struct sp_errinfo *err)
{
	int rc = 0;

	c->sum.measured_s = 0;
	for (size_t i = 0; !rc && i < w->n; i++) {
		const struct sp__table_query *q = &w->queries[i];
		double *seconds = &c->costs[i].measured_s;

		*seconds = NAN;
		if ((q->kind == SP__QUERY_GET && t->file.superblock.records) ||
		    (q->kind == SP__QUERY_SCAN && !q->where))
			rc = run_query(t, q, seed + i, seconds, err);
		c->sum.measured_s += q->weight * *seconds;
	}
	return rc;
}

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
		rc = table_run_queries(t, &w, opts->run.seed, &c->stored, err);
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

	run.volume = run.volume ? run.volume : f->cells.drive;
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
	struct sp__schema s = { 0 };
	const struct sp__cost_asked asked = { .name = schema, .schema = &s, .records = records };
	int rc = sp__schema_file_read(&s, schema, err);

	for (uint32_t i = 0; i < s.n; i++)
		s.columns[i].bounds = sp__column_type_bounded(&s.columns[i].type);
	if (!rc)
		rc = sp__cost_ask(&asked, opts, &opts->run, c, err);
	sp__schema_free(&s);
	return rc;
}
