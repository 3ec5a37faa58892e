/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of updates and appends.
 *
 * Update.  Directory rows that can change are read, and texts of another length are moved, with all
 * of their directory row.  Then the cells are read, those of each column group in their order; they
 * are written behind the end of the file, and in place one by one (table/file/commit.c).
 * Assumption: the bounds of a changed column include its new values.
 *
 * Append.  Cells that are not full go the same way, and the last directory row, if it is not.  New
 * cells have place in the last strip, or are behind the end; along tracks, parts are added while
 * the query is made.  Not modelled: further cells of the directory; the headers of volumes that are
 * files of their own, and that cells of these are read concurrently.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "run/memory.h"
#include "table/change/update.h"
#include "table/cost/maker.h"
#include "table/cost/ring.h"
#include "table/file/redo.h"
#include "table/write/writer.h"

#define APPEND_SHARE 3 /* of the memory, as in table/change.c */

static struct sp__cost_draws draws(const struct sp__cost_maker *m, uint64_t seed)
{
	return (struct sp__cost_draws){ .rng = { seed },
					.records = m->r.table->records,
					.left = m->q->records,
					.last = UINT64_MAX };
}

/* Draws the next record; very many are drawn in part, and the cost is scaled. */
static uint64_t next(struct sp__cost_maker *m, struct sp__cost_draws *d)
{
	const uint64_t n = sp__cost_draw(d);

	if (n == UINT64_MAX || m->q->records - d->left < SP__COST_DRAWS)
		return n;
	m->scale = fmax(1, (double)m->r.table->records / (double)(n + 1));
	return UINT64_MAX;
}

/* True if a changed text column is in the column group; UINT32_MAX: in any. */
static bool has_text(const struct sp__cost_maker *m, uint32_t group)
{
	const struct sp__table_layout *l = &m->r.table->layout;

	for (uint32_t i = 0; i < l->ncolumns; i++)
		if (m->q->columns[i] && m->r.table->schema->columns[i].type.kind == 't' &&
		    (group == UINT32_MAX || l->places[i].group == group))
			return true;
	return false;
}

/*
 * Reads the ends and the texts of a column in the directory row of a record, and writes new ones.
 */
static int move_texts(struct sp__cost_maker *m, uint32_t column, uint64_t record)
{
	const struct sp__cost_table *t = m->r.table;
	const struct sp__table_layout *l = &t->layout;
	const uint64_t row = sp__layout_row_records(l);
	const uint64_t begin = record / row * row, end = sp__cost_row_end(t, record);
	const uint32_t f = l->places[column].group;
	uint64_t cells;
	double bytes;
	int rc = sp__cost_text_mean(&m->r, column, record, &bytes);

	for (uint64_t at = begin, to; at < end; at = to) {
		/* An A-page by itself, or what the row has of a lane. */
		to = l->lanes && l->groups[f].cells == 1 ? end : sp__min(at + l->page_records, end);
		for (uint32_t k = 0; !rc && k < sp__layout_lines_of(l, f); k++) {
			struct sp__layout_run run = sp__layout_run(l, f, k, at, to - 1);

			rc = sp__cost_cells(&m->r, false, SP__AREA_DATA, run.cell, run.cells);
			rc = rc ? rc : sp__cost_wait(&m->r);
		}
	}
	if (!rc)
		rc = sp__cost_texts(&m->r, column, begin, end);
	cells = (uint64_t)ceil(bytes * (double)(end - begin) / sp__cell_payload(l->cell_bytes));
	for (uint64_t n; !rc && cells; cells -= n) {
		n = sp__min(cells, m->r.max_cells);
		rc = sp__cost_behind(&m->r, m->r.taken, n * l->cell_bytes);
	}
	return rc;
}

