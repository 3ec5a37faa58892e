/* SPDX-License-Identifier: MIT */
/*
 * Extends files, and releases the space of cells that were replaced.
 */
#include <fcntl.h>
#include <unistd.h>
#include "base/err.h"
#include "cube/file/space.h"
#include "run/volume_spec.h"

uint64_t sp__cube_volume_bytes(const struct sp__cubefile *c, const struct sp__volume *v)
{
	off_t end = 0;

	if (c->env.device)
		return sp__volume_spec_drive_bytes(c->env.device->size_bytes,
						   c->superblock.mapping.basic.volumes,
						   c->env.device->align_bytes);
	if (!v->regular)
		end = lseek(v->fd, 0, SEEK_END);
	return end > 0 ? (uint64_t)end : 0;
}

static int extend(const struct sp__cubefile *c, const struct sp__cellvolume *v, uint64_t need,
		  const char *op, off_t *before, struct sp_errinfo *err)
{
	uint64_t max = sp__cube_volume_bytes(c, v->volume);

	if (max && max < need)
		return sp__errf(err, -ENOSPC, op, v->name, -1,
				"the cube would need %llu bytes, the volume has %llu: choose "
				"a larger one",
				(unsigned long long)need, (unsigned long long)max);
	return c->superblock.no_data ? 0 : sp__cellvolume_lengthen(v, need, before, err);
}

int sp__cube_extend(const struct sp__cubefile *c, uint64_t end_block, const char *op,
		    struct sp__cubespace *space, struct sp_errinfo *err)
{
	uint64_t need = end_block * c->superblock.block_bytes;
	int rc = 0;

	for (unsigned i = 0; i < c->cells.n; i++)
		space->bytes[i] = -1;
	for (unsigned i = 0; !rc && i < c->cells.n; i++)
		rc = extend(c, &c->cells.volumes[i], need, op, &space->bytes[i], err);
	return rc;
}

void sp__cube_shorten(const struct sp__cubefile *c, const struct sp__cubespace *space)
{
	for (unsigned i = 0; i < c->cells.n; i++)
		if (space->bytes[i] >= 0)
			sp__cellvolume_shorten(&c->cells.volumes[i], (uint64_t)space->bytes[i]);
}

void sp__cube_release(const struct sp__cubefile *c, uint64_t begin, uint64_t end)
{
	const struct sp__cube_superblock *h = &c->superblock;

	for (unsigned i = 0; i < c->cells.n; i++) {
		const struct sp__cellvolume *v = &c->cells.volumes[i];

		if (!v->volume->regular || v->fd < 0)
			continue;
		sp__cellvolume_shorten(v, sp__cube_superblock_end(h) * h->block_bytes);
		(void)fallocate(v->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
				(off_t)(begin * h->block_bytes),
				(off_t)((end - begin) * h->block_bytes));
	}
}
