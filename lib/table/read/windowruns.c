/* SPDX-License-Identifier: MIT */
/*
 * Finds the cells that a window needs of records, and makes segments of them.
 */
#include "base/minmax.h"
#include "table/read/window_impl.h"

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