/* Moves the texts of the directory rows of changed records. */
static int change_texts(struct sp__cost_maker *m, uint64_t seed)
{
	struct sp__cost_draws numbers = draws(m, seed);
	uint64_t end = 0, n;
	int rc = 0;

	sp__timer_depth(&m->r.device, 1);
	m->r.max_cells = sp__max(SP__READER_BYTES / m->r.table->layout.cell_bytes, 1);
	while (!rc && has_text(m, UINT32_MAX) && (n = next(m, &numbers)) != UINT64_MAX) {
		for (uint32_t i = 0; !rc && n >= end && i < m->r.table->layout.ncolumns; i++)
			if (m->q->columns[i] && m->r.table->schema->columns[i].type.kind == 't')
				rc = move_texts(m, i, n);
		end = sp__cost_row_end(m->r.table, n);
	}
	if (!rc && end) /* the row is read once more when it is written */
		rc = sp__cost_cells(&m->r, false, SP__AREA_DIRECTORY,
				    m->r.in_memory[SP__AREA_DIRECTORY].end - 1, 1);
	return rc ? rc : sp__cost_wait(&m->r);
}

/* Reads tombstones, and then the directory rows that can change, of changed records. */
static int read_rows(struct sp__cost_maker *m, uint64_t seed)
{
	struct sp__cost_draws numbers = draws(m, seed);
	struct sp__cost_rows rows = { 0 };
	uint64_t n;
	int rc = 0;

	while (!rc && m->r.table->tombstones && (n = next(m, &numbers)) != UINT64_MAX)
		rc = sp__cost_tombstones(m, n, n + 1);
	numbers = draws(m, seed);
	if (sp__cost_bounded(m, m->q->columns) || has_text(m, UINT32_MAX))
		sp__cost_rows_open(&rows, m, 0);
	while (!rc && rows.max && (n = next(m, &numbers)) != UINT64_MAX)
		rc = sp__cost_row(&rows, m, n);
	return rc;
}

/* Takes a cell of the file that changes.  Returns 0 or an error. */
typedef int (*take_cell)(void *arg, uint64_t cell);

/* Cells of the file that change, of a column group. */
struct changed {
	uint64_t *cells;
	size_t n, capacity;
	uint64_t next; /* cells of the column group, counted page by page, that were considered */
};

/* Adds the cells of records [from, to] of an A-page.  Returns 0 or -ENOMEM. */
static int add_cells(const struct sp__cost_table *t, struct changed *c, uint32_t f, uint64_t from,
		     uint64_t to)
{
	const struct sp__table_layout *l = &t->layout;
	const struct sp__column_group *g = &l->groups[f];
	const uint64_t page = from / l->page_records;
	const uint64_t end = page * g->cells + to % l->page_records / g->cell_records;
	uint64_t n = page * g->cells + from % l->page_records / g->cell_records;

	for (n = sp__max(n, c->next); n <= end; n++) {
		if (!SP__ARRAY_GROW(c->cells, c->capacity, c->n + 1))
			return -ENOMEM;
		c->cells[c->n++] =
			sp__map_cell(&t->map, SP__AREA_DATA,
				     sp__layout_cell(l, page, f, (uint32_t)(n % g->cells)));
	}
	c->next = n;
	return 0;
}

/* Lists the cells of a column group.  If texts are moved, all later ends of their row change. */
static int list_cells(struct sp__cost_maker *m, uint64_t seed, uint32_t f, struct changed *c)
{
	const struct sp__cost_table *t = m->r.table;
	const uint64_t page = t->layout.page_records;
	struct sp__cost_draws numbers = draws(m, seed);
	const bool text = has_text(m, f);
	uint64_t n;
	int rc = 0;

	c->n = c->next = 0;
	while (!rc && (n = next(m, &numbers)) != UINT64_MAX) {
		uint64_t end = text ? sp__cost_row_end(t, n) : n + 1, to;

		for (uint64_t at = n; !rc && at < end; at = to) {
			to = sp__min((at / page + 1) * page, end);
			rc = add_cells(t, c, f, at, to - 1);
		}
	}
	return rc;
}

/*
 * Gives the cells that change to take(), those of each column group in the order of the file, and
 * waits after each.
 */
