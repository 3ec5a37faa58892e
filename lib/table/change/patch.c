/* SPDX-License-Identifier: MIT */
/*
 * Reads the cells that change in the order of the file, several requests at a time, and puts each
 * into the journal.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "table/change/update.h"
#include "table/file/file.h"
#include "table/file/redo.h"

static uint64_t memory(const struct sp__cellreader *r)
{
	return (uint64_t)r->max * r->file->layout.cell_bytes;
}

int sp__cellreader_open(struct sp__cellreader *r, struct sp__tablefile *file,
			struct sp_errinfo *err)
{
	const uint32_t cell_bytes = file->layout.cell_bytes;

	*r = (struct sp__cellreader){ .file = file };
	r->max = sp__cellreader_max(cell_bytes);
	r->data = malloc((size_t)r->max * cell_bytes);
	if (!r->data)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&file->env.budget, memory(r));
	return 0;
}

void sp__cellreader_close(struct sp__cellreader *r)
{
	if (r->data)
		sp__budget_credit(&r->file->env.budget, memory(r));
	free(r->data);
	*r = (struct sp__cellreader){ 0 };
}

int sp__cellreader_get(struct sp__cellreader *r, uint64_t cell, uint64_t end, const uint8_t **data,
		       struct sp_errinfo *err)
{
	int rc;

	if (cell < r->first || cell - r->first >= r->cells) {
		r->first = cell;
		r->cells = 0;
		rc = sp__tablefile_read(r->file, cell, sp__min(end - cell, r->max), r->data, err);
		if (rc)
			return rc;
		r->cells = sp__min(end - cell, r->max);
	}
	*data = r->data + (cell - r->first) * r->file->layout.cell_bytes;
	return 0;
}

#define DEPTH 32
#define REQUEST_BYTES (UINT64_C(128) << 10)

/* A cell that changes. */
struct patched {
	uint64_t cell;	   /* number of the cell in the file */
	uint32_t first, n; /* records, from the first one of the batch */
	size_t from, to;   /* entries */
	size_t row;	   /* the first entry of its directory row */
};

struct patch {
	struct sp__tableupdate *u;
	uint32_t f;
	bool values; /* a changed column of the column group is not text */
	bool whole;  /* all cells of the A-pages with entries */
	struct patched *cells;
	size_t n, capacity;
	bool descends; /* cells are not in the order of the file */
	int error;
};

static bool in_group(const struct patch *p, uint32_t i)
{
	return p->u->file->layout.places[p->u->columns[i].column].group == p->f;
}

static bool is_text(const struct patch *p, uint32_t i)
{
	return p->u->file->schema.columns[p->u->columns[i].column].type.kind == 't';
}

static const int64_t *shifts_of(const struct patch *p, uint32_t i)
{
	return p->u->batch.shifts + p->u->texts[i] * p->u->batch.capacity;
}

/* Returns the first entry of [from, to) from which on texts of the column group have moved. */
static size_t moved_from(const struct patch *p, size_t from, size_t to)
{
	size_t first = to;

	for (uint32_t i = 0; i < p->u->n; i++)
		for (size_t k = from; is_text(p, i) && in_group(p, i) && k < first; k++)
			if (shifts_of(p, i)[k])
				first = k;
	return first;
}

/* Adds the cell with a record, which has entries from `from` on.  Returns 0 or -ENOMEM. */
static int add_cell(struct patch *p, uint64_t record, size_t row, size_t from)
{
	const struct sp__tablefile *f = p->u->file;
	const struct sp__table_layout *l = &f->layout;
	const struct sp__update_batch *b = &p->u->batch;
	const uint32_t max = l->groups[p->f].cell_records;
	uint64_t page = record / l->page_records, j = record % l->page_records / max;
	uint64_t first = page * l->page_records + j * max;
	uint64_t end = sp__min(first + max, (page + 1) * l->page_records);
	struct patched c = { .row = row, .from = from, .to = from };

	if (!SP__ARRAY_GROW(p->cells, p->capacity, p->n + 1))
		return sp__err(p->u->err, -ENOMEM, "allocate", NULL, -1);
	c.cell = sp__map_cell(&f->map, SP__AREA_DATA, sp__layout_cell(l, page, p->f, (uint32_t)j));
	c.first = (uint32_t)(first - b->first);
	c.n = (uint32_t)(sp__min(end, f->superblock.records) - first);
	while (c.to < b->n && b->entries[c.to].record - c.first < c.n)
		c.to++;
	p->descends |= p->n && p->cells[p->n - 1].cell > c.cell;
	p->cells[p->n++] = c;
	return 0;
}

