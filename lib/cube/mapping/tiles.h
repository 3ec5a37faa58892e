/* SPDX-License-Identifier: MIT */
/*
 * Copying between a cell, in which the elements of a tile are in rows along dimension 0, and a
 * buffer that holds the elements of a box in rows along any dimension.
 */
#pragma once

#include "cube/mapping/grid.h"

struct sp__tiles {
	const struct sp_cube_shape *shape;
	struct sp_cube_box box; /* of elements, those in the buffer */
	uint64_t pitch
		[SP_CUBE_DIMS_MAX]; /* bytes from one of them to the next along each dimension */
	uint8_t *buffer;
};

/* Rows along order[0]; returns the bytes of the buffer.  order NULL: 0, 1, 2, ... */
uint64_t sp__tiles_init(struct sp__tiles *t, const struct sp_cube_shape *shape,
			const struct sp_cube_box *box, const unsigned *order);
/* The elements that the cell at x and the box have in common, from the cell or into it. */
void sp__tiles_from_cell(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell);
void sp__tiles_to_cell(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell);
/* Sets all elements of a cell. */
void sp__tile_fill(const struct sp_cube_shape *shape, uint8_t *cell, const uint8_t *fill);
