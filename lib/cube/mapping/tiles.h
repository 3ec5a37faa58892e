/* SPDX-License-Identifier: MIT */
/*
 * Copies elements between a cell, which has the elements of a tile in rows along dimension 0, and a
 * buffer, which has the elements of a box in rows along any dimension.
 */
#pragma once

#include <spindle/cube.h>
#include "place/grid.h"

struct sp__tiles {
	const struct sp_cube_shape *shape;
	struct sp_cube_box box;		  /* the elements in the buffer */
	uint64_t pitch[SP_CUBE_DIMS_MAX]; /* bytes from element to element along a dimension */
	uint8_t *buffer;
};

/* Rows of the buffer are along order[0]; NULL: 0, 1, 2, ...  Returns the bytes of the buffer. */
uint64_t sp__tiles_init(struct sp__tiles *t, const struct sp_cube_shape *shape,
			const struct sp_cube_box *box, const unsigned *order);
/* Copies the elements of the box that are in the cell at x from the cell, or into it. */
void sp__tiles_from_cell(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell);
void sp__tiles_to_cell(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell);
/* Sets all elements of a cell to fill. */
void sp__tile_fill(const struct sp_cube_shape *shape, uint8_t *cell, const uint8_t *fill);
