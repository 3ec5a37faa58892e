/* SPDX-License-Identifier: MIT */
/*
 * Reports the memory and the processors of the host.  The default memory of a tool is public:
 * sp_memory_default() in <spindle/size.h>.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the maximum size of the page cache in bytes: free or reclaimable memory, within the
 * control group.
 */
uint64_t sp__host_page_cache(void);
/* Returns the dirty bytes that the page cache holds before the system begins to write them back. */
uint64_t sp__host_unwritten(void);

/* Returns the value of sp_memory_group(), read from files below root ("": the real ones). */
uint64_t sp__host_memory_group(const char *root);
/*
 * Returns the number of processors that the process can use: those of its affinity, and as many as
 * the time that its control group has, rounded up.  The quota of the real group, ten files, is read
 * once per second at most.
 */
unsigned sp__host_processors(const char *root);

/* True if /sys says that the device with this number turns, as st_dev of a file names it. */
bool sp__host_turns(dev_t dev);
