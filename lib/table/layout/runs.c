/* SPDX-License-Identifier: MIT */
/*
 * Lists the runs of cells that a scan reads.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "table/layout/runs.h"

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

struct sp__layout_run sp__layout_run(const struct sp__table_layout *l, uint32_t group,
				     uint64_t records, uint64_t page, uint64_t pages)
{
	const struct sp__column_group *g = &l->groups[group];
	struct sp__layout_run run = { sp__layout_cell(l, page, group, 0), pages * g->cells };
	uint32_t last = sp__layout_page_records(l, records, page + pages - 1);

	run.cells -= g->cells - (last + g->cell_records - 1) / g->cell_records;
	return run;
}

int sp__layout_gather_open(struct sp__layout_gather *g, const struct sp__table_layout *l,
			   const bool *groups, uint64_t gap_cells)
{
	*g = (struct sp__layout_gather){ .layout = l, .groups = groups, .gap_cells = gap_cells };
	for (uint32_t f = 0; f < l->ngroups; f++)
		g->more += groups[f] ? gap_cells + 1 : 0;
	g->next = calloc(l->ngroups, sizeof(*g->next));
	return g->next ? 0 : -ENOMEM;
}

void sp__layout_gather_close(struct sp__layout_gather *g)
{
	free(g->next);
	g->next = NULL;
}

void sp__layout_gather_begin(struct sp__layout_gather *g)
{
	memset(g->next, 0, g->layout->ngroups * sizeof(*g->next));
	g->cells = 0;
}

void sp__layout_gather_add(struct sp__layout_gather *g, uint64_t record)
{
	for (uint32_t f = 0; f < g->layout->ngroups; f++) {
		uint64_t cell, gap;

		if (!g->groups[f])
			continue;
		cell = sp__layout_record_cell(g->layout, f, record);
		if (cell < g->next[f])
			continue;
		gap = cell - g->next[f];
		g->cells += g->next[f] && gap <= g->gap_cells ? gap + 1 : 1;
		g->next[f] = cell + 1;
	}
}
