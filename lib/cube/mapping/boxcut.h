/* SPDX-License-Identifier: MIT */
/*
 * Cuts a box into items for several threads, along its last dimensions, whose coordinates are
 * farthest apart.
 */
#pragma once

#include "place/grid.h"

struct sp__boxcut {
	const struct sp_cube_box *box;
	unsigned ndims;
	uint64_t unit; /* coordinates of dimension 0 that stay together */
	uint64_t parts[SP_CUBE_DIMS_MAX];
};

/* Cuts a box into at most that many items, at least 1.  Returns their number. */
static inline uint64_t sp__boxcut_init(struct sp__boxcut *c, const struct sp_cube_box *box,
				       unsigned ndims, uint64_t unit, uint64_t wanted)
{
	uint64_t items = 1;

	*c = (struct sp__boxcut){ .box = box, .ndims = ndims, .unit = unit };
	for (unsigned i = ndims; i-- > 0; items *= c->parts[i])
		c->parts[i] =
			sp__min(sp__div_up(sp__box_count(box, i), i ? 1 : unit), wanted / items);
	return items;
}

/* Returns an item; items are in the order of their coordinates, the last dimension first. */
static inline struct sp_cube_box sp__boxcut_item(const struct sp__boxcut *c, uint64_t item)
{
	struct sp_cube_box box = *c->box;

	for (unsigned i = 0; i < c->ndims; item /= c->parts[i++]) {
		uint64_t unit = i ? 1 : c->unit, step = unit * box.stride[i];
		uint64_t units = sp__div_up(sp__box_count(c->box, i), unit);
		uint64_t part = item % c->parts[i];

		box.lo[i] += units * part / c->parts[i] * step;
		if (part + 1 < c->parts[i])
			box.hi[i] = c->box->lo[i] + units * (part + 1) / c->parts[i] * step -
				    box.stride[i];
	}
	return box;
}
