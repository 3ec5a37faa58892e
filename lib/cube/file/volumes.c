/* SPDX-License-Identifier: MIT */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "cube/file/volumes.h"
#include "io/volume.h"
#include "sim/fsmap.h"
#include "sim/machine.h"

#define MAGIC "SPCUBEV\n"

/*
 * In the file: little-endian, then zeros up to a page.  The last member is the checksum of those
 * before it; only cubes with a log of puts have a generation.
 */
struct header {
	char magic[8];
	uint64_t version, id, number, volumes;
	uint64_t last[2]; /* the generation if there is one, and the checksum */
	uint8_t zeros[4096 - 56];
};

/* Where the checksum is in last. */
static unsigned sum_index(const struct sp__cube_superblock *h)
{
	return h->log_bytes ? 1 : 0;
}

static uint64_t sum_of(const struct header *m, unsigned index)
{
	return sp__checksum(m, offsetof(struct header, last) + index * sizeof(m->last[0]));
}

static void fill_in(struct header *m, const struct sp__cube_superblock *h, unsigned i)
{
	unsigned sum = sum_index(h);

	*m = (struct header){ .version =
				      htole64(SP__CUBE_VERSION + (sum ? SP__CUBE_VERSION_LOG : 0)),
			      .id = htole64(h->id),
			      .number = htole64(i),
			      .volumes = htole64(h->mapping.basic.volumes) };
	memcpy(m->magic, MAGIC, sizeof(m->magic));
	m->last[0] = htole64(h->generation);
	m->last[sum] = htole64(sum_of(m, sum));
}

char *sp__cube_volume_name(const struct sp__cube_superblock *h, const char *path, unsigned i)
{
	const char *name = h->volumes[i], *slash = strrchr(path, '/');
	int folder = name && name[0] != '/' && slash ? (int)(slash - path) + 1 : 0;
	char *full;
	int n = name ? asprintf(&full, "%.*s%s", folder, path, name)
		     : asprintf(&full, "%s.%u", path, i);

	return n < 0 ? NULL : full;
}

int sp__cube_volume_mark(const struct sp__cube_superblock *h, unsigned i, int fd, const char *name,
			 struct sp_errinfo *err)
{
	_Alignas(4096) struct header m; /* as direct requests want it */
	ssize_t n;

	fill_in(&m, h, i);
	n = pwrite(fd, &m, sizeof(m), 0);
	if (n != (ssize_t)sizeof(m) || fdatasync(fd))
		return sp__err(err, n >= 0 && n < (ssize_t)sizeof(m) ? -EIO : -errno, "write", name,
			       0);
	return 0;
}

static int refuse(const char *name, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, SP_EFORMAT, "open", name, -1, "%s", text);
}

/* Whether the volume is of the same time as the first one. */
static int check_generation(const struct sp__cube_superblock *h, uint64_t generation,
			    const char *name, const char *first, struct sp_errinfo *err)
{
	if (!h->log_bytes || generation == h->generation ||
	    (h->marking && generation + 1 == h->generation))
		return 0;
	if (generation < h->generation)
		return refuse(name, err,
			      "is an older copy of the volume: the cube has been changed since");
	return sp__errf(err, SP_EFORMAT, "open", name, -1,
			"is newer than %s, which is a copy from before the last change", first);
}

static int check_header(const struct sp__cube_superblock *h, unsigned i, const struct header *m,
			const char *name, const char *first, struct sp_errinfo *err)
{
	unsigned sum = sum_index(h);
	struct header right;

	fill_in(&right, h, i);
	if (memcmp(m->magic, right.magic, sizeof(m->magic)) != 0)
		return refuse(name, err, "is not a volume of a cube");
	if (m->version != right.version)
		return refuse(name, err, "is a volume of another version of Spindle");
	if (le64toh(m->last[sum]) != sum_of(m, sum))
		return refuse(name, err, "its header is damaged");
	if (m->id != right.id)
		return refuse(name, err, "is a volume of another cube");
	if (m->number != right.number || m->volumes != right.volumes)
		return sp__errf(err, SP_EFORMAT, "open", name, -1,
				"is volume %llu of the cube, not volume %u",
				(unsigned long long)le64toh(m->number), i);
	return check_generation(h, le64toh(m->last[0]), name, first, err);
}

int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i, const char *name,
			  const char *first, struct sp_errinfo *err)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	struct header m;

	memset(&m, 0, sizeof(m));
	if (fd < 0)
		return sp__volume_open_err(err, -errno, name);
	if (pread(fd, &m, sizeof(m), 0) < 0)
		rc = sp__err(err, -errno, "read", name, 0);
	else
		rc = check_header(h, i, &m, name, first, err);
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
