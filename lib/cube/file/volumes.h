/* SPDX-License-Identifier: MIT */
/*
 * The files or devices of a cube after the first one, each with a header (datafile/volumes.h).
 */
#pragma once

#include "cube/file/superblock.h"

struct sp__machine_spec;

/* Returns the path of volume i > 0 of the cube at this path; the caller frees.  NULL: no memory. */
char *sp__cube_volume_name(const struct sp__cube_superblock *h, const char *path, unsigned i);
/* Writes the header of volume i > 0.  Returns 0 when it is on the device, or -errno. */
SP_MUST_CHECK int sp__cube_volume_mark(const struct sp__cube_superblock *h, unsigned i, int fd,
				       const char *name, struct sp_errinfo *err);
/*
 * Checks the header of the file of this name.  first: path of the first volume.  Returns 0;
 * SP_EFORMAT if it is not volume i of the cube, or older or newer than the first volume; or -errno.
 */
SP_MUST_CHECK int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i,
					const char *name, const char *first,
					struct sp_errinfo *err);

/*
 * Sets the specification of a machine on which each volume is a drive of a linear array.  Returns
 * 0; or SP_ESYNTAX if the text has an error, or itself requests an array or a file system.
 */
SP_MUST_CHECK int sp__cube_drives(struct sp__machine_spec *spec, const char *text, unsigned volumes,
				  const char *path, struct sp_errinfo *err);
/* Returns the bytes of each drive that a cube can use: whole pages of the simulator. */
uint64_t sp__cube_drive_bytes(uint64_t device_bytes, unsigned volumes, uint32_t page_bytes);
