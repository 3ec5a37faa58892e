/* SPDX-License-Identifier: MIT */
/*
 * Options about the device of temporary data.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <spindle/geometry.h>
#include "choice.h"

/*
 * The PATH of "dir:PATH"; NULL: what text names is no directory.  What has no kind
 * or no name ends the program.
 */
const char *device_directory(const char *option, const char *text);

/*
 * What is known of the device: a geometry file, or, file being NULL, that of the model of a
 * simulated volume; *g is NULL if neither is given.  The caller frees.
 */
int device_geometry(struct sp_geometry **g, const char *file, const char *volume,
		    struct sp_errinfo *err);

#endif
