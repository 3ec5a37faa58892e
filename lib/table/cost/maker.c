/* SPDX-License-Identifier: MIT */
/*
 * What all kinds of queries share.
 */
#include <math.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "predict/timer.h"
#include "table/cost/maker.h"
#include "table/cost/subject.h"
#include "table/file/areastream.h"
#include "table/file/directory.h"
#include "table/layout/layout.h"

/*
 * Makes requests of cells, and draws records.
 *
 * Of n random numbers between 0 and 1 the least one is distributed as 1 - (1 - u)^(1/n), with u
 * between 0 and 1; those above it, likewise.
 */

#define NOW_WINDOW (SP__TIMER_WINDOWS - 1)

static int issue(struct sp__cost_requests *r, uint64_t first, uint64_t cells)
{
	const struct sp__table_layout *l = &r->table->layout;
	const uint64_t cell_bytes = l->cell_bytes;
	const uint64_t unit = r->align ? sp__cost_align_bytes(l) : 1;
	const uint64_t end = (first + cells) * cell_bytes;
	const uint64_t begin = first * cell_bytes / unit * unit;

	return cells ? sp__timer_issue(&r->device, r->write, begin,
				       (end + unit - 1) / unit * unit - begin)
		     : 0;
}

static int issue_before(struct sp__cost_requests *r)
{
	const uint64_t cells = r->before_cells;

	r->before_cells = 0;
	return issue(r, r->before, cells);
}

/* Ends the request that is being joined; that of a window waits for the next one. */
static int end_request(struct sp__cost_requests *r)
{
	int rc = 0;

	if (r->cells && r->before_cells && r->table->layout.lanes &&
	    r->first + r->cells == r->before) {
		r->cells += r->before_cells;
		r->before_cells = 0;
		rc = issue(r, r->first, r->cells);
	} else if (r->cells) {
		rc = issue_before(r);
		r->before = r->first;
		r->before_cells = r->cells;
		if (!rc && !r->align)
			rc = issue_before(r);
	}
	r->cells = 0;
	return rc;
}

int sp__cost_flush(struct sp__cost_requests *r)
{
	int rc = end_request(r);

	return rc ? rc : issue_before(r);
}

int sp__cost_wait(struct sp__cost_requests *r)
{
	int rc = sp__cost_flush(r);

	return rc ? rc : sp__timer_wait(&r->device);
}

static uint64_t max_cells(const struct sp__cost_requests *r)
{
	return r->max_cells ? r->max_cells : SP__TABLE_REQUEST_BYTES / r->table->layout.cell_bytes;
}

/* Adds cells of the file to the request before, and begins others if it cannot have them. */
static int join(struct sp__cost_requests *r, bool write, uint64_t cell, uint64_t first,
		uint64_t cells)
{
	int rc = 0;

	while (!rc && cells) {
		bool begin = r->write != write || r->first + r->cells != first ||
			     r->cells >= max_cells(r);
		uint64_t n;

		if (begin) {
			rc = end_request(r);
			r->first = first;
			r->cell = cell;
			r->write = write;
		}
		n = sp__min(cells, max_cells(r) - r->cells);
		r->cells += n;
		first += n;
		cell += n;
		cells -= n;
	}
	return rc;
}

int sp__cost_cells(struct sp__cost_requests *r, bool write, enum sp__table_area area, uint64_t cell,
		   uint64_t cells)
{
	int rc = 0;

	while (!rc && cells) {
		uint64_t first, n = sp__map_run(&r->table->map, area, cell, cells, &first);

		rc = join(r, write, cell, first, n);
		cell += n;
		cells -= n;
	}
	return rc;
}

/* Finds the texts of a column in the directory row that has a record. */
static int find_texts(struct sp__cost_requests *r, uint32_t column, uint64_t record,
		      uint64_t *first, uint64_t *bytes)
{
	const struct sp__cost_table *t = r->table;
	struct sp__text_place place;
	int rc;

	if (!t->file) {
		sp__cost_text_plan(t, column, record, first, bytes);
		return 0;
	}
	rc = sp__directory_read_rows(t->file, record / sp__layout_row_records(&t->layout), 1,
				     r->row, r->device.err);
	if (rc)
		return rc;
	place = sp__directory_text(sp__directory_entry(t->file, r->row, column));
	*first = place.first;
	*bytes = place.bytes;
	return 0;
}

