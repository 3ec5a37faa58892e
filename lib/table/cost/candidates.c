/* SPDX-License-Identifier: MIT */
/*
 * Compares the layouts of a table for a workload.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "dev/geometry.h"
#include "table/cost/choose.h"
#include "table/cost/query.h"

#define FULL_READ "get 1 *"

int sp__cost_check_placing(const struct sp_table_placing *p, enum sp_table_layout layout,
			   const char *name, struct sp_errinfo *err)
{
	const bool automatic = p->how == SP_PLACE_AUTO && layout == SP_TABLE_AUTO;
	const bool tracks = p->how == SP_PLACE_SEMISEQ || automatic;
	const bool lanes = tracks || p->how == SP_PLACE_MEMS;

	if (p->how != SP_PLACE_CONTIGUOUS && !lanes)
		return sp__errf(err, SP_ESYNTAX, "plan", name, -1,
				"a table is placed contiguous, semiseq or mems, or auto with the "
				"layout auto");
	if (!tracks && (p->volumes > 1 || p->depth_rows || p->aim_writes))
		return sp__errf(err, SP_ESYNTAX, "plan", name, -1,
				"several volumes, rows of depth and an aim of writes go with the "
				"placement semiseq");
	if (!lanes && (p->empty_lane || p->skip_bytes))
		return sp__errf(err, SP_ESYNTAX, "plan", name, -1,
				"an empty lane and skipped space go with the placements semiseq "
				"and mems");
	if (lanes && layout != SP_TABLE_CSM && layout != SP_TABLE_AUTO)
		return sp__errf(err, SP_EUNSUP, "plan", name, -1,
				"the placements semiseq and mems go with the layout csm");
	return 0;
}

/* Plans the placement of lanes. */
static int place(struct sp__lanemap **lanemap, struct sp__table_layout *l,
		 const struct sp__cost_question *q, struct sp_errinfo *err)
{
	const struct sp_geometry *g = q->platform->geometry;
	const bool mems = q->placing.how == SP_PLACE_MEMS, tracks = g && g->nzones;
	/* The plan refuses a volume without tracks; some cannot be several, which matters less. */
	const struct sp__lanemap_opts o = { .run = q->platform->run,
					    .path = q->name,
					    .placement = mems ? SP_PLACE_MEMS : SP_PLACE_SEMISEQ,
					    .volumes = tracks ? q->placing.volumes : 1,
					    .depth = q->placing.depth_rows,
					    .aim_writes = q->placing.aim_writes,
					    .lanes = (uint32_t)l->page_cells,
					    .cell_bytes = l->cell_bytes,
					    .skip_bytes = q->placing.skip_bytes };
	int rc;

	*lanemap = calloc(1, sizeof(**lanemap));
	if (!*lanemap)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	rc = sp__lanemap_plan(*lanemap, &o, err);
	if (!rc)
		sp__layout_follow(l, *lanemap);
	return rc;
}

int sp__cost_make_layout(struct sp__table_layout *layout, struct sp__lanemap **lanemap,
			 const struct sp__cost_question *q, const struct sp__cost_choice *choice,
			 struct sp_errinfo *err)
{
	const struct sp_geometry *g = q->platform->geometry;
	struct sp__layout_opts o = { .form = &sp__layout_forms[choice->layout],
				     .together = choice->together,
				     .cell_bytes = q->cell_bytes,
				     .page_records = q->page_records,
				     .lanes = choice->lanes };
	int rc;

	if (!o.lanes)
		o.strip_bytes = sp__cost_strip_bytes(q->platform);
	else if (!o.cell_bytes && g)
		o.cell_bytes = sp__max(SP__TABLE_CELL_MIN, g->block_bytes);
	o.empty_lane = o.lanes && q->placing.empty_lane;
	rc = sp__layout_make(layout, q->schema, &o, err);
	return rc || !o.lanes ? rc : place(lanemap, layout, q, err);
}

/* A table that is planned, and the question on its drives. */
struct planned {
	struct sp__cost_table t;
	struct sp__cost_platform drives; /* along tracks */
	struct sp__cost_question q;
};

