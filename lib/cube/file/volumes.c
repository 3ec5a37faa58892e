/* SPDX-License-Identifier: MIT */
/*
 * Describes the volumes of a cube.  Headers of grids without a log of puts have no generation.
 */
#include <fcntl.h>
#include <unistd.h>
#include "base/err.h"
#include "cube/file/volumes.h"
#include "datafile/volumes.h"
#include "io/volume.h"
#include "sim/fsmap.h"
#include "sim/machine.h"

static bool has_generation(const struct sp__cube_superblock *h)
{
	return h->log_bytes || h->points;
}

static struct sp__volume_set set_of(const struct sp__cube_superblock *h, const char *path)
{
	return (struct sp__volume_set){ .magic = "SPCUBEV\n",
					.version = SP__CUBE_VERSION +
						   (h->points	   ? SP__CUBE_VERSION_BUILT
						    : h->log_bytes ? SP__CUBE_VERSION_LOG
								   : 0),
					.id = h->id,
					.volumes = h->mapping.basic.volumes,
					.has_generation = has_generation(h),
					.marking = h->marking,
					.generation = h->generation,
					.noun = "cube",
					.path = path,
					.names = h->volumes };
}

char *sp__cube_volume_name(const struct sp__cube_superblock *h, const char *path, unsigned i)
{
	const struct sp__volume_set s = set_of(h, path);

	return sp__volume_set_name(&s, i);
}

int sp__cube_volume_mark(const struct sp__cube_superblock *h, unsigned i, int fd, const char *name,
			 struct sp_errinfo *err)
{
	const struct sp__volume_set s = set_of(h, NULL);

	return sp__volume_set_mark(&s, i, fd, name, err);
}

int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i, const char *name,
			  const char *first, struct sp_errinfo *err)
{
	const struct sp__volume_set s = set_of(h, first);
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;

	if (fd < 0)
		return sp__volume_open_err(err, -errno, name);
	rc = sp__volume_set_check(&s, i, fd, name, err);
	close(fd);
	return rc;
}

int sp__cube_drives(struct sp__machine_spec *spec, const char *text, unsigned volumes,
		    const char *path, struct sp_errinfo *err)
{
	int rc = sp__machine_spec_parse(spec, text, err);

	if (!rc && volumes > 1 && (spec->fs != SP__FS_NONE || spec->array.level != SP__RAID_NONE))
		return sp__errf(err, SP_ESYNTAX, "open", path, -1,
				"each volume is a simulated drive of its own: no array, and no "
				"file system");
	if (!rc && volumes > 1)
		spec->array = (struct sp__raid_spec){ .level = SP__RAID_LINEAR, .drives = volumes };
	return rc;
}

uint64_t sp__cube_drive_bytes(uint64_t device_bytes, unsigned volumes, uint32_t page_bytes)
{
	return device_bytes / volumes - device_bytes % page_bytes;
}
