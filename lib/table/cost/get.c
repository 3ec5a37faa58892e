/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of records by number.
 *
 * Numbers are taken in batches and sorted; each batch is read in windows (read/get.c).  Each
 * distinct cell of a window is read once, with short gaps; then the cells of texts.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "table/cost/get.h"
#include "table/cost/ring.h"
#include "table/layout/layout.h"
#include "table/read/get.h"

struct get {
	struct sp__cost_maker *m;
	struct sp__cost_ring ring;
	struct sp__cost_rows rows;
	struct sp__tableget_plan plan;
	struct sp__layout_gather gather;
	uint64_t *numbers; /* of the batch: n, of which those before `at` are in windows */
	size_t capacity;
	uint64_t n, at;
};

/* Issues the distinct cells of records in a line of cells, and short gaps between them. */
static int issue_line(struct get *g, uint32_t f, uint32_t k, const uint64_t *numbers, uint64_t n)
{
	const struct sp__table_layout *l = &g->m->r.table->layout;
	uint64_t next = 0;
	int rc = 0;

	for (uint64_t i = 0; !rc && i < n; i++) {
		const struct sp__layout_run run = sp__layout_run(
			l, f, k, sp__cost_first(g->m, g->m->q->columns, f, numbers[i]), numbers[i]);

		for (next = sp__max(next, run.cell); !rc && next < run.cell + run.cells; next++)
			rc = sp__cost_cell(&g->m->r, next, g->plan.gap_cells);
	}
	return rc ? rc : sp__cost_flush(&g->m->r);
}

static int issue_records(struct get *g, const uint64_t *numbers, uint64_t n)
{
	const struct sp__table_layout *l = &g->m->r.table->layout;
	int rc = 0;

	for (uint32_t f = 0; f < l->ngroups; f++)
		for (uint32_t k = 0; !rc && g->m->output[f] && k < sp__layout_lines_of(l, f); k++)
			rc = issue_line(g, f, k, numbers, n);
	return rc;
}

/* Chooses the numbers of the next window. */
static int fill(void *get, struct sp__cost_window *w)
{
	struct get *g = get;
	int rc = 0;

	*w = (struct sp__cost_window){ .at = g->at, .complete = w->complete };
	for (sp__layout_gather_begin(&g->gather); !rc && g->at < g->n; g->at++) {
		if (g->at && g->numbers[g->at] == g->numbers[g->at - 1])
			continue;
		if (g->at > w->at && sp__tableget_full(&g->plan, &g->gather, g->at - w->at))
			break;
		rc = sp__cost_row(&g->rows, g->m, g->numbers[g->at]);
		sp__layout_gather_add(&g->gather, g->numbers[g->at]);
	}
	w->end = g->at;
	if (rc || w->at == w->end)
		return rc ? rc : SP_END;
	rc = issue_records(g, g->numbers + w->at, w->end - w->at);
	return rc ? rc : SP_READY;
}

/* Issues the texts of the records of a window, those of each column by themselves. */
static int texts(void *get, const struct sp__cost_window *w)
{
	struct get *g = get;
	struct sp__cost_requests *r = &g->m->r;
	const struct sp__schema *s = r->table->schema;
	int rc = 0;

	for (uint32_t c = 0; !rc && c < s->n; c++) {
		bool text = g->m->q->columns[c] && s->columns[c].type.kind == 't';

		for (uint64_t i = w->at; !rc && text && i < w->end; i++)
			if (i == w->at || g->numbers[i] != g->numbers[i - 1])
				rc = sp__cost_texts(r, c, g->numbers[i], g->numbers[i] + 1);
		if (!rc)
			rc = sp__cost_flush(r);
	}
	return rc;
}

/* Reads the records of the batch. */
static int read_batch(struct get *g)
{
	const double each_ns = sp__cost_record_ns(g->m, NULL, true);
	const struct sp__cost_window *w;
	int rc;

	qsort(g->numbers, g->n, sizeof(*g->numbers), sp__cost_order);
	g->at = 0;
	while ((rc = sp__cost_ring_next(&g->ring, &w)) == SP_READY)
		sp__timer_compute(&g->m->r.device, (double)(w->end - w->at) * each_ns);
	return rc < 0 ? rc : 0;
}

static int take_batch(struct get *g, const struct sp__cost_get *o, uint32_t n)
{
	int rc = SP_READY;

	for (g->n = 0; rc == SP_READY && g->n < n;) {
		uint64_t number;
		int failed = 0;

		if (!SP__ARRAY_GROW(g->numbers, g->capacity, g->n + 1))
			return -ENOMEM;
		rc = o->next(o->arg, &number);
		if (rc == SP_READY) {
			g->numbers[g->n++] = number;
			failed = o->exist ? 0 : sp__cost_tombstones(g->m, number, number + 1);
		}
		rc = failed ? failed : rc;
	}
	return rc < 0 ? rc : g->n ? SP_READY : SP_END;
}

static int open_get(struct get *g, unsigned parts)
{
	struct sp__cost_maker *m = g->m;
	const struct sp__platform *p = m->o->platform;
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint32_t ntexts = sp__cost_count_texts(m, m->q->columns);

	(void)sp__layout_groups(l, m->q->columns, m->output);
	sp__tableget_plan(&g->plan, p->run, parts, l, m->output, ntexts,
			  sp__columns_printed_bytes(m->r.table->schema, m->q->columns),
			  sp__platform_gap_bytes(p));
	g->ring = (struct sp__cost_ring){ .m = m,
					  .fill = fill,
					  .texts = ntexts ? texts : NULL,
					  .arg = g,
					  .number = SP__RING_SLOTS,
					  .slots = g->plan.slots };
	if (ntexts)
		sp__cost_rows_open(&g->rows, m,
				   sp__working_memory(p->run, p->run->memory_bytes) /
					   SP__TABLEGET_ROWS_SHARE);
	return sp__layout_gather_open(&g->gather, l, m->output, g->plan.gap_cells,
				      sp__cost_align_bytes(l));
}

int sp__cost_get(struct sp__cost_maker *m, const struct sp__cost_get *o)
{
	struct get g = { .m = m };
	int rc = open_get(&g, o->parts);

	for (uint32_t n = 0; !rc;) {
		n = sp__tableget_next(&g.plan, n);
		rc = take_batch(&g, o, n);
		if (rc != SP_READY)
			break;
		rc = read_batch(&g);
	}
	sp__layout_gather_close(&g.gather);
	free(g.numbers);
	return rc < 0 ? rc : 0;
}
