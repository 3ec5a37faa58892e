/* SPDX-License-Identifier: MIT */
/*
 * Plans the file of a table that does not exist: which cells each area would have.
 */
#include <math.h>
#include <stdlib.h>
#include "base/minmax.h"
#include "table/cost/subject.h"
#include "table/file/directory.h"

#define FRONT_CELLS 2 /* superblocks */

static uint64_t cells_of(const struct sp__table_layout *l, double bytes)
{
	return (uint64_t)ceil(bytes / (l->cell_bytes - SP__CELL_TRAILER_BYTES));
}

/* Adds cells at the end of the file to an area. */
static int add(struct sp__cost_table *t, enum sp__table_area area, uint64_t cells)
{
	uint64_t first;
	int rc = cells ? sp__map_take(&t->map, cells, &first) : 0;

	return rc || !cells ? rc : sp__map_add(&t->map, area, first, cells);
}

uint64_t sp__cost_row_end(const struct sp__cost_table *t, uint64_t record)
{
	const uint64_t all = sp__layout_row_records(&t->layout);

	return sp__min((record / all + 1) * all, t->records);
}

/* Returns the cells of the texts of columns [0, end) of a row of so many records. */
static uint64_t columns_cells(const struct sp__cost_table *t, uint32_t end, uint64_t records)
{
	uint64_t cells = 0;

	for (uint32_t i = 0; i < end; i++)
		cells += cells_of(&t->layout, t->text_bytes[i] * (double)records);
	return cells;
}

/* Returns the cells of the texts of A-pages [page, end), which begin and end directory rows. */
static uint64_t text_cells(const struct sp__cost_table *t, uint64_t page, uint64_t end)
{
	const uint64_t all = sp__layout_row_records(&t->layout);
	const uint64_t first = page * t->layout.page_records;
	const uint64_t records = sp__min(end * t->layout.page_records, t->records) - first;

	return records / all * columns_cells(t, t->layout.ncolumns, all) +
	       columns_cells(t, t->layout.ncolumns, records % all);
}

/* Adds the cells of a strip, and those of its texts.  Returns the A-page after it, or an error. */
static int add_strip(struct sp__cost_table *t, uint64_t *page)
{
	const struct sp__table_layout *l = &t->layout;
	struct sp__strip s = sp__layout_strip(l, *page);
	uint64_t pages = sp__layout_pages(l, t->records), end = s.first + s.pages;
	int rc;

	end = end < pages ? end : pages;
	rc = add(t, SP__AREA_DATA, (l->ngroups > 1 ? s.pages : end - s.first) * l->page_cells);
	if (!rc && t->text)
		rc = add(t, SP__AREA_TEXT, text_cells(t, s.first, end));
	*page = end;
	return rc;
}

/* Adds a part along tracks as load does, and the texts of its records.  Returns as add_strip(). */
static int add_part(struct sp__cost_table *t, uint64_t *page)
{
	const uint64_t pages = sp__layout_pages(&t->layout, t->records), first = *page;
	int rc = sp__map_add_pages(&t->map, sp__max(first, 1));

	*page = sp__min(sp__lanemap_pages(t->map.lanemap), pages);
	return rc || !t->text ? rc : add(t, SP__AREA_TEXT, text_cells(t, first, *page));
}

static int add_directory(struct sp__cost_table *t)
{
	const uint64_t row_bytes = (uint64_t)sp__directory_entries(t->schema) * SP__ENTRY_BYTES;
	const uint32_t usable = sp__directory_usable(t->layout.cell_bytes);

	return add(t, SP__AREA_DIRECTORY,
		   (sp__layout_rows(&t->layout, t->records) * row_bytes + usable - 1) / usable);
}

int sp__cost_table_plan(struct sp__cost_table *t, const struct sp__schema *schema, uint64_t records,
			const double *text_bytes)
{
	const struct sp__table_layout *l = &t->layout;
	const uint64_t pages = sp__layout_pages(l, records);
	int rc;

	t->schema = schema;
	t->records = records;
	t->text_bytes = text_bytes;
	t->map.end = FRONT_CELLS;
	for (uint32_t i = 0; i < schema->n; i++)
		t->text |= schema->columns[i].type.kind == 't';
	/* The first part begins on the first track behind the superblocks. */
	rc = t->map.lanemap ? 0 : add_directory(t);
	for (uint64_t page = 0; !rc && page < pages;)
		rc = t->map.lanemap ? add_part(t, &page) : add_strip(t, &page);
	if (!rc && t->map.lanemap) {
		rc = sp__map_shorten_pages(&t->map, pages);
		sp__map_trim(&t->map, 0);
	}
	return rc || !t->map.lanemap ? rc : add_directory(t);
}

void sp__cost_table_free(struct sp__cost_table *t)
{
	sp__layout_free(&t->layout);
	if (t->map.lanemap)
		sp__lanemap_free(t->map.lanemap);
	free(t->map.lanemap);
	sp__map_free(&t->map);
}

void sp__cost_text_plan(const struct sp__cost_table *t, uint32_t column, uint64_t record,
			uint64_t *first, uint64_t *bytes)
{
	const uint64_t all = sp__layout_row_records(&t->layout), row = record / all;
	const uint64_t records = sp__cost_row_end(t, record) - row * all;
	const uint64_t cell =
		row * columns_cells(t, t->layout.ncolumns, all) + columns_cells(t, column, records);

	*bytes = (uint64_t)(t->text_bytes[column] * (double)records);
	if (*bytes)
		(void)sp__map_run(&t->map, SP__AREA_TEXT, cell, 1, first);
}

uint64_t sp__cost_table_bytes(const struct sp__cost_table *t)
{
	return t->map.end * t->layout.cell_bytes;
}

uint64_t sp__cost_table_space(const struct sp__cost_table *t)
{
	return sp__map_space(&t->map) * t->layout.cell_bytes;
}

double sp__cost_table_fill(const struct sp__cost_table *t)
{
	double bytes = 0;

	for (uint32_t i = 0; i < t->layout.ncolumns; i++)
		bytes += t->layout.places[i].bytes + t->text_bytes[i];
	bytes *= (double)t->records;
	return t->records ? bytes / (double)sp__cost_table_space(t) : 0;
}

double sp__cost_printed_bytes(const struct sp__cost_table *t, uint32_t column)
{
	return sp__column_printed_bytes(&t->schema->columns[column]) + t->text_bytes[column];
}
