/* SPDX-License-Identifier: MIT */
/*
 * Copies values into cells, and writes the cells.
 *
 * Algorithm: records are added in steps, which end at multiples of `step` records and at the end of
 * a directory row.  A step adds texts and bounds column by column, then copies values column group
 * by column group.  Each column group has a buffer of consecutive cells, which is written when it
 * is full or when the column group's run in the strip ends; then the buffer is exchanged for a free
 * one.  If lanes are apart, each lane has a buffer.
 *
 * A strip gets its cells in the file when its first record comes, so the texts of its records
 * follow it (file/space.c).
 *
 * Memory: a buffer for each line of cells, one for texts, and SPARE for writes that are
 * outstanding, in half of memory_bytes; texts of a directory row in a quarter.  One cell per buffer
 * is the minimum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/cell.h"
#include "table/file/redo.h"
#include "table/values/strided.h"
#include "table/write/writer.h"

#define SPARE 4
#define STEP_MAX 256
#define STEP_MIN 16
#define STEP_VALUES 2048 /* texts */

static int no_memory(const struct sp__tablewriter *w)
{
	return sp__err(w->err, -ENOMEM, "allocate", NULL, -1);
}

/* Numbers the columns of text; begins their bounds and those of the others. */
static int open_columns(struct sp__tablewriter *w, uint64_t memory_bytes)
{
	const struct sp__table_schema *s = &w->file->schema;
	uint32_t texts = 0;
	int rc;

	w->text_columns = calloc(s->n, sizeof(*w->text_columns));
	w->bounds = calloc(s->n, sizeof(*w->bounds));
	w->places = calloc(s->n, sizeof(*w->places));
	w->values = calloc(s->n, sizeof(*w->values));
	w->row = calloc(1, sp__directory_row_bytes(w->file) + 1);
	if (!w->text_columns || !w->bounds || !w->places || !w->values || !w->row)
		return no_memory(w);
	for (uint32_t i = 0; i < s->n; i++) {
		w->text_columns[i] = texts;
		texts += s->columns[i].type.kind == 't';
		if (s->columns[i].bounds)
			sp__bounds_begin(&w->bounds[i], &s->columns[i].type);
	}
	w->step = (uint32_t)sp__min(STEP_MAX, sp__max(STEP_MIN, STEP_VALUES / (texts + 1)));
	w->ends = calloc((size_t)texts * w->step + 1, sizeof(*w->ends));
	if (!w->ends)
		return no_memory(w);
	rc = sp__texts_open(&w->texts, &w->slabs, w->file, texts, memory_bytes / 4, w->err);
	w->texts.fresh = !w->file->superblock.slots.number;
	return rc;
}

int sp__tablewriter_open(struct sp__tablewriter *w, struct sp__tablefile *file,
			 uint64_t memory_bytes, struct sp_errinfo *err)
{
	const struct sp__queue_opts queue = sp__tablefile_queue(file, file->depth);
	const struct sp__table_layout *l = &file->layout;
	int rc;

	*w = (struct sp__tablewriter){ .file = file, .err = err };
	w->lines = calloc(l->nlines, sizeof(*w->lines));
	if (!w->lines)
		return no_memory(w);
	rc = sp__slabs_open(&w->slabs, &queue, file, l->nlines + 1 + SPARE, memory_bytes / 2, err);
	return rc ? rc : open_columns(w, memory_bytes);
}

uint32_t sp__tablewriter_cells(const struct sp__table_layout *l, uint64_t memory_bytes)
{
	return sp__slab_cells(l->cell_bytes, l->nlines + 1 + SPARE, memory_bytes / 2);
}

void sp__tablewriter_note(const struct sp__tablewriter *w, struct sp_run_stats *stats)
{
	const struct sp__queue *q = w->slabs.requests.queue;

	if (!q)
		return;
	sp__env_note_io(stats, sp__queue_counters(q));
	snprintf(stats->engine, sizeof(stats->engine), "%s", sp__queue_engine(q));
}

void sp__tablewriter_close(struct sp__tablewriter *w)
{
	sp__texts_close(&w->texts);
	sp__slabs_close(&w->slabs);
	free(w->lines);
	free(w->text_columns);
	free(w->ends);
	free(w->bounds);
	free(w->places);
	free(w->values);
	free(w->row);
	*w = (struct sp__tablewriter){ 0 };
}

static int write_cells(struct sp__tablewriter *w, struct sp__line_cells *g)
{
	struct sp__slab *slab = g->slab;
	int rc;

	g->slab = NULL;
	if (!g->old)
		return sp__slab_write(slab, g->first, g->cells);
	g->old = false;
	rc = sp__redo_put(w->file, g->first, slab->data, w->err);
	sp__slab_give(slab);
	return rc;
}

