/* SPDX-License-Identifier: MIT */
/*
 * Finds the cells that a window needs of records, and makes segments of them.  Checks the cells
 * that are in memory, and finds the values of the records.
 */
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "table/layout/layout.h"
#include "table/read/window.h"

int sp__window_add_run(struct sp__window *w, struct sp__segments *s, struct sp__layout_run run)
{
	const struct sp__segment *last = s->n ? &s->list[s->n - 1] : NULL;
	uint64_t from = run.cell, end = run.cell + run.cells;

	if (last)
		from = sp__max(from, last->cell + last->cells);
	while (from < end) {
		uint64_t first;
		uint64_t n = sp__map_run(&w->file->map, SP__AREA_DATA, from, end - from, &first);
		int rc = sp__segments_add(s, sp__window_max_cells(w), from, first, n, w->gap_cells);

		if (rc)
			return rc;
		from += n;
	}
	return 0;
}

bool sp__window_has_text(const struct sp__window *w, uint32_t group)
{
	for (uint32_t k = 0; k < w->ntexts; k++)
		if (w->file->layout.places[w->texts[k]].group == group)
			return true;
	return false;
}

struct sp__layout_run sp__window_run(const struct sp__window *w, uint32_t group, uint32_t k,
				     uint64_t first, uint64_t n)
{
	const struct sp__table_layout *l = &w->file->layout;
	const bool before = sp__window_has_text(w, group) && sp__window_has_before(l, first);

	return sp__layout_run(l, group, k, first - before, first + n - 1);
}

/*
 * Returns how many cells the last segment must grow by to have a cell as its last one: 1, or more
 * if a gap is read as well; 0: the cell begins another segment.
 */
static uint64_t growth(const struct sp__segments *s, uint64_t cell, uint64_t file_cell,
		       uint64_t gap_cells)
{
	const struct sp__segment *last = s->n ? &s->list[s->n - 1] : NULL;
	uint64_t n;

	if (!last || last->in_frame || cell < last->cell + last->cells)
		return 0;
	n = cell + 1 - last->cell - last->cells;
	return n <= gap_cells + 1 && file_cell - last->file_cell == cell - last->cell ? n : 0;
}

int sp__segments_add(struct sp__segments *s, uint64_t most, uint64_t cell, uint64_t file_cell,
		     uint64_t cells, uint64_t gap_cells)
{
	while (cells) {
		struct sp__segment *last = s->n ? &s->list[s->n - 1] : NULL;
		uint64_t more = sp__min(cells, most), n = growth(s, cell, file_cell, gap_cells);

		if (n && last->cells + n <= most) {
			more = sp__min(cells, most - last->cells - n + 1);
			last->cells += n - 1 + more;
		} else {
			if (!SP__ARRAY_GROW(s->list, s->capacity, s->n + 1))
				return -ENOMEM;
			s->list[s->n++] = (struct sp__segment){ .cell = cell,
								.file_cell = file_cell,
								.cells = more };
		}
		cell += more;
		file_cell += more;
		cells -= more;
	}
	return 0;
}

/*
 * Finds the segment of texts that has a cell, from the cursor on.  Texts of a directory row that
 * were moved can lie before those of the row before.
 */
static const struct sp__segment *find(const struct sp__segments *s, uint64_t cell, size_t *cursor)
{
	while (cell - s->list[*cursor].cell >= s->list[*cursor].cells)
		++*cursor;
	return &s->list[*cursor];
}

/* Finds the segment of a line that has a cell; the cursor says where the last one was. */
static const struct sp__segment *find_value(const struct sp__segments *s, uint64_t cell,
					    size_t *cursor)
{
	if (*cursor >= s->n || cell - s->list[*cursor].cell >= s->list[*cursor].cells)
		*cursor = SP__BISECT(s->n, i, s->list[i].cell <= cell) - 1;
	return &s->list[*cursor];
}

