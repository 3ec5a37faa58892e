/* SPDX-License-Identifier: MIT */
/*
 * Space of new cells behind or between those in use, on all volumes of a cube.
 */
#pragma once

#include <sys/types.h>
#include "cube/file/file.h"

/* The lengths of files before they were extended; -1: it was not. */
struct sp__cubespace {
	off_t bytes[SP_CUBE_VOLUMES_MAX];
};

/* Returns the maximum bytes of a volume; 0: unknown. */
uint64_t sp__cube_volume_bytes(const struct sp__cubefile *c, const struct sp__volume *v);
/*
 * Extends files that end before a block.  op: for messages.  Returns 0, -ENOSPC if a device is too
 * small, or -errno; then, too, sp__cube_shorten() is to be called.
 */
SP_MUST_CHECK int sp__cube_extend(const struct sp__cubefile *c, uint64_t end_block, const char *op,
				  struct sp__cubespace *space, struct sp_errinfo *err);
/* Restores the lengths of files, after an error. */
void sp__cube_shorten(const struct sp__cubefile *c, const struct sp__cubespace *space);
/*
 * Releases blocks [begin, end) that no superblock names, and ends files with the cube.  Space that
 * the file system cannot release stays in use.
 */
void sp__cube_release(const struct sp__cubefile *c, uint64_t begin, uint64_t end);
