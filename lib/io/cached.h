/* SPDX-License-Identifier: MIT */
/*
 * Reports whether bytes of a file are in the page cache.
 */
#pragma once

#include "io/volume.h"

/*
 * True if a sample shows most of the bytes from begin to end in the page cache.  Reads at most one
 * page per sample into it.
 */
bool sp__file_cached(int fd, uint64_t begin, uint64_t end);
/*
 * True if these bytes are best read in order by one thread: most are not in the page cache, and the
 * device turns.
 */
bool sp__file_turns(int fd, uint64_t begin, uint64_t end);
/*
 * True if all of these bytes of a volume that is not direct are in the page cache of the system, or
 * of the simulated machine.
 */
bool sp__volume_cached(const struct sp__volume *v, uint64_t offset, uint64_t bytes);