static int plan(struct planned *p, const struct sp__cost_question *q,
		const struct sp__cost_choice *choice, struct sp_errinfo *err)
{
	struct sp__lanemap **lanemap = &p->t.map.lanemap;
	int rc;

	*p = (struct planned){ .q = *q };
	rc = sp__cost_make_layout(&p->t.layout, lanemap, q, choice, err);
	if (!rc && choice->lanes) {
		p->q.platform = &p->drives;
		rc = sp__cost_platform_open_drives(&p->drives, q->platform->run, *lanemap, err);
	}
	if (!rc)
		rc = sp__cost_table_plan(&p->t, q->schema, q->records, q->text_bytes);
	return rc == -ENOSPC ? sp__errf(err, SP_EUNSUP, "plan", q->name, -1,
					"the tracks have no place for %llu records: choose larger "
					"drives, or more volumes",
					(unsigned long long)q->records)
			     : rc;
}

static void free_plan(struct planned *p)
{
	sp__cost_table_free(&p->t);
	sp__cost_platform_close(&p->drives);
}

int sp__cost_seconds(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		     uint64_t requests_max, double *seconds, struct sp_errinfo *err)
{
	struct planned p;
	int rc = plan(&p, q, choice, err);
	struct sp__cost_opts o = { .platform = p.q.platform,
				   .measure = q->platform->simulated,
				   .requests_max = requests_max };

	*seconds = 0;
	for (size_t i = 0; !rc && i < q->workload->n; i++) {
		const struct sp__table_query *query = &q->workload->queries[i];
		struct sp__table_cost cost;

		o.seed = q->seed + i;
		rc = sp__table_query_cost(&p.t, query, &o, &cost, err);
		*seconds += query->weight * cost.seconds;
	}
	free_plan(&p);
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
	struct planned p;
	int rc = plan(&p, q, choice, &reason);

	c->layout = choice->layout;
	c->placement = !choice->lanes			 ? SP_PLACE_CONTIGUOUS
		       : q->placing.how == SP_PLACE_MEMS ? SP_PLACE_MEMS
							 : SP_PLACE_SEMISEQ;
	c->full_reads = NAN;
	if (!rc)
		rc = sp__cost_examine(&p.q, &p.t, measure, c, &reason);
	free_plan(&p);
	c->code = rc == SP_EUNSUP ? rc : 0;
	if (c->code) {
		snprintf(c->reason, sizeof(c->reason), "%.255s", reason.text);
		return 0;
	}
	if (rc)
		return sp__errf(err, rc, "plan", NULL, -1, "%s", reason.text);
	return choice->together && list_together(q, choice->together, &c->together)
		       ? sp__err(err, -ENOMEM, "malloc", NULL, -1)
		       : 0;
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
	double gain_s, row_s, s;
	int rc;

	if (nsm->code || c->code || !q->records)
		return 0;
	gain_s = scan_s(q->workload, nsm) - scan_s(q->workload, c);
	if (!(gain_s > 0))
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

/* Examines a choice, against NSM if it has been examined. */
static int compare(const struct sp__cost_question *q, const struct sp__cost_choice *choice,
		   struct sp_table_comparison *all, struct sp_table_candidate *c,
		   struct sp_errinfo *err)
{
	int rc = examine(q, choice, all->measured, c, err);

	return rc ? rc : break_even(q, choice, &all->candidates[SP_TABLE_NSM], c, err);
}

int sp__cost_compare(const struct sp__cost_question *q, bool measure, struct sp_table_comparison *c,
		     struct sp_errinfo *err)
{
	const struct sp__cost_choice semiseq = { .layout = SP_TABLE_CSM, .lanes = true };
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
			rc = compare(q, &choice, c, &c->candidates[i], err);
	}
	free(choice.together);
	if (!rc && q->placing.how != SP_PLACE_CONTIGUOUS)
		rc = compare(q, &semiseq, c, &c->semiseq, err);
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
	free(c->semiseq.costs);
	free(c->stored.costs);
	*c = (struct sp_table_comparison){ 0 };
}