static int each_cell(struct sp__cost_maker *m, uint64_t seed, take_cell take, void *arg)
{
	struct changed c = { 0 };
	int rc = 0;

	for (uint32_t f = 0; !rc && f < m->r.table->layout.ngroups; f++) {
		if (!m->groups[f])
			continue;
		rc = list_cells(m, seed, f, &c);
		if (c.n)
			qsort(c.cells, c.n, sizeof(*c.cells), sp__cost_order);
		for (size_t i = 0; !rc && i < c.n; i++)
			rc = take(arg, c.cells[i]);
		if (!rc)
			rc = sp__cost_wait(&m->r);
	}
	free(c.cells);
	return rc;
}

static int read_cell(void *maker, uint64_t cell)
{
	struct sp__cost_maker *m = maker;

	return sp__cost_file_cell(&m->r, false, cell);
}

static uint64_t memory_of(const struct sp__cost_maker *m)
{
	const struct sp_run_opts *run = m->o->platform->run;

	return sp__working_memory(run, run->memory_bytes);
}

/* Cells of the file that are written in place in its order. */
struct sorted {
	struct sp__cost_maker *m;
	size_t n, max;
	uint64_t cells[SP__REDO_SORTED];
};

static void begin_sorted(struct sorted *s, struct sp__cost_maker *m)
{
	s->m = m;
	s->n = 0;
	s->max = sp__max(sp__redo_sorted(memory_of(m), m->r.table->layout.cell_bytes), 1);
}

static int write_sorted(struct sorted *s)
{
	int rc = 0;

	qsort(s->cells, s->n, sizeof(*s->cells), sp__cost_order);
	for (size_t i = 0; !rc && i < s->n; i++)
		rc = sp__cost_file_cell(&s->m->r, true, s->cells[i]);
	s->n = 0;
	return rc ? rc : sp__cost_wait(&s->m->r);
}

static int put_sorted(void *sorted, uint64_t cell)
{
	struct sorted *s = sorted;

	s->cells[s->n++] = cell;
	return s->n < s->max ? 0 : write_sorted(s);
}

/* Puts the last cell of the directory that was read, if there is one. */
static int put_directory(struct sorted *s)
{
	const uint64_t cell = s->m->r.in_memory[SP__AREA_DIRECTORY].end;

	return cell ? put_sorted(s, sp__map_cell(&s->m->r.table->map, SP__AREA_DIRECTORY, cell - 1))
		    : 0;
}

/* directory: the last cell of the directory that was read has changed, too. */
static int write_cells(struct sp__cost_maker *m, uint64_t seed, bool directory)
{
	struct sorted s;
	int rc;

	begin_sorted(&s, m);
	rc = directory ? put_directory(&s) : 0;
	if (!rc)
		rc = each_cell(m, seed, put_sorted, &s);
	return rc ? rc : write_sorted(&s);
}

/* Writes both superblocks, in which the change counts and no journal is named. */
static int end_change(struct sp__cost_maker *m)
{
	int rc = sp__cost_commit(&m->r);

	return rc ? rc : sp__cost_commit(&m->r);
}

/* Computes the records of an update, and copies cells to the journal. */
static void compute(struct sp__cost_maker *m, uint64_t cells)
{
	double bytes = (double)cells * m->r.table->layout.cell_bytes;

	sp__timer_compute(&m->r.device, (double)m->q->records * sp__cost_record_ns(m, NULL, false) +
						bytes * m->o->platform->drive.facts.copy_ns);
}

int sp__cost_update(struct sp__cost_maker *m)
{
	const uint64_t seed = sp__rng_next(&m->r.rng);
	const uint64_t cell_bytes = m->r.table->layout.cell_bytes;
	struct sp__runlanes_opts lanes =
		sp__patch_lanes(m->o->platform->run, 0, (uint32_t)cell_bytes);
	uint64_t before, cells;
	bool moved;
	int rc;

	(void)sp__layout_groups(&m->r.table->layout, m->q->columns, m->groups);
	rc = read_rows(m, seed);
	if (!rc)
		rc = change_texts(m, seed);
	moved = m->r.taken != 0;
	before = m->r.device.bytes;
	sp__runlanes_sizes(&lanes);
	sp__timer_depth(&m->r.device, lanes.depth);
	m->r.max_cells = lanes.request_bytes / cell_bytes;
	if (!rc)
		rc = each_cell(m, seed, read_cell, m);
	cells = (m->r.device.bytes - before) / cell_bytes;
	cells += moved && m->r.in_memory[SP__AREA_DIRECTORY].end;
	compute(m, cells);
	sp__timer_depth(&m->r.device, 1);
	m->r.max_cells = 1;
	if (!rc)
		rc = sp__cost_behind(&m->r, 0, sp__redo_bytes((uint32_t)cell_bytes, cells));
	if (!rc && moved) /* the map */
		rc = sp__cost_behind(&m->r, m->r.taken, cell_bytes);
	if (!rc)
		rc = sp__cost_commit(&m->r);
	if (!rc)
		rc = write_cells(m, seed, moved);
	return rc ? rc : end_change(m);
}

