/* SPDX-License-Identifier: MIT */
/*
 * The head of NumPy's .npy files: magic, version, and a Python dictionary as text with the
 * type, the shape, and whether the first or the last coordinate changes fastest.  The dictionary
 * is read as NumPy does: any literal of Python that gives it these three entries and no other.
 */
#pragma once

#include "cube/mapping/grid.h"

#define SP__NPY_PREFIX 12      /* bytes that tell how long the head is */
#define SP__NPY_TEXT_MAX 10000 /* bytes of the dictionary: NumPy reads no longer one either */
#define SP__NPY_HEAD_MAX (SP__NPY_PREFIX + SP__NPY_TEXT_MAX)

/* How a .npy file begins. */
#define SP__NPY_MAGIC "\x93NUMPY"
#define SP__NPY_MAGIC_BYTES 6

/* Bytes of the whole head, SP__NPY_PREFIX to SP__NPY_HEAD_MAX; 0: this is none. */
uint64_t sp__npy_head_bytes(const uint8_t *prefix);
/*
 * Fills in offset, order and byte order of a load, and how many elements there are along
 * dimensions of which shape has 0.  NULL, or why the file does not suit the shape.
 */
const char *sp__npy_parse(const uint8_t *head, uint64_t bytes, struct sp_cube_shape *shape,
			  struct sp_cube_load_opts *opts);
/* Writes the head for a box; returns its bytes, at most SP__NPY_HEAD_MAX. */
uint64_t sp__npy_write(uint8_t *head, const struct sp_cube_shape *shape,
		       const struct sp_cube_box *box);
