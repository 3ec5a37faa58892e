/* SPDX-License-Identifier: MIT */
/*
 * Cubes of arrays: the shape of an array of NumPy.
 *
 * Errors: err may be NULL; on an error it receives a description.
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

#endif
