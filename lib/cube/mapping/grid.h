/* SPDX-License-Identifier: MIT */
/*
 * Grids of cells and boxes in them.  A coordinate is one number for each dimension; dimension 0
 * comes first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <spindle/cube.h>
#include "base/minmax.h"

struct sp__grid {
	unsigned n; /* dimensions, 1 to SP_CUBE_DIMS_MAX */
	uint64_t size[SP_CUBE_DIMS_MAX];
	uint64_t cells; /* the product of the sizes, below 2^62 */
};

/* The number of a cell, dimension 0 fastest; and the reverse. */
static inline uint64_t sp__grid_number(const struct sp__grid *g, const uint64_t *x)
{
	uint64_t number = 0;

	for (unsigned i = g->n; i-- > 0;)
		number = number * g->size[i] + x[i];
	return number;
}

static inline void sp__grid_cell(const struct sp__grid *g, uint64_t number, uint64_t *x)
{
	for (unsigned i = 0; i < g->n; i++) {
		x[i] = number % g->size[i];
		number /= g->size[i];
	}
}

/* Takes consecutive cells in the order in which they are to be read; not 0: stop. */
typedef int (*sp__cells_fn)(void *arg, uint64_t first, uint64_t cells);

/* Coordinates along dimension i that are in a box. */
static inline uint64_t sp__box_count(const struct sp_cube_box *b, unsigned i)
{
	return (b->hi[i] - b->lo[i]) / b->stride[i] + 1;
}

/*
 * The next coordinate of a box after x in dimensions first to n - 1, the first of them fastest;
 * false after the last one, and x is the first again.
 */
static inline bool sp__box_next(const struct sp_cube_box *b, unsigned first, unsigned n,
				uint64_t *x)
{
	for (unsigned i = first; i < n; i++) {
		if (b->hi[i] - x[i] >= b->stride[i]) {
			x[i] += b->stride[i];
			return true;
		}
		x[i] = b->lo[i];
	}
	return false;
}

/*
 * The coordinates of a box along dimension i from begin to end - 1, begin < end, in part; false
 * if there are none.
 */
static inline bool sp__box_clip(const struct sp_cube_box *box, unsigned i, uint64_t begin,
				uint64_t end, struct sp_cube_box *part)
{
	uint64_t step = box->stride[i], lo = box->lo[i];

	if (begin > lo)
		lo += (begin - lo + step - 1) / step * step;
	part->lo[i] = lo;
	part->hi[i] = sp__min(box->hi[i], end - 1);
	part->stride[i] = step;
	return lo <= part->hi[i];
}