/* Reads what the first new record changes: a directory row, texts, and cells that are not full. */
static int read_last(struct sp__cost_maker *m, const bool *part)
{
	const struct sp__cost_table *t = m->r.table;
	const struct sp__table_layout *l = &t->layout;
	const uint64_t row = sp__layout_row_records(l);
	struct sp__cost_rows rows;
	int rc = 0;

	sp__cost_rows_open(&rows, m, 0);
	if (t->records % row)
		rc = sp__cost_row(&rows, m, t->records - 1);
	for (uint32_t i = 0; !rc && t->records % row && i < l->ncolumns; i++)
		if (t->schema->columns[i].type.kind == 't')
			rc = sp__cost_texts(&m->r, i, t->records / row * row, t->records);
	for (uint32_t f = 0; !rc && f < l->ngroups; f++) {
		if (part[f])
			rc = sp__cost_cells(&m->r, false, SP__AREA_DATA,
					    sp__layout_record_cell(l, f, t->records), 1);
		if (!rc)
			rc = sp__cost_wait(&m->r);
	}
	return rc;
}

/* Returns the record after those that are written together: to the end of a strip, or of tracks. */
static uint64_t step_end(const struct sp__table_layout *l, uint64_t at)
{
	const uint64_t page = at / l->page_records;
	const struct sp__strip s = sp__layout_strip(l, page);

	return (l->lanes ? (page / l->stripe_pages + 1) * l->stripe_pages : s.first + s.pages) *
	       l->page_records;
}

/* Writes the new cells of records [at, end), each line of cells by itself. */
static int write_step(struct sp__cost_maker *m, const bool *part, uint64_t at, uint64_t end,
		      uint64_t journal)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	int rc = 0;

	for (uint32_t f = 0; f < l->ngroups; f++) {
		const uint64_t old = at == m->r.table->records && part[f]
					     ? sp__layout_record_cell(l, f, at)
					     : UINT64_MAX;

		for (uint32_t k = 0; !rc && k < sp__layout_lines_of(l, f); k++) {
			struct sp__layout_run run = sp__layout_run(l, f, k, at, end - 1);
			const uint64_t skip = run.cells && run.cell == old;

			rc = sp__cost_new_cells(&m->r, run.cell + skip, run.cells - skip, journal);
		}
	}
	return rc;
}

/* Writes new cells in steps, when their records are computed; behind the journal's cells. */
static int write_new(struct sp__cost_maker *m, const bool *part, uint64_t journal)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t before = m->r.table->records, after = before + m->q->records;
	const double each_ns = sp__cost_record_ns(m, NULL, true);
	int rc = 0;

	m->r.max_cells = sp__tablewriter_cells(l, memory_of(m) / APPEND_SHARE);
	for (uint64_t at = before, end; !rc && at < after; at = end) {
		if (sp__cost_enough(m, at - before, m->q->records))
			break;

		end = sp__min(step_end(l, at), after);
		sp__timer_compute(&m->r.device, (double)(end - at) * each_ns);
		rc = write_step(m, part, at, end, journal);
	}
	return rc ? rc : sp__cost_wait(&m->r);
}

