/* SPDX-License-Identifier: MIT */
/*
 * What the host has to give.  The default memory of a tool is public:
 * sp_memory_default() in <spindle/size.h>.
 */
#ifndef SP__BASE_HOST_H
#define SP__BASE_HOST_H

#include <stdint.h>

/* Bytes that the page cache may grow to: free or reclaimable memory, within the control group. */
uint64_t sp__host_page_cache(void);
/* Bytes that it holds for a while before the system begins to write them back. */
uint64_t sp__host_unwritten(void);

/* What sp_memory_group() gives, of files that lie below root ("": the real ones). */
uint64_t sp__host_memory_group(const char *root);

#endif