/* Gets a buffer for the cells of column group f from this one on. */
static int begin_cells(struct sp__tablewriter *w, struct sp__line_cells *g, uint32_t f,
		       uint64_t page, uint32_t j)
{
	const struct sp__table_layout *l = &w->file->layout;
	struct sp__strip strip = sp__layout_strip(l, page);
	uint64_t cell = sp__layout_strip_cell(l, &strip, page, f, j), run = w->slabs.cells;
	int rc = sp__tablefile_reserve_page(w->file, page, w->err);

	if (rc)
		return rc;
	if (l->ngroups > 1 && !l->lanes)
		run = sp__min(run, (strip.first + strip.pages - page) * l->groups[f].cells - j);
	run = sp__map_run(&w->file->map, SP__AREA_DATA, cell, run, &g->first);
	g->cells = 0;
	g->max = (uint32_t)run;
	return sp__slabs_get(&w->slabs, &g->slab);
}

/* Completes the present cell of a line. */
static int end_cell(struct sp__tablewriter *w, struct sp__line_cells *g)
{
	const uint32_t cell_bytes = w->file->layout.cell_bytes;
	uint8_t *cell = g->slab->data + (size_t)g->cells * cell_bytes;

	sp__cell_seal(cell, cell_bytes, g->records, SP__CELL_VALUES, w->file->superblock.id,
		      g->first + g->cells);
	w->contents += sp__cell_digest(cell, cell_bytes, g->first + g->cells);
	g->records = 0;
	return ++g->cells == g->max ? write_cells(w, g) : 0;
}

/* Reads the last cell of a column group if it is not full. */
static int continue_group(struct sp__tablewriter *w, uint32_t f)
{
	const struct sp__table_layout *l = &w->file->layout;
	const uint32_t max = l->groups[f].cell_records;
	uint32_t in_page = (uint32_t)(w->records % l->page_records);
	struct sp__line_cells *g = &w->lines[sp__layout_line(l, f, in_page / max)];
	int rc;

	if (in_page % max == 0)
		return 0;
	rc = begin_cells(w, g, f, w->records / l->page_records, in_page / max);
	if (!rc)
		rc = sp__slab_read(g->slab, g->first, 1);
	g->max = 1;
	g->records = in_page % max;
	g->old = true;
	w->file->cells_read++;
	return rc ? rc
		  : sp__tablefile_check_cell(w->file, g->first, g->records, SP__CELL_VALUES,
					     g->slab->data, w->err);
}

/* Takes bounds and texts of the last directory row if it is not full. */
static int continue_row(struct sp__tablewriter *w)
{
	const struct sp__table_schema *s = &w->file->schema;
	const uint64_t row = sp__layout_row_records(&w->file->layout);
	const double done = (double)(w->records % row) / (double)row;
	int rc = sp__directory_read_rows(w->file, w->records / row, 1, w->row, w->err);

	for (uint32_t i = 0; !rc && i < s->n; i++) {
		uint8_t *entry = sp__directory_entry(w->file, w->row, i);
		struct sp__text_place place;

		if (s->columns[i].bounds)
			memcpy(&w->bounds[i], entry, SP__ENTRY_BYTES);
		if (s->columns[i].type.kind != 't')
			continue;
		place = sp__directory_text(entry);
		if (!sp__directory_text_possible(w->file, &place))
			return sp__errf(w->err, SP_ECORRUPT, "read", w->file->path, -1,
					"the last directory row is damaged");
		rc = sp__texts_continue(&w->texts, w->text_columns[i], w->file, &place, done);
	}
	return rc;
}

uint64_t sp__tablewriter_old_cells(const struct sp__tablefile *file)
{
	const uint64_t row_cells = sp__directory_row_bytes(file) / file->directory.usable + 2;

	return file->layout.ngroups + sp__min(row_cells, file->directory.written);
}

int sp__tablewriter_continue(struct sp__tablewriter *w)
{
	int rc = 0;

	w->records = w->file->superblock.records;
	if (w->records % sp__layout_row_records(&w->file->layout))
		rc = continue_row(w);
	for (uint32_t f = 0; !rc && f < w->file->layout.ngroups; f++)
		rc = continue_group(w, f);
	return rc;
}

/* Copies records of the step, from record `at` on, to the present cell of column group f. */
static void fill_cell(struct sp__tablewriter *w, struct sp__line_cells *g, uint32_t f, uint32_t at,
		      uint32_t n)
{
	const struct sp__table_layout *l = &w->file->layout;
	const struct sp__column_group *group = &l->groups[f];
	uint8_t *cell = g->slab->data + (size_t)g->cells * l->cell_bytes;

	if (!g->records)
		memset(cell, 0, l->cell_bytes);
	for (uint32_t i = 0; i < group->ncolumns; i++) {
		uint32_t column = group->columns[i];
		const struct sp__column_place *p = &l->places[column];

		sp__strided_copy(cell + p->base + (size_t)g->records * p->stride, p->stride,
				 w->values[column] + (size_t)at * p->bytes, p->bytes, p->bytes, n);
	}
	g->records += n;
}

