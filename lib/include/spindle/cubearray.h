/* SPDX-License-Identifier: MIT */
/*
 * Cubes and arrays: the shape of an array of NumPy, and boxes of elements in memory, where they are
 * in rows along dimension 0 and numbers are little-endian, as in results of sp_cube_read().
 *
 * Errors: err may be NULL; on an error it receives a description.
 * Thread rule: one thread at a time uses a cube.
 */
#ifndef SPINDLE_CUBEARRAY_H
#define SPINDLE_CUBEARRAY_H

#include <spindle/cube.h>

/*
 * Reads the shape of the array in a .npy file of NumPy: sets ndims, dims, type and element_bytes.
 * A file with fewer or more elements than its header says is refused.
 * shape: its tile stays as it is.
 * Returns 0; SP_EFORMAT: it is not a .npy file, or its length is wrong; SP_EUNSUP: no cube has such
 * a type or shape, or the file is not a regular one; or -errno of opening or reading.
 * Thread rule: any thread.
 */
SP_API SP_MUST_CHECK int sp_cube_shape_load(struct sp_cube_shape *shape, const char *path,
					    struct sp_errinfo *err);

/*
 * Reads the elements of a box of a grid into memory of the caller.
 * elements: receives all elements of the box.  stats may be NULL.
 * Returns 0, an error of sp_cube_read(), or SP_EUNSUP for a dataset of points.
 */
SP_API SP_MUST_CHECK int sp_cube_read_array(struct sp_cube *cube, const struct sp_cube_box *box,
					    void *elements, struct sp_cube_stats *stats,
					    struct sp_errinfo *err);

/*
 * Writes all elements of a box of a grid, whose strides are 1, with the memory limit of the cube.
 * stats may be NULL.
 *
 * One element is written as by sp_cube_put().  If a write of several elements is interrupted or
 * fails, each of them is the old or the new one, and reading returns SP_ESTATE until the same
 * write is repeated, or another one of all its elements.  Other elements are not lost.  The
 * repeated write gives all elements that were never written the value fill.
 * Returns 0, a code of sp_cube_put(), or:
 *   SP_ESYNTAX: lo exceeds hi, or a stride is not 1
 *   SP_ESTATE: also if an interrupted write, or a load from CSV, was changing other elements
 */
SP_API SP_MUST_CHECK int sp_cube_write(struct sp_cube *cube, const struct sp_cube_box *box,
				       const void *elements, struct sp_cube_stats *stats,
				       struct sp_errinfo *err);

#endif
