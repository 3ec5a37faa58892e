/* SPDX-License-Identifier: MIT */
/*
 * Reports the memory of the host.  The default memory of a tool is public: sp_memory_default() in
 * <spindle/size.h>.
 */
#pragma once

#include <stdint.h>

/*
 * Returns the maximum size of the page cache in bytes: free or reclaimable memory, within the
 * control group.
 */
uint64_t sp__host_page_cache(void);
/* Returns the dirty bytes that the page cache holds before the system begins to write them back. */
uint64_t sp__host_unwritten(void);

/* Returns the value of sp_memory_group(), read from files below root ("": the real ones). */
uint64_t sp__host_memory_group(const char *root);
