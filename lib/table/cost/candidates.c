/* SPDX-License-Identifier: MIT */
/*
 * Compares the layouts of a table for a workload.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "table/cost/choose.h"
#include "table/cost/query.h"

#define FULL_READ "get 1 *"

static int plan(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		struct sp__cost_table *t, struct sp_errinfo *err)
{
	const struct sp__layout_opts o = { .form = &sp__layout_forms[choice->layout],
					   .together = choice->together,
					   .cell_bytes = q->cell_bytes,
					   .page_records = q->page_records,
					   .strip_bytes = sp__cost_strip_bytes(q->platform) };
	int rc = sp__layout_make(&t->layout, q->schema, &o, err);

	return rc ? rc : sp__cost_table_plan(t, q->schema, q->records, q->text_bytes);
}

int sp__cost_seconds(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		     uint64_t requests_max, double *seconds, struct sp_errinfo *err)
{
	struct sp__cost_opts o = { .platform = q->platform,
				   .measure = q->platform->simulated,
				   .requests_max = requests_max };
	struct sp__cost_table t = { 0 };
	int rc = plan(q, choice, &t, err);

	*seconds = 0;
	for (size_t i = 0; !rc && i < q->workload->n; i++) {
		const struct sp__table_query *query = &q->workload->queries[i];
		struct sp__table_cost cost;

		o.seed = q->seed + i;
		rc = sp__table_query_cost(&t, query, &o, &cost, err);
		*seconds += query->weight * cost.seconds;
	}
	sp__cost_table_free(&t);
	return rc;
}

static int cost_of(const struct sp__cost_question *q, const struct sp__cost_table *t, size_t i,
		   bool measure, struct sp_table_cost *cost, struct sp_errinfo *err)
{
	struct sp__cost_opts o = { .platform = q->platform, .seed = q->seed + i };
	struct sp__table_cost predicted, measured = { .seconds = NAN };
	int rc = sp__table_query_cost(t, &q->workload->queries[i], &o, &predicted, err);

	o.measure = true;
	if (!rc && measure)
		rc = sp__table_query_cost(t, &q->workload->queries[i], &o, &measured, err);
	if (!rc)
		*cost = (struct sp_table_cost){ .requests = predicted.requests,
						.seeks = predicted.seeks,
						.bytes = predicted.bytes,
						.predicted_s = predicted.seconds,
						.measured_s = measured.seconds,
						.scattered = predicted.scattered };
	return rc;
}

static void add(struct sp_table_cost *sum, const struct sp_table_cost *c, double weight)
{
	sum->requests += weight * c->requests;
	sum->seeks += weight * c->seeks;
	sum->bytes += weight * c->bytes;
	sum->predicted_s += weight * c->predicted_s;
	sum->measured_s += weight * c->measured_s;
}

static int list_together(const struct sp__cost_question *q, const uint32_t *together,
			 const char **list)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);
	bool any = false;

	if (!f)
		return -ENOMEM;
	for (uint32_t k = 1; k <= q->schema->n; k++) {
		bool begun = false;

		for (uint32_t i = 0; i < q->schema->n; i++)
			if (together[i] == k) {
				fprintf(f, "%s%s",
					begun ? ","
					: any ? ";"
					      : "",
					q->schema->columns[i].name);
				begun = any = true;
			}
	}
	if (fclose(f)) {
		free(text);
		return -ENOMEM;
	}
	if (!any)
		free(text);
	*list = any ? text : NULL;
	return 0;
}

int sp__cost_examine(const struct sp__cost_question *q, const struct sp__cost_table *t,
		     bool measure, struct sp_table_candidate *c, struct sp_errinfo *err)
{
	size_t n = q->workload->n;
	int rc = 0;

	c->full_reads = NAN;
	c->bytes = sp__cost_table_space(t);
	c->fill = sp__cost_table_fill(t);
	c->costs = calloc(n ? n : 1, sizeof(*c->costs));
	if (!c->costs)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	c->ncosts = n;
	for (size_t i = 0; !rc && i < n; i++) {
		rc = cost_of(q, t, i, measure, &c->costs[i], err);
		add(&c->sum, &c->costs[i], q->workload->queries[i].weight);
	}
	return rc;
}

/* Sets the costs of a layout, unless it is impossible. */
static int examine(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		   bool measure, struct sp_table_candidate *c, struct sp_errinfo *err)
{
	struct sp_errinfo reason = SP_ERRINFO_INIT;
	struct sp__cost_table t = { 0 };
	int rc = plan(q, choice, &t, &reason);

	c->layout = choice->layout;
	c->full_reads = NAN;
	c->code = rc == SP_EUNSUP ? rc : 0;
	if (c->code)
		snprintf(c->reason, sizeof(c->reason), "%.255s", reason.text);
	else if (rc)
		(void)sp__err(err, rc, "plan", NULL, -1);
	if (!rc)
		rc = sp__cost_examine(q, &t, measure, c, err);
	if (!rc && choice->together && list_together(q, choice->together, &c->together))
		rc = sp__err(err, -ENOMEM, "malloc", NULL, -1);
	sp__cost_table_free(&t);
	return c->code ? 0 : rc;
}

