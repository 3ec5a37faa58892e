/* SPDX-License-Identifier: MIT */
/*
 * Makes layouts: divides columns into column groups, and computes their places.  Lists the runs of
 * cells that a scan reads.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "table/layout/layout.h"

uint32_t sp__layout_groups(const struct sp__table_layout *l, const bool *columns, bool *groups)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f < l->ngroups; f++)
		groups[f] = false;
	for (uint32_t i = 0; i < l->ncolumns; i++) {
		bool *used = &groups[l->places[i].group];

		n += columns[i] && !*used;
		*used |= columns[i];
	}
	return n;
}

uint64_t sp__layout_window(const struct sp__table_layout *l, const bool *groups, uint64_t page,
			   uint64_t pages, uint64_t bytes)
{
	uint64_t widest = 1;

	for (uint32_t f = 0; f < l->ngroups; f++)
		if (groups[f])
			widest = sp__max(widest, l->groups[f].cells);
	if (l->lanes) {
		const uint64_t rest = (page + pages) % l->stripe_pages;

		if (l->one_stripe)
			return sp__min(pages, l->stripe_pages - page % l->stripe_pages);
		return pages > rest ? pages - rest : pages;
	}
	pages = sp__min(pages, sp__max(bytes / l->cell_bytes / widest, 1));
	if (l->ngroups > 1) {
		struct sp__strip s = sp__layout_strip(l, page);

		pages = sp__min(pages, s.first + s.pages - page);
	}
	return pages;
}

/* Returns the bytes of cells that a record needs, on average. */
static double record_bytes(const struct sp__table_layout *l, const bool *groups)
{
	double bytes = 0;

	for (uint32_t f = 0; f < l->ngroups; f++)
		if (groups[f])
			bytes += (double)l->cell_bytes / l->groups[f].cell_records;
	return bytes;
}

uint64_t sp__layout_window_records(const struct sp__table_layout *l, const bool *groups,
				   uint64_t at, uint64_t bytes, double more)
{
	const uint64_t page = at / l->page_records, in_page = at % l->page_records;
	const uint64_t fit =
		(uint64_t)((double)bytes / fmax(record_bytes(l, groups) + more, 1)) + 1;
	uint64_t n, max = 1;

	if (fit >= l->page_records || !in_page) {
		n = sp__layout_window(l, groups, page, sp__max(fit / l->page_records, 1),
				      SP__TABLE_REQUEST_BYTES) *
			    l->page_records -
		    in_page;
		if (n <= fit)
			return n;
	}
	/* A part of an A-page, whole cells if there is memory for them. */
	for (uint32_t f = 0; f < l->ngroups; f++)
		if (groups[f] && l->groups[f].cell_records <= fit)
			max = sp__max(max, l->groups[f].cell_records);
	n = fit / max * max;
	return sp__min(n - (in_page % max), l->page_records - in_page);
}

struct sp__layout_run sp__layout_run(const struct sp__table_layout *l, uint32_t group, uint32_t k,
				     uint64_t first, uint64_t last)
{
	const uint32_t n = l->groups[group].cell_records;
	uint64_t from = sp__layout_record_cell(l, group, first);
	uint64_t to = sp__layout_record_cell(l, group, last);

	if (l->lanes) {
		const uint64_t page = first / l->page_records + (first % l->page_records / n > k);
		const uint64_t end = last / l->page_records + (last % l->page_records / n >= k);

		if (end <= page)
			return (struct sp__layout_run){ 0 };
		from = sp__layout_cell(l, page, group, k);
		to = from + (end - page) - 1;
	}
	return (struct sp__layout_run){ from, to + 1 - from };
}

int sp__layout_gather_open(struct sp__layout_gather *g, const struct sp__table_layout *l,
			   const bool *groups, uint64_t gap_cells, uint64_t align_bytes)
{
	*g = (struct sp__layout_gather){ .layout = l, .groups = groups, .gap_cells = gap_cells };
	if (l->cell_bytes % align_bytes)
		g->slack_cells = 2 * align_bytes / l->cell_bytes - 1;
	for (uint32_t f = 0; f < l->ngroups; f++)
		g->more += groups[f] ? gap_cells + 1 + g->slack_cells : 0;
	g->next = calloc(l->nlines, sizeof(*g->next));
	return g->next ? 0 : -ENOMEM;
}

void sp__layout_gather_close(struct sp__layout_gather *g)
{
	free(g->next);
	g->next = NULL;
}

void sp__layout_gather_begin(struct sp__layout_gather *g)
{
	memset(g->next, 0, g->layout->nlines * sizeof(*g->next));
	g->cells = 0;
}

