/* SPDX-License-Identifier: MIT */
/*
 * Adds a point to the first cell of its chain with free space, or to a new overflow cell, which
 * becomes the second one of the chain.
 *
 * Invariants.  A cell takes a point in two writes: the point after those that are counted, then the
 * header, which is in one block.  The cell outside is created with its first point, and is valid
 * when the superblock says so.  A new cell is first recorded in the superblock, then written, then
 * linked. Each step waits until the previous one is on the device.  So wherever a put is
 * interrupted, all earlier points are kept; at worst an overflow cell is unused until the dataset
 * is reorganised, or the count in the superblock is one too low.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/whole.h"
#include "cube/file/pointcell.h"
#include "cube/points/points.h"

struct put {
	struct sp__points *dataset;
	struct sp_errinfo *err;
	uint8_t *cell;
	struct sp__pointcell head;
	uint64_t block, home;
	sp__zkey key;
	const void *value;
};

static int io_error(const struct put *p, int code, const char *op)
{
	return sp__err(p->err, code, op, p->dataset->file->path,
		       (long long)(p->block * p->dataset->file->superblock.block_bytes));
}

static int read_cell(struct put *p, uint64_t block)
{
	struct sp__points *c = p->dataset;
	ssize_t n = sp__read_whole(c->file->fd, p->cell, c->file->cell_bytes,
				   block * c->file->superblock.block_bytes);

	p->block = block;
	if (n < 0 || (size_t)n < c->file->cell_bytes)
		return io_error(p, n < 0 ? (int)n : -EIO, "read");
	if (sp__pointcell_read(p->cell, &c->set, &p->head) && p->head.home == p->home)
		return 0;
	return sp__cube_damaged(c->file, block, p->err);
}

/* Writes a part of the cell, and waits until it is on the device. */
static int write_part(struct put *p, size_t begin, size_t end)
{
	struct sp__points *c = p->dataset;
	int rc = sp__write_whole(c->file->fd, p->cell + begin, end - begin,
				 p->block * c->file->superblock.block_bytes + begin);

	if (!rc && fdatasync(c->file->fd))
		rc = -errno;
	return rc ? io_error(p, rc, "write") : 0;
}

static size_t offset_of(const struct put *p, uint32_t point)
{
	return sizeof(p->head) + (size_t)point * p->dataset->set.record_bytes;
}

/* Writes the point after the others, then the header that counts it. */
static int add_to_cell(struct put *p)
{
	const struct sp__pointset *s = &p->dataset->set;
	size_t at = offset_of(p, p->head.count);
	int rc;

	sp__zkey_store(&s->space, p->key, p->cell + at);
	memcpy(p->cell + at + s->space.bytes, p->value,
	       p->dataset->file->superblock.shape.element_bytes);
	rc = write_part(p, at, at + s->record_bytes);
	if (rc)
		return rc;
	p->head.count++;
	sp__pointcell_seal(p->cell, p->head, s->record_bytes);
	return write_part(p, 0, sizeof(p->head));
}

/* Begins an empty cell in memory. */
static void begin_cell(struct put *p, uint64_t block, uint64_t next)
{
	memset(p->cell, 0, p->dataset->file->cell_bytes);
	p->block = block;
	p->head = (struct sp__pointcell){ .home = p->home, .next = next };
}

/* Appends a cell to the file, and counts it in the superblock. */
static int allocate(struct put *p, uint64_t *block)
{
	struct sp__points *c = p->dataset;
	uint64_t end;

	*block = sp__cube_superblock_end(&c->file->superblock);
	end = (*block + c->file->superblock.cell_blocks) * c->file->superblock.block_bytes;
	if (ftruncate(c->file->fd, (off_t)end))
		return sp__err(p->err, -errno, "truncate", c->file->path, -1);
	c->file->superblock.pointset.overflow_cells++;
	return sp__cube_superblock_write(&c->file->superblock, c->file->fd, c->file->path, p->err);
}

/* Adds a cell after the first one of a chain whose cells are all full. */
static int add_cell(struct put *p)
{
	struct sp__points *c = p->dataset;
	uint64_t block, next;
	int rc = read_cell(p, p->home);

	if (rc)
		return rc;
	next = p->head.next;
	rc = allocate(p, &block);
	if (rc)
		return rc;
	begin_cell(p, block, next);
	rc = add_to_cell(p);
	if (!rc)
		rc = read_cell(p, p->home);
	if (rc)
		return rc;
	p->head.next = block;
	sp__pointcell_seal(p->cell, p->head, c->set.record_bytes);
	return write_part(p, 0, sizeof(p->head));
}

static int add_point(struct put *p)
{
	uint64_t cells = p->dataset->file->superblock.pointset.overflow_cells + 1;
	int rc = read_cell(p, p->home);

	while (!rc && p->head.count == p->dataset->set.capacity && p->head.next && cells--)
		rc = read_cell(p, p->head.next);
	if (rc)
		return rc;
	return p->head.count < p->dataset->set.capacity ? add_to_cell(p) : add_cell(p);
}

static int run_put(struct put *p, bool outside)
{
	struct sp__cube_pointset *s = &p->dataset->file->superblock.pointset;
	int rc;

	if (outside && !s->outside) {
		begin_cell(p, p->home, 0);
		rc = add_to_cell(p);
	} else {
		rc = add_point(p);
	}
	if (rc)
		return rc;
	s->outside |= outside;
	s->count++;
	return sp__cube_superblock_write(&p->dataset->file->superblock, p->dataset->file->fd,
					 p->dataset->file->path, p->err);
}

int sp__points_put(struct sp__points *c, const uint64_t *x, const void *value,
		   struct sp_errinfo *err)
{
	struct put p = { .dataset = c, .err = err, .value = value };
	struct sp__home home;
	int rc;

	p.key = sp__zkey_of(&c->set.space, x);
	home = sp__pointset_home(&c->set, p.key, x);
	p.home = home.block;
	p.cell = malloc(c->file->cell_bytes);
	if (!p.cell)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	rc = run_put(&p, home.outside);
	free(p.cell);
	return rc;
}
