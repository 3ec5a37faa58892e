/* SPDX-License-Identifier: MIT */
/*
 * The files or devices of a cube after the first one, each with a header (cells/volumes.h).
 */
#pragma once

#include "cube/file/file.h"

/* Returns the path of volume i > 0 of the cube at this path; the caller frees.  NULL: no memory. */
char *sp__cube_volume_name(const struct sp__cube_superblock *h, const char *path, unsigned i);
/* Writes the header of volume i > 0.  Returns 0 when it is on the device, or -errno. */
SP_MUST_CHECK int sp__cube_volume_mark(const struct sp__cube_superblock *h, unsigned i, int fd,
				       const char *name, struct sp_errinfo *err);
/*
 * Checks the header of an open file.  first: path of the first volume.  Returns 0; SP_EFORMAT if it
 * is not volume i of the cube, or older or newer than the first volume; or -errno.
 */
SP_MUST_CHECK int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i, int fd,
					const char *name, const char *first,
					struct sp_errinfo *err);
/* Names the volumes of an open cube.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__cube_volumes_list(struct sp__cubefile *c, struct sp_errinfo *err);
/* Writes the headers of all further volumes.  Returns 0 when they are on the devices. */
SP_MUST_CHECK int sp__cube_volumes_mark(const struct sp__cubefile *c, struct sp_errinfo *err);