int sp__cost_text_mean(struct sp__cost_requests *r, uint32_t column, uint64_t record, double *mean)
{
	const struct sp__table_layout *l = &r->table->layout;
	const uint64_t all = sp__layout_row_records(l);
	uint64_t first, bytes;
	int rc = find_texts(r, column, record, &first, &bytes);

	*mean = rc ? 0
		   : (double)bytes /
				(double)(sp__cost_row_end(r->table, record) - record / all * all);
	return rc;
}

int sp__cost_texts(struct sp__cost_requests *r, uint32_t column, uint64_t at, uint64_t end)
{
	const struct sp__table_layout *l = &r->table->layout;
	const uint32_t payload = sp__cell_payload(l->cell_bytes);
	const uint64_t all = sp__layout_row_records(l), row = at / all * all;
	const double records = (double)(sp__cost_row_end(r->table, at) - row);
	uint64_t first = 0, bytes = 0, from, to;
	int rc = find_texts(r, column, at, &first, &bytes);

	from = (uint64_t)((double)bytes * ((double)(at - row) / records));
	to = (uint64_t)ceil((double)bytes * ((double)(end - row) / records));
	if (rc || from >= to)
		return rc;
	from = first + from / payload;
	to = first + (to - 1) / payload + 1;
	if (!r->write && r->cells && r->first <= from && from + 1 == r->first + r->cells)
		from++;
	return join(r, false, from, from, to - from);
}

int sp__cost_file_cell(struct sp__cost_requests *r, bool write, uint64_t cell)
{
	return join(r, write, cell, cell, 1);
}

int sp__cost_cell(struct sp__cost_requests *r, uint64_t cell, uint64_t gap_cells)
{
	const uint64_t end = r->first + r->cells;
	const uint64_t first = sp__map_cell(&r->table->map, SP__AREA_DATA, cell);

	if (r->cells && !r->write && first - end <= gap_cells &&
	    first - r->first == cell - r->cell && first + 1 - r->first <= max_cells(r)) {
		r->cells = first + 1 - r->first;
		return 0;
	}
	return join(r, false, cell, first, 1);
}

/* Reads cells [n, end) of an area, as many as one request of its stream can, and waits. */
static int read_run(struct sp__cost_requests *r, enum sp__table_area area, uint64_t n, uint64_t end)
{
	struct sp__timer *d = &r->device;
	const uint64_t max = sp__areastream_max(r->table->layout.cell_bytes);
	uint64_t first, cells = sp__map_run(&r->table->map, area, n, sp__min(end - n, max), &first);
	int rc = sp__cost_cells(r, false, area, n, cells);

	r->in_memory[area] = (struct sp__cost_memory){ n, n + cells };
	if (!rc)
		rc = sp__cost_flush(r);
	while (!rc && !sp__timer_is_done(d, NOW_WINDOW))
		rc = sp__timer_wait_some(d, NOW_WINDOW);
	return rc;
}

int sp__cost_now(struct sp__cost_requests *r, enum sp__table_area area, uint32_t usable,
		 uint64_t at, uint64_t bytes)
{
	struct sp__timer *d = &r->device;
	const struct sp__cost_memory *memory = &r->in_memory[area];
	const unsigned window = d->window, together = d->together;
	const uint64_t end = (at + bytes + usable - 1) / usable;
	const bool align = r->align;
	int rc = 0;

	sp__timer_window(d, NOW_WINDOW, 1);
	r->align = false;
	for (uint64_t n = at / usable; !rc && n < end; n++)
		if (n < memory->first || n >= memory->end)
			rc = read_run(r, area, n, end);
	sp__timer_window(d, window, together);
	r->align = align;
	return rc;
}

int sp__cost_new_cells(struct sp__cost_requests *r, uint64_t cell, uint64_t cells, uint64_t behind)
{
	const uint64_t have = sp__map_cells(&r->table->map, SP__AREA_DATA);
	const uint64_t n = r->table->map.lanemap ? cells
			   : cell < have	 ? sp__min(cells, have - cell)
						 : 0;
	int rc = sp__cost_cells(r, true, SP__AREA_DATA, cell, n);

	cell += n;
	cells -= n;
	if (!rc && cells) {
		rc = join(r, true, cell, r->table->map.end + behind + cell - have, cells);
		r->taken = sp__max(r->taken, behind + cell + cells - have);
	}
	return rc ? rc : sp__cost_flush(r);
}

