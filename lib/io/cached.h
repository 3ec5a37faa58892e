/* SPDX-License-Identifier: MIT */
/*
 * What the system's page cache holds of a file.
 */
#ifndef SP__IO_CACHED_H
#define SP__IO_CACHED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether most of the bytes from begin to end are in the page cache, by a
 * sample.  Brings (almost) nothing into it.
 */
bool sp__file_cached(int fd, uint64_t begin, uint64_t end);

#endif
