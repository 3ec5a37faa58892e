/* SPDX-License-Identifier: MIT */
/*
 * The files or devices of a cube beyond the first one.  Each begins with a header that says to
 * which cube it belongs, as which volume, and how often the cube was changed, so that none is
 * taken for another, and no copy from before a change for the volume.
 */
#pragma once

#include "cube/file/superblock.h"

struct sp__machine_spec;

/* The path of volume i > 0 of the cube at this path; to be freed.  NULL: no memory. */
char *sp__cube_volume_name(const struct sp__cube_superblock *h, const char *path, unsigned i);
/* Writes the header of volume i > 0, and waits until it is on the device. */
SP_MUST_CHECK int sp__cube_volume_mark(const struct sp__cube_superblock *h, unsigned i, int fd,
				       const char *name, struct sp_errinfo *err);
/*
 * SP_EFORMAT with the reason: the file of this name is not volume i of the cube, or it is of
 * another time than the first volume; -errno.
 */
SP_MUST_CHECK int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i,
					const char *name, const char *first,
					struct sp_errinfo *err);

/*
 * The specification of a machine on which each volume is a drive, one after the other.
 * SP_ESYNTAX: the text itself asks for an array or for a file system.
 */
SP_MUST_CHECK int sp__cube_drives(struct sp__machine_spec *spec, const char *text, unsigned volumes,
				  const char *path, struct sp_errinfo *err);
/* What a cube can use of each drive: the simulator has no page that is not whole. */
uint64_t sp__cube_drive_bytes(uint64_t device_bytes, unsigned volumes, uint32_t page_bytes);
