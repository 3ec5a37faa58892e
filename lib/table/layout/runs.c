/* SPDX-License-Identifier: MIT */
/*
 * Lists the runs of cells that a scan reads.
 */
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

struct sp__layout_run sp__layout_run(const struct sp__table_layout *l, uint32_t group,
				     uint64_t records, uint64_t page, uint64_t pages)
{
	const struct sp__column_group *g = &l->groups[group];
	struct sp__layout_run run = { sp__layout_cell(l, page, group, 0), pages * g->cells };
	uint32_t last = sp__layout_page_records(l, records, page + pages - 1);

	run.cells -= g->cells - (last + g->cell_records - 1) / g->cell_records;
	return run;
}