void sp__layout_gather_add(struct sp__layout_gather *g, uint64_t record)
{
	const struct sp__table_layout *l = g->layout;

	for (uint32_t f = 0; f < l->ngroups; f++) {
		uint64_t cell, gap, *next;
		uint32_t j = (uint32_t)(record % l->page_records) / l->groups[f].cell_records;

		if (!g->groups[f])
			continue;
		next = &g->next[sp__layout_line(l, f, j)];
		cell = sp__layout_cell(l, record / l->page_records, f, j);
		if (cell < *next)
			continue;
		gap = cell - *next;
		g->cells += *next && gap <= g->gap_cells ? gap + 1 : 1 + g->slack_cells;
		*next = cell + 1;
	}
}

/* Of A-pages whose lanes are apart: cells, and the share of the fullest that is full enough. */
#define PAGE_CELLS_MIN 16
#define PAGE_CELLS_MAX 128
#define NEARLY_FULL 0.9

const struct sp__layout_form sp__layout_forms[4] = {
	{ .one_group = true, .rows = true, .cell_bytes = 8192 },
	{ .one_group = true, .cell_bytes = 8192 },
	{ .endless = true, .cell_bytes = 8192 },
	{ .cell_bytes = 4096 },
};

void sp__layout_free(struct sp__table_layout *l)
{
	for (uint32_t f = 0; l->groups && f < l->ngroups; f++)
		free(l->groups[f].columns);
	free(l->groups);
	free(l->places);
	*l = (struct sp__table_layout){ 0 };
}

/* Computes the places of the columns of a column group.  Returns 0, -EINVAL or -E2BIG. */
static int place_columns(struct sp__table_layout *l, uint32_t group,
			 const struct sp__schema *schema)
{
	struct sp__column_group *g = &l->groups[group];
	const uint32_t payload = l->cell_bytes - SP__CELL_TRAILER_BYTES;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < g->ncolumns; i++) {
		uint32_t column = g->columns[i], bytes;

		if (column >= schema->n || l->places[column].bytes)
			return -EINVAL;
		bytes = schema->columns[column].type.bytes;
		if (!bytes || bytes > payload - sum)
			return bytes ? -E2BIG : -EINVAL;
		l->places[column] = (struct sp__column_place){ group, sum, 0, bytes };
		sum += bytes;
	}
	if (!sum)
		return -EINVAL;
	g->record_bytes = sum;
	g->cell_records = payload / sum;
	for (uint32_t i = 0; i < g->ncolumns; i++) {
		struct sp__column_place *p = &l->places[g->columns[i]];

		p->base *= g->rows ? 1 : g->cell_records;
		p->stride = g->rows ? sum : p->bytes;
	}
	return 0;
}

/* Computes the lanes of the column groups, and the sizes of A-page and directory row. */
static int count_cells(struct sp__table_layout *l)
{
	if (!l->page_records)
		l->page_records = l->ngroups == 1 ? l->groups[0].cell_records
						  : l->cell_bytes - SP__CELL_TRAILER_BYTES;
	if (l->page_records > SP__PAGE_RECORDS_MAX)
		return -EINVAL;
	l->page_cells = l->empty_lane;
	for (uint32_t f = 0; f < l->ngroups; f++) {
		struct sp__column_group *g = &l->groups[f];

		g->first_lane = l->page_cells;
		g->cells = (l->page_records - 1) / g->cell_records + 1;
		l->page_cells += g->cells;
	}
	l->row_pages = l->ngroups == 1 || l->lanes
			       ? (SP__DIRECTORY_ROW_RECORDS - 1) / l->page_records + 1
			       : 1;
	if (l->lanes && l->page_cells > SP__LANES_MAX)
		return -EINVAL;
	l->nlines = l->lanes ? (uint32_t)l->page_cells : l->ngroups;
	return 0;
}

int sp__layout_compute(struct sp__table_layout *l, const struct sp__schema *schema, uint32_t *group)
{
	uint64_t columns = 0;
	int rc = 0;

	if (l->cell_bytes < SP__TABLE_CELL_MIN || l->cell_bytes > SP__TABLE_CELL_MAX ||
	    (l->cell_bytes & (l->cell_bytes - 1)) || (l->strip_max & (l->strip_max - 1)) ||
	    (l->strip_max && l->lanes) || (l->empty_lane && !l->lanes) || !l->ngroups ||
	    l->ngroups > schema->n)
		return -EINVAL;
	l->ncolumns = schema->n;
	l->places = calloc(schema->n, sizeof(*l->places));
	if (!l->places)
		return -ENOMEM;
	for (*group = 0; *group < l->ngroups; ++*group) {
		rc = place_columns(l, *group, schema);
		if (rc)
			return rc;
		columns += l->groups[*group].ncolumns;
	}
	return columns == schema->n ? count_cells(l) : -EINVAL;
}

