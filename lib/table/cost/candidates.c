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
#include "predict/platform.h"
#include "table/cost/candidates.h"
#include "table/cost/get.h"
#include "table/cost/scan.h"
#include "table/cost/subject.h"
#include "table/cost/workload.h"
#include "table/file/directory.h"
#include "table/file/redo.h"

/*
 * Makes the requests of a query, and takes their time.
 */

/*
 * A query of few random records is repeated, for a mean, until there are so many of one of these.
 */
#define MEAN_RECORDS 65536
#define MEAN_REQUESTS 16384
#define REQUESTS_MAX (1 << 20) /* of a query: what would follow is scaled */
#define MORE_CELLS 8	       /* of a change, for directory and map */

/* Random numbers of records. */
struct draws {
	struct sp__cost_maker *m;
	uint64_t n;
};

static int draw(void *draws, uint64_t *record)
{
	struct draws *d = draws;
	struct sp__cost_maker *m = d->m;

	if (d->n == m->q->records || sp__cost_enough(m, d->n, m->q->records))
		return SP_END;
	if (d->n == SP__COST_DRAWS) {
		m->scale = (double)m->q->records / SP__COST_DRAWS;
		return SP_END;
	}
	*record = sp__rng_below(&m->r.rng, m->r.table->records);
	d->n++;
	return SP_READY;
}

static int get(struct sp__cost_maker *m)
{
	struct draws draws = { .m = m };
	const struct sp__cost_get get = { .parts = 1, .next = draw, .arg = &draws };

	sp__timer_depth(&m->r.device, SP__TIMER_DEPTH);
	m->begun = m->r.device.requests;
	return sp__cost_get(m, &get);
}

static int make(struct sp__cost_maker *m, bool *scattered)
{
	switch (m->q->kind) {
	case SP__QUERY_SCAN:
		return sp__cost_scan(m, scattered);
	case SP__QUERY_GET:
		return get(m);
	case SP__QUERY_UPDATE:
		return sp__cost_update(m);
	default:
		return sp__cost_append(m);
	}
}

/* Returns the cells that an update writes behind the end at most. */
static uint64_t changed_cells(const struct sp__cost_table *t, const struct sp__table_query *q)
{
	const struct sp__table_layout *l = &t->layout;
	uint64_t cells = MORE_CELLS;
	bool text = false;

	for (uint32_t f = 0; f < l->ngroups; f++) {
		const uint64_t all = sp__layout_pages(l, t->records) * l->groups[f].cells;
		bool changed = false, moved = false;

		for (uint32_t i = 0; i < l->groups[f].ncolumns; i++) {
			uint32_t column = l->groups[f].columns[i];

			changed |= q->columns[column];
			moved |= q->columns[column] && t->schema->columns[column].type.kind == 't';
		}
		if (changed)
			cells += moved ? all : sp__min(q->records, all);
		text |= moved;
	}
	return text ? cells + sp__map_cells(&t->map, SP__AREA_TEXT) : cells;
}

/* Returns the cells that an append takes at most, besides those of the strips that there are. */
static uint64_t appended_cells(const struct sp__cost_table *t, uint64_t records)
{
	const struct sp__table_layout *l = &t->layout;
	const struct sp__strip s = sp__layout_strip(l, (t->records + records) / l->page_records);
	double bytes = 0;

	for (uint32_t i = 0; i < l->ncolumns; i++)
		bytes += t->text_bytes[i] * (double)(records + sp__layout_row_records(l));
	return sp__layout_cell(l, s.first + s.pages, 0, 0) - sp__map_cells(&t->map, SP__AREA_DATA) +
	       (uint64_t)bytes / l->cell_bytes + l->ngroups + MORE_CELLS;
}

/* The bytes of the file after the query: those that it writes behind the end included. */
static uint64_t file_bytes(const struct sp__cost_table *t, const struct sp__table_query *q)
{
	uint64_t cells = 0;

	if (q->kind == SP__QUERY_UPDATE)
		cells = changed_cells(t, q);
	if (q->kind == SP__QUERY_APPEND && !t->map.lanemap)
		cells = appended_cells(t, q->records);
	return sp__cost_table_bytes(t) + sp__redo_bytes(t->layout.cell_bytes, cells);
}

/* Makes the query, and adds its cost. */
static int make_once(struct sp__cost_maker *m, struct sp__table_cost *cost)
{
	const struct sp__timer *d = &m->r.device;
	int rc;

	memset(m->r.in_memory, 0, sizeof(m->r.in_memory));
	m->r.cells = m->r.taken = m->r.max_cells = 0;
	m->r.write = false;
	m->scale = 1;
	m->stopped = false;
	rc = make(m, &cost->scattered);
	cost->requests += (double)d->requests * m->scale;
	cost->seeks += (double)d->seeks * m->scale;
	cost->bytes += (double)d->bytes * m->scale;
	cost->seconds += sp__timer_s(d) * m->scale;
	return rc;
}