/* Copies the n records of the step to cells of column group f. */
static int put_group(struct sp__tablewriter *w, uint32_t f, uint32_t n)
{
	const struct sp__table_layout *l = &w->file->layout;
	const uint32_t max = l->groups[f].cell_records;
	uint32_t part;
	int rc = 0;

	for (uint32_t at = 0; !rc && at < n; at += part) {
		uint64_t page = (w->records + at) / l->page_records;
		uint32_t in_page = (uint32_t)((w->records + at) % l->page_records);
		uint32_t j = in_page / max;
		uint32_t records = (uint32_t)sp__min(max, l->page_records - j * max);
		struct sp__line_cells *g = &w->lines[sp__layout_line(l, f, j)];

		part = (uint32_t)sp__min(n - at, records - g->records);
		if (!g->slab)
			rc = begin_cells(w, g, f, page, j);
		if (rc)
			break;
		fill_cell(w, g, f, at, part);
		if (g->records == records)
			rc = end_cell(w, g);
	}
	return rc;
}

/* Writes the directory row of the records up to this one, and begins the next one. */
static int end_row(struct sp__tablewriter *w)
{
	const struct sp__table_schema *s = &w->file->schema;
	uint64_t row = (w->records - 1) / sp__layout_row_records(&w->file->layout);
	int rc = sp__texts_end_row(&w->texts, w->places);

	for (uint32_t i = 0; !rc && i < s->n; i++) {
		if (s->columns[i].type.kind == 't') {
			sp__directory_set_text(sp__directory_entry(w->file, w->row, i),
					       &w->places[w->text_columns[i]]);
		} else if (s->columns[i].bounds) {
			memcpy(sp__directory_entry(w->file, w->row, i), &w->bounds[i],
			       SP__ENTRY_BYTES);
			sp__bounds_begin(&w->bounds[i], &s->columns[i].type);
		}
	}
	return rc ? rc : sp__directory_write_rows(w->file, row, 1, w->row, w->err);
}

/* Adds texts and bounds of n records, from record `at` of the columns on. */
static int begin_step(struct sp__tablewriter *w, const struct sp__column_values *columns, size_t at,
		      uint32_t n)
{
	const struct sp__table_schema *s = &w->file->schema;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < s->n; i++) {
		const struct sp__value_type *type = &s->columns[i].type;
		const struct sp__column_values *c = &columns[i];
		uint32_t k = w->text_columns[i], *ends = w->ends + (size_t)k * w->step;

		if (type->kind == 't') {
			rc = sp__texts_add(&w->texts, k, c->base, c->refs + at, n, ends);
			w->values[i] = (const uint8_t *)ends;
			continue;
		}
		w->values[i] = c->values + at * type->bytes;
		if (s->columns[i].bounds)
			sp__bounds_add(&w->bounds[i], type, w->values[i], n);
	}
	return rc;
}

int sp__tablewriter_put(struct sp__tablewriter *w, size_t n,
			const struct sp__column_values *columns)
{
	const uint64_t row = sp__layout_row_records(&w->file->layout);
	uint64_t in_row = w->records % row;
	int rc = 0;

	for (size_t at = 0; !rc && at < n;) {
		uint32_t part = (uint32_t)sp__min(n - at, w->step - in_row % w->step);

		part = (uint32_t)sp__min(part, row - in_row);
		rc = begin_step(w, columns, at, part);
		for (uint32_t f = 0; !rc && f < w->file->layout.ngroups; f++)
			rc = put_group(w, f, part);
		at += part;
		w->records += part;
		in_row += part;
		if (!rc && in_row == row)
			rc = end_row(w);
		else if (!rc && in_row % w->step == 0)
			rc = sp__texts_limit(&w->texts, (double)in_row / (double)row);
		in_row = in_row == row ? 0 : in_row;
	}
	return rc;
}

/* Writes the cells of a line that are in memory. */
static int finish_line(struct sp__tablewriter *w, struct sp__line_cells *g)
{
	int rc = 0;

	if (g->records)
		rc = end_cell(w, g);
	return rc || !g->slab ? rc : write_cells(w, g);
}

int sp__tablewriter_finish(struct sp__tablewriter *w)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < w->file->layout.nlines; i++)
		rc = finish_line(w, &w->lines[i]);
	if (!rc && w->records % sp__layout_row_records(&w->file->layout))
		rc = end_row(w);
	if (!rc)
		rc = sp__texts_flush(&w->texts);
	if (!rc && sp__tablefile_release(w->file, w->records))
		rc = no_memory(w);
	w->file->superblock.records = w->records;
	if (w->file->creating)
		w->file->superblock.contents = w->contents + w->texts.contents;
	w->file->cells_written += w->slabs.cells_written;
	return rc ? rc : sp__slabs_drain(&w->slabs);
}
