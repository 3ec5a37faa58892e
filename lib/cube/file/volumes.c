/* SPDX-License-Identifier: MIT */
/*
 * Names the further volumes of a cube, writes their headers and checks them.
 *
 * Format of a header: the members below, their checksum, zeros up to HEADER_BYTES.  Grids without a
 * log of puts have no generation.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/whole.h"
#include "cube/file/volumes.h"
#include "io/volume.h"
#include "sim/fsmap.h"
#include "sim/machine.h"

#define MAGIC "SPCUBEV\n"
#define HEADER_BYTES 4096

struct header {
	char magic[8];
	uint64_t version, id, number, volumes, generation;
};

static bool has_generation(const struct sp__cube_superblock *h)
{
	return h->log_bytes || h->points;
}

static void members(struct sp__coder *c, struct header *m, bool generation)
{
	sp__code_bytes(c, m->magic, sizeof(m->magic));
	sp__code_u64(c, &m->version);
	sp__code_u64(c, &m->id);
	sp__code_u64(c, &m->number);
	sp__code_u64(c, &m->volumes);
	if (generation)
		sp__code_u64(c, &m->generation);
}

/* Returns the header that volume i is to have. */
static struct header header_of(const struct sp__cube_superblock *h, unsigned i)
{
	struct header m = { .version = SP__CUBE_VERSION + (h->points	  ? SP__CUBE_VERSION_BUILT
							   : h->log_bytes ? SP__CUBE_VERSION_LOG
									  : 0),
			    .id = h->id,
			    .number = i,
			    .volumes = h->mapping.basic.volumes,
			    .generation = h->generation };

	memcpy(m.magic, MAGIC, sizeof(m.magic));
	return m;
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
	_Alignas(4096) uint8_t page[HEADER_BYTES] = { 0 }; /* aligned for direct requests */
	struct sp__coder c = { .data = page, .bytes = sizeof(page) };
	struct header m = header_of(h, i);
	uint64_t sum;
	int rc;

	members(&c, &m, has_generation(h));
	sum = sp__checksum(page, c.at);
	sp__code_u64(&c, &sum);
	rc = sp__write_whole(fd, page, sizeof(page), 0);
	if (!rc && fdatasync(fd))
		rc = -errno;
	return rc ? sp__err(err, rc, "write", name, 0) : 0;
}

static int refuse(const char *name, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, SP_EFORMAT, "open", name, -1, "%s", text);
}

/* Refuses a volume that is older or newer than the first one. */
static int check_generation(const struct sp__cube_superblock *h, uint64_t generation,
			    const char *name, const char *first, struct sp_errinfo *err)
{
	if (generation == h->generation || (h->marking && generation + 1 == h->generation))
		return 0;
	if (generation < h->generation)
		return refuse(name, err,
			      "is an older copy of the volume: the cube has been changed since");
	return sp__errf(err, SP_EFORMAT, "open", name, -1,
			"is newer than %s, which is a copy from before the last change", first);
}

static int check_header(const struct sp__cube_superblock *h, unsigned i, const uint8_t *page,
			const char *name, const char *first, struct sp_errinfo *err)
{
	struct sp__coder c = sp__coder_reader(page, HEADER_BYTES);
	struct header right = header_of(h, i), m = right;
	uint64_t sum, right_sum;

	members(&c, &m, has_generation(h));
	right_sum = sp__checksum(page, c.at);
	sp__code_u64(&c, &sum);
	if (memcmp(m.magic, right.magic, sizeof(m.magic)) != 0)
		return refuse(name, err, "is not a volume of a cube");
	if (m.version != right.version)
		return refuse(name, err, "is a volume of another version of Spindle");
	if (sum != right_sum)
		return refuse(name, err, "its header is damaged");
	if (m.id != right.id)
		return refuse(name, err, "is a volume of another cube");
	if (m.number != right.number || m.volumes != right.volumes)
		return sp__errf(err, SP_EFORMAT, "open", name, -1,
				"is volume %llu of the cube, not volume %u",
				(unsigned long long)m.number, i);
	return check_generation(h, m.generation, name, first, err);
}

int sp__cube_volume_check(const struct sp__cube_superblock *h, unsigned i, const char *name,
			  const char *first, struct sp_errinfo *err)
{
	int fd = open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC), rc;
	uint8_t page[HEADER_BYTES] = { 0 };

	if (fd < 0)
		return sp__volume_open_err(err, -errno, name);
	if (pread(fd, page, sizeof(page), 0) < 0)
		rc = sp__err(err, -errno, "read", name, 0);
	else
		rc = check_header(h, i, page, name, first, err);
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
