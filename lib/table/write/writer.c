/* SPDX-License-Identifier: MIT */
/*
 * Copies values into cells, and writes the cells.
 *
 * Algorithm: records are added in steps, which end at multiples of `step` records and at the end of
 * a directory row.  A step adds texts and bounds column by column, then copies values column group
 * by column group, or notes those that tasks copy (slabs.h).  Each column group has a buffer of
 * consecutive cells, which is written when it is full or when the column group's run in the strip
 * ends; then the buffer is exchanged for a free one.  If lanes are apart, each lane has a buffer.
 *
 * A strip gets its cells in the file when its first record comes, so the texts of its records
 * follow it (file/space.c).
 *
 * Memory: a buffer for each line of cells, one for texts, and SPARE for writes that are
 * outstanding, in half of memory_bytes, and with enough memory another one for each line; texts of
 * a directory row in a quarter.  One cell per buffer is the minimum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "table/file/cell.h"
#include "table/file/redo.h"
#include "table/write/writer.h"

#define SPARE 4
#define MORE_BYTES 65536 /* minimum bytes of each further buffer */
#define STEP_MAX 256
#define STEP_MIN 16
#define STEP_VALUES 2048 /* texts */

static int no_memory(const struct sp__tablewriter *w)
{
	return sp__err(w->err, -ENOMEM, "allocate", NULL, -1);
}

/* Numbers the columns of text. */
static int open_columns(struct sp__tablewriter *w, uint64_t memory_bytes)
{
	const struct sp__schema *s = &w->file->schema;
	uint32_t texts = 0;
	int rc;

	w->text_columns = calloc(s->n, sizeof(*w->text_columns));
	w->row = calloc(1, sp__directory_row_bytes(w->file) + 1);
	if (!w->text_columns || !w->row)
		return no_memory(w);
	for (uint32_t i = 0; i < s->n; i++) {
		w->text_columns[i] = texts;
		texts += s->columns[i].type.kind == 't';
	}
	w->ntexts = texts;
	w->step = (uint32_t)sp__min(STEP_MAX, sp__max(STEP_MIN, STEP_VALUES / (texts + 1)));
	rc = sp__texts_open(&w->texts, &w->slabs, w->file, texts, memory_bytes / 4, w->err);
	w->texts.fresh = !w->file->superblock.slots.number;
	return rc;
}

/*
 * Returns the number of buffers.  If tasks copy values, those that are full are not written
 * immediately, and the lines of columns of one width are full at the same time.
 */
static unsigned buffers(const struct sp__tablefile *file, uint64_t bytes)
{
	const unsigned least = file->layout.nlines + 1 + SPARE, more = least + file->layout.nlines;

	return file->cells.first.volume->machine || bytes / more < MORE_BYTES ? least : more;
}

int sp__tablewriter_open(struct sp__tablewriter *w, struct sp__tablefile *file,
			 uint64_t memory_bytes, struct sp_errinfo *err)
{
	const struct sp__queue_opts queue = sp__tablefile_queue(file, file->depth);
	const struct sp__table_layout *l = &file->layout;
	int rc;

	*w = (struct sp__tablewriter){ .file = file, .err = err };
	TAILQ_INIT(&w->rows);
	w->lines = calloc(l->nlines, sizeof(*w->lines));
	if (!w->lines)
		return no_memory(w);
	rc = sp__slabs_open(&w->slabs, &queue, file, buffers(file, memory_bytes / 2),
			    memory_bytes / 2, err);
	return rc ? rc : open_columns(w, memory_bytes);
}

void sp__tablewriter_divide(struct sp__tablewriter *w, bool (*relieve)(void *arg), void *arg)
{
	w->slabs.relieve = relieve;
	w->slabs.relieve_arg = arg;
	sp__slabs_write_plain(&w->slabs);
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
	sp__env_note_io(stats, &w->slabs.io);
	snprintf(stats->engine, sizeof(stats->engine), "%s", sp__queue_engine(q));
}

static void free_row(struct sp__row_entry *r)
{
	if (!r)
		return;
	pthread_mutex_destroy(&r->lock);
	free(r->bounds);
	free(r->places);
	free(r);
}

/* Returns an entry that is not used, or NULL. */
static struct sp__row_entry *new_row(struct sp__tablewriter *w)
{
	struct sp__row_entry *r = w->spare;

	w->spare = NULL;
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	pthread_mutex_init(&r->lock, NULL);
	r->bounds = calloc(w->file->schema.n, sizeof(*r->bounds));
	r->places = calloc(w->ntexts + 1, sizeof(*r->places));
	if (!r->bounds || !r->places) {
		free_row(r);
		return NULL;
	}
	return r;
}

/* Returns the directory row that gets records; NULL: no memory. */
static struct sp__row_entry *present_row(struct sp__tablewriter *w)
{
	const struct sp__schema *s = &w->file->schema;
	struct sp__row_entry *r = TAILQ_LAST(&w->rows, sp__row_list);