/* Makes the query; one of few random records repeatedly, each by a command, for a mean. */
static int make_often(struct sp__cost_maker *m, struct sp__table_cost *cost)
{
	const bool random = m->q->kind == SP__QUERY_GET || m->q->kind == SP__QUERY_UPDATE;
	const uint64_t times = random ? (MEAN_RECORDS - 1) / m->q->records + 1 : 1;
	const uint64_t requests = sp__min(m->requests_max, MEAN_REQUESTS);
	uint64_t n = 1, made;
	int rc = make_once(m, cost);

	for (made = m->r.device.requests; !rc && n < times && made < requests; n++) {
		rc = sp__timer_restart(&m->r.device);
		if (!rc)
			rc = make_once(m, cost);
		made += m->r.device.requests;
	}
	cost->requests /= (double)n;
	cost->seeks /= (double)n;
	cost->bytes /= (double)n;
	cost->seconds /= (double)n;
	return rc;
}

static int open_device(struct sp__cost_maker *m, struct sp_errinfo *err)
{
	const struct sp__lanemap *s = m->r.table->map.lanemap;
	const struct sp__timer_opts o = {
		.platform = m->o->platform,
		.bytes = file_bytes(m->r.table, m->q),
		.drives = s ? s->volumes : 0,
		.drive_blocks = s ? s->volume_cells * s->cell_blocks : 0,
		.measure = m->o->measure,
	};

	return sp__timer_open(&m->r.device, &o, err);
}

int sp__table_query_cost(const struct sp__cost_table *t, const struct sp__table_query *q,
			 const struct sp__cost_opts *o, struct sp__table_cost *cost,
			 struct sp_errinfo *err)
{
	const uint32_t ngroups = t->layout.ngroups;
	struct sp__cost_maker m = { .r = { .table = t, .rng = { o->seed } },
				    .q = q,
				    .o = o,
				    .requests_max =
					    o->requests_max ? o->requests_max : REQUESTS_MAX };
	int rc;

	*cost = (struct sp__table_cost){ 0 };
	if (!t->records && q->kind != SP__QUERY_APPEND)
		return 0;
	m.groups = calloc(3 * (size_t)ngroups + t->layout.ncolumns, sizeof(*m.groups));
	m.r.row = malloc((size_t)sp__directory_entries(t->schema) * SP__ENTRY_BYTES + 1);
	rc = m.groups && m.r.row ? 0 : -ENOMEM;
	if (!rc) {
		m.first = m.groups + ngroups;
		m.output = m.first + ngroups;
		m.columns = m.output + ngroups;
		rc = open_device(&m, err);
		if (!rc)
			rc = make_often(&m, cost);
		sp__timer_close(&m.r.device);
	}
	free(m.groups);
	free(m.r.row);
	return rc == -ENOMEM ? sp__err(err, rc, "malloc", NULL, -1) : rc;
}

#define FULL_READ "get 1 *"

int sp__cost_check_placing(const struct sp_table_placing *p, enum sp_table_layout layout,
			   const char *name, struct sp_errinfo *err)
{
	const bool automatic = p->how == SP_PLACE_AUTO && layout == SP_TABLE_AUTO;
	const bool tracks = p->how == SP_PLACE_SEMISEQ || automatic;
	const bool lanes = tracks || p->how == SP_PLACE_MEMS;

	if (p->how != SP_PLACE_CONTIGUOUS && !lanes)
		return sp__errf(err, SP_ESYNTAX, "plan", name, -1,
				"the placement of a table must be contiguous, semiseq or mems; "
				"auto needs the layout auto");
	if (!tracks && (p->volumes > 1 || p->depth_rows || p->aim_writes))
		return sp__errf(err, SP_ESYNTAX, "plan", name, -1,
				"several volumes, rows of depth and an aim of writes need the "
				"placement semiseq");
	if (!lanes && (p->empty_lane || p->skip_bytes))
		return sp__errf(
			err, SP_ESYNTAX, "plan", name, -1,
			"an empty lane and skipped space need the placement semiseq or mems");
	if (lanes && layout != SP_TABLE_CSM && layout != SP_TABLE_AUTO)
		return sp__errf(err, SP_EUNSUP, "plan", name, -1,
				"the placements semiseq and mems need the layout csm");
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
		o.strip_bytes = sp__platform_run_bytes(q->platform, SP__STRIP_BYTES);
	else if (!o.cell_bytes && g)
		o.cell_bytes = sp__max(SP__TABLE_CELL_MIN, g->block_bytes);
	o.empty_lane = o.lanes && q->placing.empty_lane;
	rc = sp__layout_make(layout, q->schema, &o, err);
	return rc || !o.lanes ? rc : place(lanemap, layout, q, err);
}

/* A table that is planned, and the question on its drives. */
struct planned {
	struct sp__cost_table t;
	struct sp__platform drives; /* along tracks */
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
		rc = sp__platform_open_drives(&p->drives, q->platform->run, (*lanemap)->volumes,
					      err);
	}
	if (!rc)
		rc = sp__cost_table_plan(&p->t, q->schema, q->records, q->text_bytes);
	return rc == -ENOSPC ? sp__errf(err, SP_EUNSUP, "plan", q->name, -1,
					"the tracks have no space for %llu records: choose larger "
					"drives, or more volumes",
					(unsigned long long)q->records)
			     : rc;
}

static void free_plan(struct planned *p)
{
	sp__cost_table_free(&p->t);
	sp__platform_close(&p->drives);
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
