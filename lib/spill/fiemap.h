/* SPDX-License-Identifier: MIT */
/*
 * How contiguous a file lies on its device (FS_IOC_FIEMAP).
 */
#ifndef SP__SPILL_FIEMAP_H
#define SP__SPILL_FIEMAP_H

#include <stdint.h>

struct sp__regions {
	uint64_t count;	   /* maximal contiguous regions; 0: unknown or empty */
	double mean_bytes; /* 0 if count is 0 */
};

/* Never fails: what a file system cannot tell is unknown.  Costs a flush of
 * delayed allocation where sync is set. */
void sp__fiemap_regions(int fd, int sync, struct sp__regions *regions);

#endif