/* Returns the time of a full record's read on a layout. */
static int full_read(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		     double *seconds, struct sp_errinfo *err)
{
	struct sp__table_workload w = { 0 };
	struct sp__cost_question full = *q;
	int rc = sp__table_workload_add(&w, FULL_READ, q->schema, err);

	full.workload = &w;
	if (!rc)
		rc = sp__cost_seconds(&full, choice, 0, seconds, err);
	sp__table_workload_free(&w);
	return rc;
}

/* Returns the mean time of the workload's scans; 0: it has none. */
static double scan_s(const struct sp__table_workload *w, const struct sp_table_candidate *c)
{
	double sum = 0, weights = 0;

	for (size_t i = 0; i < w->n; i++)
		if (w->queries[i].kind == SP__QUERY_SCAN) {
			sum += w->queries[i].weight * c->costs[i].predicted_s;
			weights += w->queries[i].weight;
		}
	return weights > 0 ? sum / weights : 0;
}

/* Sets how many full reads outweigh a scan, against NSM. */
static int break_even(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		      const struct sp_table_candidate *nsm, struct sp_table_candidate *c,
		      struct sp_errinfo *err)
{
	const struct sp__cost_choice rows = { .layout = SP_TABLE_NSM };
	double gain_s = scan_s(q->workload, nsm) - scan_s(q->workload, c), row_s, s;
	int rc;

	if (nsm->code || c->code || !(gain_s > 0) || !q->records)
		return 0;
	rc = full_read(q, &rows, &row_s, err);
	if (!rc)
		rc = full_read(q, choice, &s, err);
	if (!rc && s > row_s)
		c->full_reads = gain_s / (s - row_s);
	return rc;
}

static int copy_workload(const struct sp__table_workload *w, struct sp_table_comparison *c)
{
	c->queries = calloc(w->n ? w->n : 1, sizeof(*c->queries));
	c->weights = calloc(w->n ? w->n : 1, sizeof(*c->weights));
	if (!c->queries || !c->weights)
		return -ENOMEM;
	for (; c->nqueries < w->n; c->nqueries++) {
		c->queries[c->nqueries] = strdup(w->queries[c->nqueries].text);
		if (!c->queries[c->nqueries])
			return -ENOMEM;
		c->weights[c->nqueries] = w->queries[c->nqueries].weight;
	}
	return 0;
}

int sp__cost_compare(const struct sp__cost_question *q, bool measure, struct sp_table_comparison *c,
		     struct sp_errinfo *err)
{
	struct sp__cost_choice choice = { .layout = SP_TABLE_NSM };
	int rc;

	*c = (struct sp_table_comparison){ .records = q->records, .measured = measure };
	rc = copy_workload(q->workload, c);
	if (rc)
		(void)sp__err(err, rc, "malloc", NULL, -1);
	for (unsigned i = 0; !rc && i < SP_TABLE_CANDIDATES; i++) {
		choice.layout = (enum sp_table_layout)i;
		if (i == SP_TABLE_AUTO)
			rc = sp__cost_choose(q, &choice, err);
		if (!rc)
			rc = examine(q, &choice, measure, &c->candidates[i], err);
		if (!rc)
			rc = break_even(q, &choice, &c->candidates[SP_TABLE_NSM], &c->candidates[i],
					err);
	}
	free(choice.together);
	if (rc)
		sp_table_comparison_free(c);
	return rc;
}

void sp_table_comparison_free(struct sp_table_comparison *c)
{
	for (size_t i = 0; i < c->nqueries; i++)
		free(c->queries[i]);
	free(c->queries);
	free(c->weights);
	for (unsigned i = 0; i < SP_TABLE_CANDIDATES; i++) {
		free(c->candidates[i].costs);
		free((char *)(uintptr_t)c->candidates[i].together);
	}
	free(c->stored.costs);
	*c = (struct sp_table_comparison){ 0 };
}