/* Adds the cells of a directory row, whose entries are [from, to). */
static int add_row(struct patch *p, size_t from, size_t to)
{
	const struct sp__update_batch *b = &p->u->batch;
	const uint64_t row_records = sp__layout_row_records(&p->u->file->layout);
	const uint64_t unit = p->whole ? p->u->file->layout.page_records : 1;
	const size_t moved = moved_from(p, from, to);
	uint64_t end = b->first + (b->entries[from].record / row_records + 1) * row_records;
	size_t k = p->values || p->whole ? from : moved;
	uint64_t record;
	int rc = 0;

	if (k == to)
		return 0;
	record = b->first + b->entries[k].record;
	record -= record % unit;
	end = sp__min(end, p->u->file->superblock.records);
	while (!rc && record < end) {
		const struct patched *c;

		rc = add_cell(p, record, from, k);
		if (rc)
			break;
		c = &p->cells[p->n - 1];
		k = c->to;
		record = b->first + c->first + c->n;
		if (record % unit || k > moved)
			continue; /* the next cell */
		if (k == to)
			break;
		record = b->first + b->entries[k].record;
		record -= record % unit;
	}
	return rc;
}

static int list_cells(struct patch *p)
{
	const struct sp__update_batch *b = &p->u->batch;
	const uint64_t row_records = sp__layout_row_records(&p->u->file->layout);
	size_t to;
	int rc = 0;

	for (size_t from = 0; !rc && from < b->n; from = to) {
		uint64_t row = b->entries[from].record / row_records;

		for (to = from + 1; to < b->n && b->entries[to].record / row_records == row; to++)
			;
		rc = add_row(p, from, to);
	}
	return rc;
}

/* Sets the new values of column i. */
static void set_values(const struct patch *p, const struct patched *c, uint32_t i, uint8_t *cell)
{
	const struct sp__update_column *column = &p->u->columns[i];
	const struct sp__column_place *at = &p->u->file->layout.places[column->column];

	for (size_t k = c->from; k < c->to; k++) {
		const struct sp__update_entry *e = &p->u->batch.entries[k];

		memcpy(cell + at->base + (size_t)(e->record - c->first) * at->stride,
		       e->values + column->at, at->bytes);
	}
}

/* Adds the shift of each text to its end. */
static void shift_ends(const struct patch *p, const struct patched *c, uint32_t i, uint8_t *cell)
{
	const struct sp__column_place *at = &p->u->file->layout.places[p->u->columns[i].column];
	const struct sp__update_entry *entries = p->u->batch.entries;
	const int64_t *shifts = shifts_of(p, i);
	int64_t shift = c->from > c->row ? shifts[c->from - 1] : 0;
	size_t k = c->from;

	for (uint32_t r = 0; r < c->n; r++) {
		uint8_t *value = cell + at->base + (size_t)r * at->stride;
		uint32_t end;

		if (k < c->to && entries[k].record == c->first + r)
			shift = shifts[k++];
		memcpy(&end, value, sizeof(end));
		end = (uint32_t)(end + shift);
		memcpy(value, &end, sizeof(end));
	}
}

static int change_cell(const struct patch *p, const struct patched *c, uint8_t *cell)
{
	struct sp__tablefile *f = p->u->file;
	int rc = sp__tablefile_check_cell(f, c->cell, c->n, SP__CELL_VALUES, cell, p->u->err);

	if (rc)
		return rc;
	for (uint32_t i = 0; i < p->u->n; i++) {
		if (in_group(p, i) && is_text(p, i))
			shift_ends(p, c, i, cell);
		else if (in_group(p, i))
			set_values(p, c, i, cell);
	}
	sp__cell_seal(cell, f->layout.cell_bytes, c->n, SP__CELL_VALUES, f->superblock.id, c->cell);
	return sp__redo_put(f, c->cell, cell, p->u->err);
}

static int by_cell(const void *a, const void *b)
{
	const struct patched *x = a, *y = b;

	return SP__ORDER(x->cell, y->cell);
}