/* Returns the address of a column's value in its cell, which is in memory. */
static const uint8_t *value_at(const struct sp__window *w, uint32_t column, uint64_t record,
			       size_t *cursor)
{
	const struct sp__table_layout *l = &w->file->layout;
	const struct sp__column_place *p = &l->places[column];
	const uint32_t in_page = (uint32_t)(record % l->page_records);
	const uint32_t max = l->groups[p->group].cell_records, i = in_page % max;
	const uint64_t cell = sp__layout_cell(l, record / l->page_records, p->group, in_page / max);
	const struct sp__segment *s =
		find_value(&w->values[sp__layout_line(l, p->group, in_page / max)], cell, cursor);

	return s->at + (cell - s->cell) * l->cell_bytes + p->base + (size_t)i * p->stride;
}

uint32_t sp__window_end_at(const struct sp__window *w, uint32_t column, uint64_t record,
			   size_t *cursor)
{
	uint32_t end;

	memcpy(&end, value_at(w, column, record, cursor), sizeof(end));
	return end;
}

/*
 * Joins the texts of a column: moves the payloads of cells to the beginning of their memory,
 * without the trailers.  Segments are in the order of the texts, so no byte that is still needed is
 * overwritten.
 */
static void join(struct sp__window *w, uint32_t k)
{
	const uint32_t cell_bytes = w->file->layout.cell_bytes;
	const uint32_t payload = sp__cell_payload(cell_bytes);
	const struct sp__segments *segments = &w->text_segments[k];
	uint8_t *begin = segments->n ? segments->list[0].at : NULL, *to = begin;
	size_t cursor = 0;

	w->joined[k] = (char *)begin;
	for (size_t i = 0; i < w->nranges; i++) {
		struct sp__range_text *t = &w->range_texts[i * w->ntexts + k];

		t->offset = (size_t)(to - begin);
		for (uint32_t at = t->before; at < t->end;) {
			uint64_t cell = t->first + at / payload;
			uint32_t from = at % payload, n = sp__min(payload - from, t->end - at);
			const struct sp__segment *s = find(segments, cell, &cursor);

			memmove(to, s->at + (cell - s->cell) * cell_bytes + from, n);
			to += n;
			at += n;
		}
	}
}

static int check_value(const struct sp__window *w, const struct sp__segment *s, uint64_t cell,
		       struct sp_errinfo *err)
{
	const struct sp__table_layout *l = &w->file->layout;
	const struct sp__layout_position at = sp__layout_position(l, cell);
	const uint64_t j = cell - s->cell;

	return sp__tablefile_check_cell(
		w->file, s->file_cell + j,
		sp__layout_cell_records(l, w->file->superblock.records, &at), SP__CELL_VALUES,
		s->at + j * l->cell_bytes, err);
}

/* Checks the cells of line k of a column group that have records, each once. */
static int check_line(const struct sp__window *w, uint32_t group, uint32_t k,
		      struct sp_errinfo *err)
{
	const struct sp__segments *s = &w->values[sp__layout_line(&w->file->layout, group, k)];
	uint64_t next = 0;
	size_t cursor = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < w->nranges; i++) {
		const struct sp__window_range *r = &w->ranges[i];
		const struct sp__layout_run run = sp__window_run(w, group, k, r->first, r->n);
		uint64_t cell = sp__max(run.cell, next);

		for (; !rc && cell < run.cell + run.cells; cell++)
			rc = check_value(w, find_value(s, cell, &cursor), cell, err);
		next = sp__max(next, run.cell + run.cells);
	}
	return rc;
}

static int check_values(const struct sp__window *w, uint32_t group, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < sp__layout_lines_of(&w->file->layout, group); k++)
		rc = w->groups[group] ? check_line(w, group, k, err) : 0;
	return rc;
}

static int check_texts(const struct sp__window *w, uint32_t k, struct sp_errinfo *err)
{
	const struct sp__segments *s = &w->text_segments[k];
	const uint32_t cell_bytes = w->file->layout.cell_bytes;

	for (size_t i = 0; i < s->n; i++)
		for (uint64_t j = 0; j < s->list[i].cells; j++) {
			int rc = sp__tablefile_check_cell(w->file, s->list[i].file_cell + j, 0,
							  SP__CELL_TEXT,
							  s->list[i].at + j * cell_bytes, err);

			if (rc)
				return rc;
		}
	return 0;
}

