/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of a query, and takes their time.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/cost/changes.h"
#include "table/cost/get.h"
#include "table/cost/scan.h"
#include "table/file/directory.h"
#include "table/file/redo.h"

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

	sp__cost_device_depth(&m->r.device, SP__COST_DEPTH);
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
	const struct sp__cost_device *d = &m->r.device;
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
	cost->seconds += sp__cost_device_s(d) * m->scale;
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
		rc = sp__cost_device_restart(&m->r.device);
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
		rc = sp__cost_device_open(&m.r.device, o->platform, t->map.lanemap,
					  file_bytes(t, q), o->measure, err);
		if (!rc)
			rc = make_often(&m, cost);
		sp__cost_device_close(&m.r.device);
	}
	free(m.groups);
	free(m.r.row);
	return rc == -ENOMEM ? sp__err(err, rc, "malloc", NULL, -1) : rc;
}
