/* SPDX-License-Identifier: MIT */
/*
 * Adds cells to segments (segments.h).
 */
#include "base/array.h"
#include "base/minmax.h"
#include "table/read/segments.h"

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