	if (r && !r->ended)
		return r;
	r = new_row(w);
	if (!r)
		return NULL;
	r->number = w->records / sp__layout_row_records(&w->file->layout);
	r->ended = false;
	atomic_store(&r->uses, 0);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->columns[i].bounds)
			sp__bounds_begin(&r->bounds[i], &s->columns[i].type);
	TAILQ_INSERT_TAIL(&w->rows, r, link);
	return r;
}

void sp__tablewriter_close(struct sp__tablewriter *w)
{
	for (struct sp__row_entry *r; w->file && (r = TAILQ_FIRST(&w->rows));) {
		TAILQ_REMOVE(&w->rows, r, link);
		free_row(r);
	}
	free_row(w->spare);
	sp__texts_close(&w->texts);
	sp__slabs_close(&w->slabs);
	free(w->lines);
	free(w->text_columns);
	free(w->row);
	*w = (struct sp__tablewriter){ 0 };
}

/* Writes the cells of a line; one of the state before goes to the journal. */
static int write_cells(struct sp__tablewriter *w, struct sp__line_cells *g)
{
	struct sp__slab *slab = g->slab;
	int rc;

	g->slab = NULL;
	g->fill = 0;
	if (!g->old)
		return sp__slab_write(slab, g->first, g->cells, SP__CELL_VALUES);
	g->old = false;
	sp__slab_own(slab);
	sp__slab_seal(slab, g->first, 1, SP__CELL_VALUES);
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
	g->slab->records[g->cells] = g->records;
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
	const struct sp__schema *s = &w->file->schema;
	const uint64_t row = sp__layout_row_records(&w->file->layout);
	const double done = (double)(w->records % row) / (double)row;
	struct sp__row_entry *present = present_row(w);
	int rc = present ? sp__directory_read_rows(w->file, w->records / row, 1, w->row, w->err)
			 : no_memory(w);

	for (uint32_t i = 0; !rc && i < s->n; i++) {
		uint8_t *entry = sp__directory_entry(w->file, w->row, i);
		struct sp__text_place place;

		if (s->columns[i].bounds)
			memcpy(&present->bounds[i], entry, SP__ENTRY_BYTES);
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

/* Places n records, from record `at` on, in the present cell of a line of column group f. */
static int fill_cell(struct sp__tablewriter *w, const struct sp__column_values *columns,
		     struct sp__line_cells *g, const struct sp__fill *fill)
{
	struct sp__fills *fills = w->slabs.fills;
	struct sp__fill *last =
		fills && g->fill && g->fill <= fills->n ? &fills->list[g->fill - 1] : NULL;

	if (!g->records && !w->slabs.plain)
		memset(g->slab->data + (size_t)g->cells * w->file->layout.cell_bytes, 0,
		       w->file->layout.cell_bytes);
	g->records += fill->n;
	if (!fills) {
		sp__fill_copy(w->file, columns, fill);
	} else if (last && last->slab == fill->slab && last->cell == fill->cell &&
		   last->at + last->n == fill->at) {
		last->n += fill->n;
	} else {
		if (!SP__ARRAY_GROW(fills->list, fills->capacity, fills->n + 1))
			return no_memory(w);
		sp__slab_add_use(g->slab);
		fills->list[fills->n++] = *fill;
		g->fill = fills->n;
	}
	return 0;
}

/* Places n records, from record `begin` of the columns on, in cells of column group f. */
static int put_group(struct sp__tablewriter *w, const struct sp__column_values *columns,
		     uint32_t begin, uint32_t f, uint32_t n)
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
		rc = fill_cell(w, columns, g,
			       &(struct sp__fill){ .slab = g->slab,
						   .group = f,
						   .cell = g->cells,
						   .record = g->records,
						   .at = begin + at,
						   .n = part });
		if (!rc && g->records == records)
			rc = end_cell(w, g);
	}
	return rc;
}

static int write_row(struct sp__tablewriter *w, const struct sp__row_entry *r)
{
	const struct sp__schema *s = &w->file->schema;

	for (uint32_t i = 0; i < s->n; i++) {
		uint8_t *entry = sp__directory_entry(w->file, w->row, i);

		if (s->columns[i].type.kind == 't')
			sp__directory_set_text(entry, &r->places[w->text_columns[i]]);
		else if (s->columns[i].bounds)
			memcpy(entry, &r->bounds[i], SP__ENTRY_BYTES);
	}
	return sp__directory_write_rows(w->file, r->number, 1, w->row, w->err);
}

/* Writes the directory rows that are complete, in their order. */
static int write_rows(struct sp__tablewriter *w)
{
	struct sp__row_entry *r;
	int rc = 0;

	while (!rc && (r = TAILQ_FIRST(&w->rows)) && r->ended && !atomic_load(&r->uses)) {
		rc = write_row(w, r);
		TAILQ_REMOVE(&w->rows, r, link);
		free_row(w->spare);
		w->spare = r;
	}
	return rc;
}

