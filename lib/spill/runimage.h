/* SPDX-License-Identifier: MIT */
/*
 * The description of a run as bytes, for a run that outlives the process: of this machine and this
 * version of the library.
 */
#ifndef SP__SPILL_RUNIMAGE_H
#define SP__SPILL_RUNIMAGE_H

#include <spindle/api.h>
#include "spill/run.h"

/* The image of a run that has been written, to be freed; NULL: no memory. */
char *sp__run_image(const struct sp__run *run, size_t *bytes);
/* The run again, in the file of that number; 0, -EINVAL: that is no image, -ENOMEM. */
SP_MUST_CHECK int sp__run_from_image(struct sp__run **run, struct sp__budget *budget, uint32_t file,
				     const char *image, size_t bytes);

#endif
