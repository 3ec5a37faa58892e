/* SPDX-License-Identifier: MIT */
/*
 * Grids of cells and boxes in them.  A coordinate is one number for each dimension; dimension 0
 * comes first.
 */
#ifndef SP__CUBE_GRID_H
#define SP__CUBE_GRID_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/cube.h>

struct sp__grid {
	unsigned n; /* dimensions, 1 to SP_CUBE_DIMS_MAX */
	uint64_t size[SP_CUBE_DIMS_MAX];
	uint64_t cells; /* the product of the sizes, below 2^62 */
};

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

#endif
