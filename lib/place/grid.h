/* SPDX-License-Identifier: MIT */
/*
 * Grids of cells, and boxes of cells in them.  Coordinates are one number per dimension, dimension
 * 0 first.
 */
#pragma once

#include <spindle/error.h>
#include <spindle/grid.h>
#include "base/minmax.h"

struct sp__grid {
	unsigned n; /* dimensions, 1 to SP_CUBE_DIMS_MAX */
	uint64_t size[SP_CUBE_DIMS_MAX];
	uint64_t cells; /* product of the sizes, below 2^62 */
};

/* Returns a / b, rounded up. */
static inline uint64_t sp__div_up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

/* Returns the minimum length that cuts size into as few parts as length k does. */
static inline uint64_t sp__balanced(uint64_t size, uint64_t k)
{
	return sp__div_up(size, sp__div_up(size, k));
}

/* Returns the number of a cell; the coordinate of dimension 0 varies fastest. */
static inline uint64_t sp__grid_number(const struct sp__grid *g, const uint64_t *x)
{
	uint64_t number = 0;

	for (unsigned i = g->n; i-- > 0;)
		number = number * g->size[i] + x[i];
	return number;
}

/* Sets x to the coordinates of the cell with this number. */
static inline void sp__grid_cell(const struct sp__grid *g, uint64_t number, uint64_t *x)
{
	for (unsigned i = 0; i < g->n; i++) {
		x[i] = number % g->size[i];
		number /= g->size[i];
	}
}

/*
 * Receives consecutive cells in the order in which they are to be read.  A result other than 0
 * stops the walk, which returns it.
 */
typedef int (*sp__cells_fn)(void *arg, uint64_t first, uint64_t cells);

/* Returns the box of one coordinate. */
static inline struct sp_cube_box sp__box_of(const uint64_t *x, unsigned n)
{
	struct sp_cube_box box = { 0 };

	for (unsigned i = 0; i < n; i++) {
		box.lo[i] = box.hi[i] = x[i];
		box.stride[i] = 1;
	}
	return box;
}

/* Returns the number of coordinates of a box along dimension i. */
static inline uint64_t sp__box_count(const struct sp_cube_box *b, unsigned i)
{
	return (b->hi[i] - b->lo[i]) / b->stride[i] + 1;
}

/* Returns the number of coordinates of a box. */
static inline uint64_t sp__box_cells(const struct sp_cube_box *b, unsigned n)
{
	uint64_t cells = 1;

	for (unsigned i = 0; i < n; i++)
		cells *= sp__box_count(b, i);
	return cells;
}

/* True if a coordinate is between the limits of a box. */
static inline bool sp__box_spans(const struct sp_cube_box *b, unsigned n, const uint64_t *x)
{
	for (unsigned i = 0; i < n; i++)
		if (x[i] < b->lo[i] || x[i] > b->hi[i])
			return false;
	return true;
}

/* True if two boxes whose strides are 1 share a coordinate. */
static inline bool sp__boxes_meet(const struct sp_cube_box *a, const struct sp_cube_box *b,
				  unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (a->hi[i] < b->lo[i] || a->lo[i] > b->hi[i])
			return false;
	return true;
}

/* True if an order names each of n dimensions once. */
static inline bool sp__is_order(const unsigned *order, unsigned n)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < n; i++)
		seen |= order[i] < n ? 1u << order[i] : 0;
	return seen == (1u << n) - 1;
}

/*
 * Advances x in dimensions first to n - 1 of a box; dimension `first` varies fastest.  Returns
 * false after the last coordinates; x has the first ones then.
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
 * Sets dimension i of part to the coordinates of the box in [begin, end), begin < end.  Returns
 * false if there are none.
 */
static inline bool sp__box_clip(const struct sp_cube_box *box, unsigned i, uint64_t begin,
				uint64_t end, struct sp_cube_box *part)
{
	uint64_t step = box->stride[i], lo = box->lo[i];

	if (begin > lo)
		lo += sp__div_up(begin - lo, step) * step;
	part->lo[i] = lo;
	part->hi[i] = sp__min(box->hi[i], end - 1);
	part->stride[i] = step;
	return lo <= part->hi[i];
}