int sp__cost_behind(struct sp__cost_requests *r, uint64_t cells, uint64_t bytes)
{
	const uint32_t cell_bytes = r->table->layout.cell_bytes;
	uint64_t at = sp__cost_table_bytes(r->table) + cells * cell_bytes;
	int rc = sp__cost_flush(r);

	r->taken = sp__max(r->taken, cells + (bytes + cell_bytes - 1) / cell_bytes);
	for (uint64_t n; !rc && bytes; at += n, bytes -= n) {
		n = sp__min(bytes, SP__TABLE_REQUEST_BYTES);
		rc = sp__timer_issue(&r->device, true, at, n);
	}
	return rc ? rc : sp__cost_wait(r);
}

int sp__cost_commit(struct sp__cost_requests *r)
{
	int rc = sp__cost_flush(r);

	if (!rc)
		rc = sp__timer_issue(&r->device, true, 0, r->table->layout.cell_bytes);
	return rc ? rc : sp__cost_wait(r);
}

uint64_t sp__cost_draw(struct sp__cost_draws *d)
{
	while (d->left) {
		double part = -expm1(log1p(-sp__rng_real(&d->rng)) / (double)d->left--);
		uint64_t n;

		d->at += (1 - d->at) * part;
		n = d->first + sp__min((uint64_t)(d->at * (double)d->records), d->records - 1);
		if (n != d->last)
			return d->last = n;
	}
	return UINT64_MAX;
}

uint64_t sp__cost_first(const struct sp__cost_maker *m, const bool *columns, uint32_t group,
			uint64_t record)
{
	const struct sp__table_layout *l = &m->r.table->layout;

	if (record % sp__layout_row_records(l) == 0)
		return record;
	for (uint32_t i = 0; i < l->ncolumns; i++)
		if (columns[i] && l->places[i].group == group &&
		    m->r.table->schema->columns[i].type.kind == 't')
			return record - 1;
	return record;
}

int sp__cost_window(struct sp__cost_maker *m, const bool *columns, const bool *groups, uint64_t at,
		    uint64_t end)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	int rc = sp__cost_flush(&m->r);

	for (uint32_t f = 0; f < l->ngroups; f++) {
		const uint64_t first = sp__cost_first(m, columns, f, at);

		for (uint32_t k = 0; !rc && groups[f] && k < sp__layout_lines_of(l, f); k++) {
			struct sp__layout_run run = sp__layout_run(l, f, k, first, end - 1);

			rc = sp__cost_cells(&m->r, false, SP__AREA_DATA, run.cell, run.cells);
			if (!rc)
				rc = sp__cost_flush(&m->r);
		}
	}
	return rc;
}

bool sp__cost_enough(struct sp__cost_maker *m, uint64_t at, uint64_t end)
{
	if (!at || m->r.device.requests - m->begun < m->requests_max)
		return false;
	m->scale = (double)end / (double)at;
	m->stopped = true;
	return true;
}

bool sp__cost_bounded(const struct sp__cost_maker *m, const bool *columns)
{
	const struct sp__schema *s = m->r.table->schema;

	for (uint32_t i = 0; i < s->n; i++)
		if (columns[i] && s->columns[i].bounds)
			return true;
	return false;
}

int sp__cost_order(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return SP__ORDER(*x, *y);
}

uint32_t sp__cost_count_texts(const struct sp__cost_maker *m, const bool *columns)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++)
		n += columns[i] && m->r.table->schema->columns[i].type.kind == 't';
	return n;
}

double sp__cost_record_ns(const struct sp__cost_maker *m, const bool *except, bool printed)
{
	const struct sp__drive_facts *p = &m->o->platform->drive.facts;
	const struct sp__tablefile *f = m->r.table->file;
	double ns = p->record_ns;

	printed &= !(f && f->superblock.no_data); /* its commands print nothing */

	for (uint32_t i = 0; i < m->r.table->layout.ncolumns; i++) {
		if (m->q->columns && !m->q->columns[i])
			continue;
		ns += except && except[i] ? 0 : p->value_ns;
		ns += printed ? sp__cost_printed_bytes(m->r.table, i) * p->copy_ns : 0;
	}
	return ns;
}