/* Ends the present directory row. */
static int end_row(struct sp__tablewriter *w)
{
	struct sp__row_entry *r = TAILQ_LAST(&w->rows, sp__row_list);
	int rc = sp__texts_end_row(&w->texts, r->places);

	/* It takes its cells now, whenever it is written: places do not depend on tasks. */
	if (!rc)
		rc = sp__areastream_reserve(w->file, &w->file->directory,
					    sp__directory_cells(w->file, r->number + 1), w->err);
	r->ended = true;
	return rc ? rc : write_rows(w);
}

/* Extends the bounds of the present row by n records, or has their fills do it. */
static int put_bounds(struct sp__tablewriter *w, const struct sp__column_values *columns,
		      uint32_t at, uint32_t n)
{
	const struct sp__schema *s = &w->file->schema;
	struct sp__fills *f = w->slabs.fills;
	struct sp__row_entry *r = present_row(w);
	struct sp__fill_part *last = f && f->nparts ? &f->parts[f->nparts - 1] : NULL;

	if (!r)
		return no_memory(w);
	if (last && last->row == r) {
		last->n += n;
		return 0;
	}
	if (f) {
		if (!SP__ARRAY_GROW(f->parts, f->parts_capacity, f->nparts + 1))
			return no_memory(w);
		atomic_fetch_add(&r->uses, 1);
		f->parts[f->nparts++] = (struct sp__fill_part){ r, at, n };
		return 0;
	}
	for (uint32_t i = 0; i < s->n; i++)
		if (s->columns[i].bounds)
			sp__bounds_add(&r->bounds[i], &s->columns[i].type,
				       columns[i].values + (size_t)at * s->columns[i].type.bytes,
				       n);
	return 0;
}

/* Adds texts and bounds of n records, from record `at` of the columns on. */
static int begin_step(struct sp__tablewriter *w, const struct sp__column_values *columns,
		      uint32_t at, uint32_t n)
{
	const struct sp__schema *s = &w->file->schema;
	int rc = put_bounds(w, columns, at, n);

	for (uint32_t i = 0; !rc && i < s->n; i++)
		if (s->columns[i].type.kind == 't')
			rc = sp__texts_add(&w->texts, w->text_columns[i], columns[i].base,
					   columns[i].refs + at, n);
	return rc;
}

/* Returns the bytes of the texts of n records, from record `at` of the columns on. */
static uint64_t text_bytes(const struct sp__tablewriter *w, const struct sp__column_values *columns,
			   size_t at, size_t n)
{
	const struct sp__schema *s = &w->file->schema;
	uint64_t bytes = 0;

	for (uint32_t i = 0; w->ntexts && i < s->n; i++)
		if (s->columns[i].type.kind == 't')
			bytes += sp__text_refs_bytes(columns[i].refs + at, n);
	return bytes;
}

/* Returns the number of records, at least one, whose texts fit into memory with those there. */
static uint32_t fitting(const struct sp__tablewriter *w, const struct sp__column_values *columns,
			size_t at, uint32_t n)
{
	const uint64_t room = sp__texts_room(&w->texts);
	uint64_t bytes = 0;
	uint32_t fit = 0;

	if (text_bytes(w, columns, at, n) <= room)
		return n;
	while (fit < n && (bytes += text_bytes(w, columns, at + fit, 1)) <= room)
		fit++;
	return sp__max(fit, 1);
}

int sp__tablewriter_put(struct sp__tablewriter *w, size_t n,
			const struct sp__column_values *columns)
{
	const uint64_t row = sp__layout_row_records(&w->file->layout);
	uint64_t in_row = w->records % row;
	int rc = 0;

	for (uint32_t i = 0; i < w->file->layout.nlines; i++)
		w->lines[i].fill = 0;
	if (w->slabs.fills)
		w->slabs.fills->columns = columns;
	for (size_t at = 0; !rc && at < n;) {
		uint32_t part = (uint32_t)sp__min(n - at, w->step - in_row % w->step);

		part = fitting(w, columns, at, (uint32_t)sp__min(part, row - in_row));
		rc = begin_step(w, columns, (uint32_t)at, part);
		for (uint32_t f = 0; !rc && f < w->file->layout.ngroups; f++)
			rc = put_group(w, columns, (uint32_t)at, f, part);
		at += part;
		w->records += part;
		in_row += part;
		if (!rc && in_row == row)
			rc = end_row(w);
		else if (!rc && in_row % w->step == 0)
			rc = sp__texts_limit(&w->texts, (double)in_row / (double)row);
		else if (!rc && !sp__texts_room(&w->texts)) /* few records say little of the rest */
			rc = sp__texts_limit(&w->texts, 1);
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
		rc = write_rows(w);
	if (!rc)
		rc = sp__texts_flush(&w->texts);
	if (!rc && sp__tablefile_release(w->file, w->records))
		rc = no_memory(w);
	if (!rc)
		rc = sp__slabs_drain(&w->slabs);
	w->file->superblock.records = w->records;
	if (w->file->creating)
		w->file->superblock.contents = w->slabs.contents;
	w->file->cells_written += w->slabs.cells_written;
	return rc;
}