/* Changes the cells of a request that was read. */
static void take(void *arg, const struct sp__lanerequest *q)
{
	struct patch *p = arg;
	const uint32_t cell_bytes = p->u->file->layout.cell_bytes;

	for (unsigned i = 0; i < q->nruns; i++) {
		struct patched key = { .cell = q->runs[i].block };
		const struct patched *c = bsearch(&key, p->cells, p->n, sizeof(key), by_cell);
		uint8_t *data = q->r.data;

		data += (q->runs[i].block - q->runs[0].block) * cell_bytes;
		for (uint64_t k = 0; !p->error && k < q->runs[i].cells; k++)
			p->error = change_cell(p, c + k, data + k * cell_bytes);
		p->u->file->cells_read += q->runs[i].cells;
	}
}

/* Adds the cells to the lanes of their volumes, those that are consecutive as one run. */
static int read_cells(struct patch *p, struct sp__runlanes *lanes)
{
	const uint64_t volume_cells = sp__table_volume_cells(&p->u->file->superblock);
	size_t n;
	int rc = 0;

	for (size_t i = 0; !rc && !p->error && i < p->n; i += n) {
		const uint64_t cell = p->cells[i].cell;
		struct sp__runlane *lane =
			&lanes->lanes[lanes->opts.volumes > 1 ? cell / volume_cells : 0];

		for (n = 1; i + n < p->n && p->cells[i + n].cell == cell + n; n++)
			;
		(void)sp__runlane_add(lane, cell, n);
		if (!sp__runlane_free(lane))
			rc = sp__runlanes_feed(lanes);
	}
	if (!rc && !p->error)
		rc = sp__runlanes_end(lanes);
	return rc ? rc : p->error;
}

struct sp__runlanes_opts sp__patch_lanes(const struct sp_run_opts *run, unsigned depth,
					 uint32_t cell_bytes)
{
	return (struct sp__runlanes_opts){
		.volumes = 1,
		.depth = depth ? depth : DEPTH,
		.block_bytes = cell_bytes,
		.cell_blocks = 1,
		.request_bytes = REQUEST_BYTES,
		.limit_bytes = sp__working_memory(run, run->memory_bytes) / 8,
	};
}

static int change_cells(struct patch *p)
{
	struct sp__tablefile *f = p->u->file;
	struct sp__runlanes_opts o = sp__patch_lanes(&f->run, f->depth, f->layout.cell_bytes);
	struct sp__runlanes lanes;
	uint64_t charged;
	int rc;

	o.volumes = f->cells.n;
	o.queue = sp__tablefile_queue(f, 0);
	o.move = take;
	o.arg = p;
	o.name = f->path;
	o.err = p->u->err;
	rc = sp__runlanes_open(&lanes, &o);
	charged = lanes.memory_bytes + p->capacity * sizeof(*p->cells);
	sp__budget_charge(&f->env.budget, charged);
	if (!rc) {
		for (unsigned i = 0; i < f->cells.n; i++) {
			lanes.lanes[i].begin_block = i * sp__table_volume_cells(&f->superblock);
			lanes.lanes[i].volume =
				sp__tablefile_locate(f, lanes.lanes[i].begin_block).volume;
		}
		sp__runlanes_begin(&lanes, SP__OP_READ, 0);
		rc = read_cells(p, &lanes);
	}
	if (lanes.queue) {
		sp__io_add(&p->u->io, sp__queue_counters(lanes.queue));
		snprintf(p->u->engine, sizeof(p->u->engine), "%s", sp__queue_engine(lanes.queue));
	}
	sp__runlanes_close(&lanes);
	sp__budget_credit(&f->env.budget, charged);
	return rc;
}

int sp__patch_group(struct sp__tableupdate *u, uint32_t f)
{
	const bool alone = u->file->layout.ngroups == 1; /* its cells are the A-pages */
	struct patch p = { .u = u, .f = f, .whole = !alone && sp__clotho_whole_pages(u->file) };
	int rc;

	for (uint32_t i = 0; i < u->n; i++)
		p.values |= in_group(&p, i) && !is_text(&p, i);
	rc = list_cells(&p);
	if (!rc && p.descends)
		qsort(p.cells, p.n, sizeof(*p.cells), by_cell);
	if (!rc && p.n)
		rc = change_cells(&p);
	free(p.cells);
	return rc;
}