/* The ends inside a range must ascend: they become addresses. */
static int check_ends(struct sp__window *w, struct sp_errinfo *err)
{
	for (uint32_t k = 0; k < w->ntexts; k++) {
		size_t cursor = 0;

		for (size_t i = 0; i < w->nranges; i++) {
			const struct sp__range_text *t = &w->range_texts[i * w->ntexts + k];
			uint32_t last = t->before;

			for (uint64_t r = 0; r < w->ranges[i].n; r++) {
				uint32_t end = sp__window_end_at(w, w->texts[k],
								 w->ranges[i].first + r, &cursor);

				if (end < last || end > t->end)
					return sp__errf(
						err, SP_ECORRUPT, "read", w->file->path, -1,
						"the ends of the texts of column %s at record %llu "
						"do not ascend; run check",
						w->file->schema.columns[w->texts[k]].name,
						(unsigned long long)(w->ranges[i].first + r));
				last = end;
			}
		}
	}
	return 0;
}

int sp__window_check(struct sp__window *w, struct sp_errinfo *err)
{
	int rc = 0;

	for (uint32_t f = 0; !rc && f < w->file->layout.ngroups; f++)
		rc = check_values(w, f, err);
	for (uint32_t k = 0; !rc && k < w->ntexts; k++)
		rc = check_texts(w, k, err);
	if (!rc)
		rc = check_ends(w, err);
	for (uint32_t k = 0; !rc && k < w->ntexts; k++)
		join(w, k);
	return rc;
}

/* Returns how many records from `at` on are in the same cell of a column group. */
static uint64_t same_cell(const struct sp__table_layout *l, uint32_t group, uint64_t at)
{
	uint32_t n = l->groups[group].cell_records, i = (uint32_t)(at % l->page_records);

	return sp__min(n - i % n, l->page_records - i);
}

struct sp__rows sp__window_rows(struct sp__window *w, uint64_t at)
{
	static const char none[1]; /* where empty texts are */
	const struct sp__table_layout *l = &w->file->layout;
	const struct sp__window_range *r;
	uint64_t n;

	while (at >= w->ranges[w->range].first + w->ranges[w->range].n)
		w->range++;
	r = &w->ranges[w->range];
	n = sp__min(r->first + r->n - at, SP__ROWS_MAX);
	for (uint32_t f = 0; f < l->ngroups; f++)
		if (w->groups[f])
			n = sp__min(n, same_cell(l, f, at));
	for (uint32_t i = 0; i < l->ncolumns; i++) {
		const struct sp__column_place *p = &l->places[i];

		if (w->groups[p->group])
			w->vectors[i] =
				(struct sp__vector){ .data = value_at(w, i, at,
								      &w->cursors[p->group]),
						     .stride = p->stride };
	}
	for (uint32_t k = 0; k < w->ntexts; k++) {
		const struct sp__range_text *t = &w->range_texts[w->range * w->ntexts + k];
		struct sp__vector *v = &w->vectors[w->texts[k]];
		size_t cursor = 0;

		v->before = at > r->first ? sp__window_end_at(w, w->texts[k], at - 1, &cursor)
					  : t->before;
		/* Text 0 of the directory row need not be in memory. */
		v->text = (const char *)((uintptr_t)(w->joined[k] ? w->joined[k] : none) +
					 t->offset - t->before);
	}
	return (struct sp__rows){ at, (uint32_t)n, w->vectors };
}

bool sp__window_next(struct sp__window *w, struct sp__rows *rows)
{
	for (; w->range < w->nranges; w->range++, w->taken = 0)
		if (w->taken < w->ranges[w->range].n) {
			*rows = sp__window_rows(w, w->ranges[w->range].first + w->taken);
			w->taken += rows->n;
			return true;
		}
	return false;
}
