/* SPDX-License-Identifier: MIT */
/*
 * What the page cache holds of a file.
 */
#ifndef SP__IO_CACHED_H
#define SP__IO_CACHED_H

#include "io/volume.h"

/*
 * Whether most of the bytes from begin to end are in the page cache, by a
 * sample.  Brings (almost) nothing into it.
 */
bool sp__file_cached(int fd, uint64_t begin, uint64_t end);
/*
 * Whether all of these bytes of a volume that is not direct are there: in the system's, or in that
 * of the machine.
 */
bool sp__volume_cached(const struct sp__volume *v, uint64_t offset, uint64_t bytes);

#endif