/* Gives new A-pages a place along the tracks, as the writer does, behind the journal's cells. */
static int extend_tracks(struct sp__cost_maker *m)
{
	const struct sp__cost_table *t = m->r.table;
	struct sp__lanemap *s = t->map.lanemap;
	const uint64_t pages = sp__layout_pages(&t->layout, t->records + m->q->records);
	uint64_t have;
	int rc = 0;

	while (!rc && (have = sp__lanemap_pages(s)) < pages) {
		rc = sp__lanemap_extend(s, sp__max(have, 1), t->map.end + m->r.taken);
		if (!rc)
			m->r.taken = s->parts[s->n - 1].first_cell + s->parts[s->n - 1].cells -
				     t->map.end;
	}
	return rc == -ENOSPC ? sp__errf(m->r.device.err, SP_EUNSUP, "plan", NULL, -1,
					"the tracks have no space for %llu more records: choose "
					"larger drives, or more volumes",
					(unsigned long long)m->q->records)
			     : rc;
}

/* Writes the texts of the last directory row and of new ones, each column by itself. */
static int write_texts(struct sp__cost_maker *m)
{
	const struct sp__cost_table *t = m->r.table;
	const uint64_t row = sp__layout_row_records(&t->layout);
	const uint64_t first = t->records / row * row, after = t->records + m->q->records;
	int rc = 0;

	for (uint64_t at = first; t->text && !rc && at < after; at += row) {
		const double n = (double)(sp__min(at + row, after) - at);

		for (uint32_t i = 0; !rc && i < t->layout.ncolumns; i++)
			rc = sp__cost_behind(&m->r, m->r.taken, (uint64_t)(t->text_bytes[i] * n));
		if (sp__cost_enough(m, at - first, after - first))
			break;
	}
	return rc;
}

/* Writes cells that were not full, and the changed directory row, in place. */
static int write_last(struct sp__cost_maker *m, const bool *part)
{
	const struct sp__table_layout *l = &m->r.table->layout;
	const uint64_t records = m->r.table->records;
	struct sorted s;
	int rc;

	begin_sorted(&s, m);
	rc = put_directory(&s);
	for (uint32_t f = 0; !rc && f < l->ngroups; f++)
		if (part[f])
			rc = put_sorted(&s, sp__map_cell(&m->r.table->map, SP__AREA_DATA,
							 sp__layout_record_cell(l, f, records)));
	return rc ? rc : write_sorted(&s);
}

static int append(struct sp__cost_maker *m)
{
	const struct sp__cost_table *t = m->r.table;
	const struct sp__table_layout *l = &t->layout;
	bool *part = m->groups; /* column groups whose last cell is not full */
	uint64_t cells = 0, journal;
	int rc;

	for (uint32_t f = 0; f < l->ngroups; f++) {
		part[f] = t->records % l->page_records % l->groups[f].cell_records;
		cells += part[f];
	}
	rc = read_last(m, part);
	cells += m->r.in_memory[SP__AREA_DIRECTORY].end != 0;
	/* The journal has place for the last cell of each column group, and directory cells. */
	journal = sp__redo_bytes(l->cell_bytes, l->ngroups + 2) / l->cell_bytes + 1;
	m->r.taken = journal;
	if (!rc && t->map.lanemap)
		rc = extend_tracks(m);
	sp__timer_depth(&m->r.device, SP__SLABS_DEPTH);
	if (!rc)
		rc = write_new(m, part, journal);
	sp__timer_depth(&m->r.device, 1);
	m->r.max_cells = 0;
	if (!rc)
		rc = write_texts(m);
	if (!rc && cells)
		rc = sp__cost_behind(&m->r, 0, sp__redo_bytes(l->cell_bytes, cells));
	if (!rc && m->r.taken > journal) /* the map */
		rc = sp__cost_behind(&m->r, m->r.taken, l->cell_bytes);
	if (!rc && cells)
		rc = sp__cost_commit(&m->r);
	if (!rc)
		rc = write_last(m, part);
	return rc ? rc : end_change(m);
}

int sp__cost_append(struct sp__cost_maker *m)
{
	struct sp__lanemap *s = m->r.table->map.lanemap;
	const uint64_t pages = s ? sp__lanemap_pages(s) : 0;
	int rc = append(m), back = s ? sp__lanemap_shorten(s, pages) : 0;

	return rc ? rc : back;
}