/* Adds the columns whose number in `together` is `list`, or all if list is UINT32_MAX. */
static int add_group(struct sp__table_layout *l, uint32_t ncolumns, const uint32_t *together,
		     uint32_t list, bool rows)
{
	struct sp__column_group *g = &l->groups[l->ngroups];

	g->columns = calloc(ncolumns, sizeof(*g->columns));
	if (!g->columns)
		return -ENOMEM;
	l->ngroups++;
	for (uint32_t i = 0; i < ncolumns; i++)
		if (list == UINT32_MAX || together[i] == list)
			g->columns[g->ncolumns++] = i;
	g->rows = rows;
	return 0;
}

/* Adds column i alone. */
static int add_column(struct sp__table_layout *l, uint32_t i)
{
	int rc = add_group(l, 1, NULL, UINT32_MAX, false);

	if (!rc)
		l->groups[l->ngroups - 1].columns[0] = i;
	return rc;
}

/* True if an earlier column is in the list of column i. */
static bool has_group(const uint32_t *together, uint32_t i)
{
	for (uint32_t before = 0; before < i; before++)
		if (together[before] == together[i])
			return true;
	return false;
}

static int add_groups(struct sp__table_layout *l, uint32_t ncolumns,
		      const struct sp__layout_opts *o)
{
	int rc = 0;

	l->groups = calloc(ncolumns, sizeof(*l->groups));
	if (!l->groups)
		return -ENOMEM;
	if (o->form->one_group)
		return add_group(l, ncolumns, NULL, UINT32_MAX, o->form->rows);
	for (uint32_t i = 0; !rc && i < ncolumns; i++) {
		if (!o->together || !o->together[i])
			rc = add_column(l, i);
		else if (!has_group(o->together, i))
			rc = add_group(l, ncolumns, o->together, o->together[i], true);
	}
	return rc;
}

static int check(const struct sp__schema *schema, const struct sp__layout_opts *o,
		 uint32_t cell_bytes, struct sp_errinfo *err)
{
	if (cell_bytes < SP__TABLE_CELL_MIN || cell_bytes > SP__TABLE_CELL_MAX ||
	    (cell_bytes & (cell_bytes - 1)))
		return sp__errf(err, SP_ESYNTAX, "create", NULL, -1,
				"cell size %u is not a power of two from %d to %d", cell_bytes,
				SP__TABLE_CELL_MIN, SP__TABLE_CELL_MAX);
	if (o->page_records > SP__PAGE_RECORDS_MAX)
		return sp__errf(err, SP_ESYNTAX, "create", NULL, -1,
				"%u records per page: the maximum is %u", o->page_records,
				SP__PAGE_RECORDS_MAX);
	if (!schema->n)
		return sp__errf(err, SP_ESYNTAX, "create", NULL, -1, "a table needs a column");
	if (o->form->one_group && o->together)
		return sp__errf(err, SP_ESYNTAX, "create", NULL, -1,
				"all columns of this layout share cells: choose csm or dsm to "
				"store some of them together");
	return 0;
}

static int refuse(const struct sp__table_layout *l, const struct sp__schema *schema, uint32_t group,
		  struct sp_errinfo *err)
{
	const struct sp__column_group *g = &l->groups[group];
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->ncolumns; i++)
		sum += schema->columns[g->columns[i]].type.bytes;
	return sp__errf(err, SP_EUNSUP, "create", NULL, -1,
			"column %.64s%s: a record of %llu bytes does not fit a cell of %u bytes: "
			"choose a larger cell, or the type text",
			schema->columns[g->columns[0]].name,
			g->ncolumns > 1 ? " and those stored with it" : "", (unsigned long long)sum,
			l->cell_bytes);
}

/* Returns the cells of an A-page of so many records. */
static uint64_t cells_of(const struct sp__table_layout *l, uint32_t records)
{
	uint64_t cells = l->empty_lane;

	for (uint32_t f = 0; f < l->ngroups; f++)
		cells += (records - 1) / l->groups[f].cell_records + 1;
	return cells;
}

