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
