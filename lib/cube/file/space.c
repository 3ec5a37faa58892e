/* SPDX-License-Identifier: MIT */
/*
 * Extends files, and releases the space of cells that were replaced.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "cube/file/space.h"
#include "cube/file/volumes.h"
#include "io/volume.h"

uint64_t sp__cube_volume_bytes(const struct sp__cubefile *c, const struct sp__volume *v)
{
	off_t end = 0;

	if (c->env.device)
		return sp__cube_drive_bytes(c->env.device->size_bytes,
					    c->superblock.mapping.basic.volumes,
					    c->env.device->align_bytes);
	if (!v->regular)
		end = lseek(v->fd, 0, SEEK_END);
	return end > 0 ? (uint64_t)end : 0;
}

static int extend(const struct sp__cubefile *c, const struct sp__volume *v, uint64_t need,
		  const char *op, off_t *bytes, struct sp_errinfo *err)
{
	uint64_t max = sp__cube_volume_bytes(c, v);
	struct stat st;

	if (max && max < need)
		return sp__errf(err, -ENOSPC, op, v->name, -1,
				"the cube would need %llu bytes, the volume has %llu: choose "
				"a larger one",
				(unsigned long long)need, (unsigned long long)max);
	if (fstat(v->fd, &st))
		return sp__err(err, -errno, "stat", v->name, -1);
	if (c->superblock.no_data || !S_ISREG(st.st_mode) || (uint64_t)st.st_size >= need)
		return 0;
	*bytes = st.st_size;
	return ftruncate(v->fd, (off_t)need) ? sp__err(err, -errno, "truncate", v->name, -1) : 0;
}

int sp__cube_extend(const struct sp__cubefile *c, uint64_t end_block, const char *op,
		    struct sp__cubespace *space, struct sp_errinfo *err)
{
	uint64_t need = end_block * c->superblock.block_bytes;
	unsigned n = c->superblock.mapping.basic.volumes;
	int rc = 0;

	for (unsigned i = 0; i < n; i++)
		space->bytes[i] = -1;
	for (unsigned i = 0; !rc && i < n; i++)
		rc = extend(c, c->volumes[i], need, op, &space->bytes[i], err);
	return rc;
}

void sp__cube_shorten(const struct sp__cubefile *c, const struct sp__cubespace *space)
{
	for (unsigned i = 0; i < c->superblock.mapping.basic.volumes; i++)
		if (space->bytes[i] >= 0)
			(void)!ftruncate(c->volumes[i]->fd, space->bytes[i]);
}

void sp__cube_release(const struct sp__cubefile *c, uint64_t begin, uint64_t end)
{
	const struct sp__cube_superblock *h = &c->superblock;
	off_t size = (off_t)(sp__cube_superblock_end(h) * h->block_bytes);

	for (unsigned v = 0; v < h->mapping.basic.volumes; v++) {
		const struct sp__volume *volume = c->volumes[v];
		struct stat st;

		if (!volume->regular || fstat(volume->fd, &st))
			continue;
		if (st.st_size > size)
			(void)!ftruncate(volume->fd, size);
		(void)fallocate(volume->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(begin * h->block_bytes),
				(off_t)((end - begin) * h->block_bytes));
	}
}