/* Returns the maximum of records whose A-page has at most so many cells; 0: none. */
static uint32_t max_records(const struct sp__table_layout *l, uint64_t cells)
{
	uint32_t low = 0, high = l->cell_bytes;

	while (low < high) {
		uint32_t middle = low + (high - low + 1) / 2;

		if (cells_of(l, middle) <= cells)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/*
 * Returns the records of an A-page whose lanes are apart: the most that fit 16, 32, 64 or 128
 * cells, or the least power of two above; of these sizes the smallest one that is nearly as full as
 * the fullest.
 */
static uint32_t choose_records(const struct sp__table_layout *l)
{
	double best = 0;
	uint32_t records = 0;

	for (uint64_t cells = PAGE_CELLS_MIN;
	     cells <= SP__LANES_MAX && (cells <= PAGE_CELLS_MAX || !records); cells *= 2) {
		uint32_t n = max_records(l, cells);
		double fill = (double)n / (double)cells;

		if (n && fill * NEARLY_FULL > best) {
			best = fill;
			records = n;
		}
	}
	return records;
}

int sp__layout_make(struct sp__table_layout *l, const struct sp__schema *schema,
		    const struct sp__layout_opts *o, struct sp_errinfo *err)
{
	const uint64_t run = o->strip_bytes ? o->strip_bytes : SP__STRIP_BYTES;
	uint32_t cell_bytes = o->cell_bytes ? o->cell_bytes : o->form->cell_bytes, group = 0;
	int rc = check(schema, o, cell_bytes, err);

	*l = (struct sp__table_layout){ .cell_bytes = cell_bytes,
					.page_records = o->page_records,
					.lanes = o->lanes,
					.empty_lane = o->empty_lane };
	if (rc)
		return rc;
	l->strip_max = !o->form->endless && !o->lanes;
	while (l->strip_max && (uint64_t)l->strip_max * cell_bytes < run &&
	       l->strip_max <= UINT32_MAX / 4)
		l->strip_max *= 2;
	rc = add_groups(l, schema->n, o);
	if (!rc && o->lanes && !o->page_records)
		l->page_records = 1;
	if (!rc)
		rc = sp__layout_compute(l, schema, &group);
	if (!rc && o->lanes && !o->page_records) {
		l->page_records = choose_records(l);
		rc = l->page_records ? count_cells(l) : -EINVAL;
	}
	if (rc == -EINVAL && o->lanes)
		return sp__errf(err, SP_EUNSUP, "create", NULL, -1,
				"an A-page has at most %d cells: choose larger cells, fewer "
				"records of a page, or columns that share cells",
				SP__LANES_MAX);
	if (rc == -E2BIG)
		return refuse(l, schema, group, err);
	return rc ? sp__err(err, rc, "create", NULL, -1) : 0;
}

struct sp__layout_position sp__layout_position(const struct sp__table_layout *l, uint64_t cell)
{
	struct sp__strip s = sp__layout_strip(l, cell / l->page_cells);
	uint64_t in_strip = cell - s.first * l->page_cells;
	uint32_t low = 0, high = l->ngroups;
	const struct sp__column_group *g;

	/* The last column group that begins at or before the cell. */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (l->groups[middle].first_lane * s.pages <= in_strip)
			low = middle;
		else
			high = middle;
	}
	g = &l->groups[low];
	in_strip -= g->first_lane * s.pages;
	if (l->lanes)
		return (struct sp__layout_position){ in_strip % s.pages, low,
						     (uint32_t)(in_strip / s.pages) };
	return (struct sp__layout_position){ s.first + in_strip / g->cells, low,
					     (uint32_t)(in_strip % g->cells) };
}

uint32_t sp__layout_cell_records(const struct sp__table_layout *l, uint64_t records,
				 const struct sp__layout_position *at)
{
	uint32_t n = l->groups[at->group].cell_records;
	uint64_t page = sp__layout_page_records(l, records, at->page), first = (uint64_t)at->j * n;

	return page > first ? (uint32_t)sp__min(page - first, n) : 0;
}

uint64_t sp__layout_data_cells(const struct sp__table_layout *l, uint64_t records)
{
	uint64_t pages = sp__layout_pages(l, records);
	struct sp__strip s;

	if (!pages || (l->ngroups == 1 && !l->strips))
		return pages * l->page_cells;
	s = sp__layout_strip(l, pages - 1);
	return (s.first + s.pages) * l->page_cells;
}

uint64_t sp__layout_rows(const struct sp__table_layout *l, uint64_t records)
{
	uint64_t pages = sp__layout_pages(l, records);

	return pages / l->row_pages + (pages % l->row_pages != 0);
}
