/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the header of NumPy's .npy files: magic, version, and a Python dictionary as
 * text with the type, the shape, and whether the first or the last coordinate changes fastest.  The
 * dictionary is read as NumPy does: any Python literal with these three entries and no other.
 */
#pragma once

#include <spindle/cube.h>
#include "place/grid.h"

#define SP__NPY_PREFIX 12      /* bytes that give the length of the header */
#define SP__NPY_TEXT_MAX 10000 /* bytes of the dictionary; the limit of NumPy, too */
#define SP__NPY_HEADER_MAX (SP__NPY_PREFIX + SP__NPY_TEXT_MAX)

/* The first bytes of a .npy file. */
#define SP__NPY_MAGIC "\x93NUMPY"
#define SP__NPY_MAGIC_BYTES 6

/* Returns the bytes of the whole header, at most SP__NPY_HEADER_MAX; 0: this is not one. */
uint64_t sp__npy_header_bytes(const uint8_t *prefix);
/*
 * Sets offset, order and byte order of a load, and the elements along dimensions for which shape
 * has
 * 0.  Returns NULL, or the reason why the file does not suit the shape.
 */
const char *sp__npy_parse(const uint8_t *header, uint64_t bytes, struct sp_cube_shape *shape,
			  struct sp_cube_load_opts *opts);
/*
 * Sets ndims, dims, type and element_bytes of a shape by the header of a file with this name.
 * Returns 0; SP_EFORMAT; or SP_EUNSUP: no cube has such a shape.
 */
SP_MUST_CHECK int sp__npy_shape(const uint8_t *header, uint64_t bytes, const char *name,
				struct sp_cube_shape *shape, struct sp_errinfo *err);
/* Writes the header for a box; returns its bytes, at most SP__NPY_HEADER_MAX. */
uint64_t sp__npy_write(uint8_t *header, const struct sp_cube_shape *shape,
		       const struct sp_cube_box *box);
