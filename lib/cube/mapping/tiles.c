/* SPDX-License-Identifier: MIT */
/*
 * Copies elements between cells and the buffer of a box.
 */
#include <string.h>
#include "cube/mapping/tiles.h"

uint64_t sp__tiles_init(struct sp__tiles *t, const struct sp_cube_shape *shape,
			const struct sp_cube_box *box, const unsigned *order)
{
	uint64_t bytes = shape->element_bytes;

	t->shape = shape;
	t->box = *box;
	for (unsigned i = 0; i < shape->ndims; i++) {
		unsigned dim = order ? order[i] : i;

		t->pitch[dim] = bytes;
		bytes *= sp__box_count(box, dim);
	}
	return bytes;
}

/* Sets s to the elements of the box in a cell.  Returns false if there are none. */
static bool shared(const struct sp__tiles *t, const uint64_t *x, struct sp_cube_box *s)
{
	const uint32_t *tile = t->shape->tile;

	for (unsigned i = 0; i < t->shape->ndims; i++)
		if (!sp__box_clip(&t->box, i, x[i] * tile[i], (x[i] + 1) * tile[i], s))
			return false;
	return true;
}

static void copy_elements(uint8_t *to, uint64_t to_pitch, const uint8_t *from, uint64_t from_pitch,
			  uint64_t n, uint32_t bytes)
{
	if (to_pitch == bytes && from_pitch == bytes) {
		switch (n * bytes) { /* short rows are not worth a call */
		case 16:
			memcpy(to, from, 16);
			break;
		case 32:
			memcpy(to, from, 32);
			break;
		case 64:
			memcpy(to, from, 64);
			break;
		default:
			memcpy(to, from, n * bytes);
		}
		return;
	}
	for (; n; n--, to += to_pitch, from += from_pitch)
		switch (bytes) {
		case 4:
			memcpy(to, from, 4);
			break;
		case 8:
			memcpy(to, from, 8);
			break;
		default:
			memcpy(to, from, bytes);
		}
}

static void copy(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell, bool into)
{
	unsigned n = t->shape->ndims, i;
	uint32_t bytes = t->shape->element_bytes;
	uint64_t step[SP_CUBE_DIMS_MAX], count[SP_CUBE_DIMS_MAX], at[SP_CUBE_DIMS_MAX] = { 0 };
	uint64_t inside = 0, outside = 0, row = bytes;
	struct sp_cube_box s;

	if (!shared(t, x, &s))
		return;
	for (i = 0; i < n; row *= t->shape->tile[i++]) {
		inside += (s.lo[i] - x[i] * t->shape->tile[i]) * row;
		outside += (s.lo[i] - t->box.lo[i]) / s.stride[i] * t->pitch[i];
		step[i] = s.stride[i] * row;
		count[i] = sp__box_count(&s, i);
	}
	do {
		if (into)
			copy_elements(cell + inside, step[0], t->buffer + outside, t->pitch[0],
				      count[0], bytes);
		else
			copy_elements(t->buffer + outside, t->pitch[0], cell + inside, step[0],
				      count[0], bytes);
		for (i = 1; i < n; i++) {
			inside += step[i];
			outside += t->pitch[i];
			if (++at[i] < count[i])
				break;
			inside -= count[i] * step[i];
			outside -= count[i] * t->pitch[i];
			at[i] = 0;
		}
	} while (i < n);
}

void sp__tiles_from_cell(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell)
{
	copy(t, x, cell, false);
}

void sp__tiles_to_cell(const struct sp__tiles *t, const uint64_t *x, uint8_t *cell)
{
	copy(t, x, cell, true);
}

void sp__tile_fill(const struct sp_cube_shape *shape, uint8_t *cell, const uint8_t *fill)
{
	uint64_t elements = 1;

	for (unsigned i = 0; i < shape->ndims; i++)
		elements *= shape->tile[i];
	for (; elements; elements--, cell += shape->element_bytes)
		memcpy(cell, fill, shape->element_bytes);
}
