/* SPDX-License-Identifier: MIT */
/*
 * Measures the fragmentation of a file on its device (FS_IOC_FIEMAP).
 */
#pragma once

#include <stdint.h>

struct sp__regions {
	uint64_t count;	   /* maximal contiguous regions; 0: unknown or empty */
	double mean_bytes; /* 0 if count is 0 */
};

/*
 * Measures a file and never fails: if the file system does not support it, the values are unknown.
 * sync: flushes delayed allocation first.
 */
void sp__fiemap_regions(int fd, int sync, struct sp__regions *regions);
