/* SPDX-License-Identifier: MIT */
/*
 * Stores the description of a run as bytes, for a run that outlives the process.  The format is
 * valid for this machine and this version of the library.
 */
#pragma once

#include <spindle/api.h>
#include "spill/run.h"

/* Returns the image of a run that has been written; the caller frees it.  NULL: out of memory. */
char *sp__run_image(const struct sp__run *run, size_t *bytes);
/* Restores the run, in the file of that number.  Returns 0, -EINVAL: not an image, or -ENOMEM. */
SP_MUST_CHECK int sp__run_from_image(struct sp__run **run, struct sp__budget *budget, uint32_t file,
				     const char *image, size_t bytes);
