/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes one cell of a chain at a time.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "cube/file/space.h"
#include "cube/points/chain.h"

int sp__chain_open(struct sp__chaincell *c, struct sp__points *dataset, struct sp_errinfo *err)
{
	*c = (struct sp__chaincell){ .dataset = dataset,
				     .err = err,
				     .data = malloc(dataset->file->cell_bytes) };
	return c->data ? 0 : sp__err(err, -ENOMEM, "malloc", NULL, -1);
}

void sp__chain_close(struct sp__chaincell *c)
{
	free(c->data);
}

/* Finds the volume and the offset of the cell. */
static const struct sp__cellvolume *place_of(const struct sp__chaincell *c, uint64_t *offset)
{
	const struct sp__cubefile *f = c->dataset->file;
	const struct sp__pointset *s = &c->dataset->set;
	uint64_t v = s->volumes > 1 ? c->block / s->volume_blocks : 0;

	*offset = (c->block - v * s->volume_blocks) * f->superblock.block_bytes;
	return &f->cells.volumes[v];
}

static int io_error(const struct sp__chaincell *c, int code, const char *op)
{
	uint64_t offset;
	const struct sp__cellvolume *v = place_of(c, &offset);

	return sp__err(c->err, code, op, v->name, (long long)offset);
}

int sp__chain_read(struct sp__chaincell *c, uint64_t block)
{
	const struct sp__cubefile *f = c->dataset->file;
	uint64_t offset;
	ssize_t n;
	int fd;

	if (c->dataset->set.volumes > 1 &&
	    block / c->dataset->set.volume_blocks >= c->dataset->set.volumes)
		return sp__cube_damaged(f, c->block, c->err);
	c->block = block;
	fd = place_of(c, &offset)->fd;
	n = sp__read_whole(fd, c->data, f->cell_bytes, offset);
	if (n < 0 || (size_t)n < f->cell_bytes)
		return io_error(c, n < 0 ? (int)n : -EIO, "read");
	if (sp__pointcell_read(c->data, &c->dataset->set, &c->head) &&
	    (!c->home || c->head.home == c->home))
		return 0;
	return sp__cube_damaged(f, block, c->err);
}

void sp__chain_begin(struct sp__chaincell *c, uint64_t block, uint64_t next)
{
	memset(c->data, 0, c->dataset->file->cell_bytes);
	c->block = block;
	c->head = (struct sp__pointcell){ .home = c->home, .next = next };
}

/* Writes a part of the cell, and waits until it is on the device. */
static int write_part(struct sp__chaincell *c, size_t begin, size_t end)
{
	uint64_t offset;
	int fd = place_of(c, &offset)->fd;
	int rc = sp__write_whole(fd, c->data + begin, end - begin, offset + begin);

	if (!rc && fdatasync(fd))
		rc = -errno;
	return rc ? io_error(c, rc, "write") : 0;
}

int sp__chain_write_points(struct sp__chaincell *c, uint32_t first, uint32_t last)
{
	return write_part(c, (size_t)(sp__chain_point(c, first) - c->data),
			  (size_t)(sp__chain_point(c, last) - c->data));
}

int sp__chain_write_head(struct sp__chaincell *c)
{
	sp__pointcell_seal(c->data, c->head, c->dataset->set.record_bytes);
	return write_part(c, 0, sizeof(c->head));
}

int sp__chain_allocate(struct sp__points *dataset, uint64_t *block, struct sp_errinfo *err)
{
	struct sp__cubefile *f = dataset->file;
	struct sp__cube_pointset *p = &f->superblock.pointset;
	struct sp__cubespace space;
	int rc;

	*block = sp__pointset_block(&dataset->set, p->overflow_block, p->overflow_cells++);
	rc = sp__cube_extend(f, sp__cube_superblock_end(&f->superblock), "write", &space, err);
	if (!rc)
		rc = sp__cube_sync(f, err); /* the lengths of further volumes */
	if (rc)
		p->overflow_cells--;
	return rc ? rc : sp__cube_superblock_write(&f->superblock, f->cells.first.fd, f->path, err);
}
