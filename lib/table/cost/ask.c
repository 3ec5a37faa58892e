/* SPDX-License-Identifier: MIT */
/*
 * Answers which layout suits a table.
 */
#include <stdlib.h>
#include "base/err.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "table/cost/ask.h"

#define TEXT_BYTES 32 /* mean of a text, if it is unknown */

/* What a question needs that is not the table. */
struct asking {
	struct sp_run_opts run; /* with a number of threads: finding it out reads ten files */
	struct sp__table_workload workload;
	struct sp__platform platform;
	struct sp__cost_question q;
	double *means; /* if they are unknown */
};

static void close_asking(struct asking *a)
{
	sp__platform_close(&a->platform);
	sp__table_workload_free(&a->workload);
	free(a->means);
}

/* Takes all texts to be of equal length. */
static int assume_means(struct asking *a)
{
	const struct sp__schema *s = a->q.schema;

	a->means = calloc(s->n, sizeof(*a->means));
	a->q.text_bytes = a->means;
	for (uint32_t i = 0; a->means && i < s->n; i++)
		a->means[i] = s->columns[i].type.kind == 't' ? TEXT_BYTES : 0;
	return a->means ? 0 : -ENOMEM;
}

int sp__cost_read_workload(struct sp__table_workload *w, const struct sp_table_compare_opts *o,
			   const struct sp__schema *schema, const char *name,
			   struct sp_errinfo *err)
{
	int rc = o->workload ? sp__table_workload_read(w, o->workload, schema, err) : 0;

	for (size_t i = 0; !rc && i < o->nqueries; i++)
		rc = sp__table_workload_add(w, o->queries[i], schema, err);
	if (!rc && !w->n)
		rc = sp__errf(err, SP_ESYNTAX, "plan", name, -1, "a workload or a query is needed");
	return rc;
}

static int open_asking(struct asking *a, const struct sp__cost_asked *asked,
		       const struct sp_table_compare_opts *o, const struct sp_run_opts *run,
		       struct sp_errinfo *err)
{
	int rc;

	*a = (struct asking){ .run = *run,
			      .q = { .schema = asked->schema,
				     .records = asked->records,
				     .text_bytes = asked->text_bytes,
				     .workload = &a->workload,
				     .platform = &a->platform,
				     .cell_bytes = asked->cell_bytes,
				     .page_records = asked->page_records,
				     .placing = o->placing,
				     .name = asked->name,
				     .seed = run->seed } };
	if (!asked->text_bytes && assume_means(a))
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	rc = sp__cost_check_placing(&o->placing, SP_TABLE_AUTO, asked->name, err);
	if (!rc)
		rc = sp__cost_read_workload(&a->workload, o, asked->schema, asked->name, err);
	if (!rc && o->measure && !sp__volume_spec_simulated(run))
		rc = sp__errf(err, SP_EUNSUP, "plan", asked->name, -1,
			      "measuring layouts needs a simulated volume: --volume=sim:MODEL");
	a->run.parallel = sp__threads(run->parallel);
	return rc ? rc : sp__platform_open(&a->platform, &a->run, err);
}

/* Sets the costs of the table as it is stored; along tracks it is on drives of its own. */
static int examine_stored(const struct sp__cost_question *q, const struct sp__cost_asked *asked,
			  bool measure, struct sp_table_candidate *c, struct sp_errinfo *err)
{
	const struct sp__lanemap *s = asked->stored->map.lanemap;
	struct sp__platform drives = { 0 };
	struct sp__cost_question stored = *q;
	int rc = s ? sp__platform_open_drives(&drives, q->platform->run, s->volumes, err) : 0;

	if (s)
		stored.platform = &drives;
	c->layout = asked->layout;
	c->placement = s ? SP_PLACE_SEMISEQ : SP_PLACE_CONTIGUOUS;
	if (!rc)
		rc = sp__cost_examine(&stored, asked->stored, measure, c, err);
	sp__platform_close(&drives);
	return rc;
}

int sp__cost_ask(const struct sp__cost_asked *asked, const struct sp_table_compare_opts *opts,
		 const struct sp_run_opts *run, struct sp_table_comparison *c,
		 struct sp_errinfo *err)
{
	struct asking a;
	int rc = open_asking(&a, asked, opts, run, err);

	*c = (struct sp_table_comparison){ 0 };
	if (!rc)
		rc = sp__cost_compare(&a.q, opts->measure, c, err);
	if (!rc && asked->stored)
		rc = examine_stored(&a.q, asked, opts->measure, &c->stored, err);
	if (rc)
		sp_table_comparison_free(c);
	close_asking(&a);
	return rc;
}

int sp__cost_ask_layout(const struct sp__cost_asked *asked, const char *workload,
			const struct sp_table_placing *placing, const struct sp_run_opts *run,
			struct sp__cost_choice *choice, struct sp_errinfo *err)
{
	const struct sp_table_compare_opts o = { .workload = workload, .placing = *placing };
	struct asking a;
	int rc = open_asking(&a, asked, &o, run, err);

	*choice = (struct sp__cost_choice){ .layout = SP_TABLE_CSM };
	if (!rc)
		rc = sp__cost_choose(&a.q, choice, err);
	close_asking(&a);
	return rc;
}
