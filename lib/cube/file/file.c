/* SPDX-License-Identifier: MIT */
/*
 * Checks the parameters of a call against an open cube, and marks its volumes.
 */
#include <string.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/file.h"
#include "cube/file/volumes.h"
#include "run/memory.h"

const char *sp__cube_unfinished(const struct sp__cube_superblock *h)
{
	switch (h->loading) {
	case SP__LOADING_NONE:
		return NULL;
	case SP__LOADING_ALL:
		return h->loaded ? "loaded in part: load --resume continues"
				 : "a load was interrupted: load all elements again";
	case SP__LOADING_POINTS:
		return "a load from CSV or a write was interrupted: repeat it";
	case SP__LOADING_SUMS:
		return "a roll-up was interrupted: create the cube again";
	}
	return NULL;
}

int sp__cube_check_finished(const struct sp__cubefile *c, const char *op, struct sp_errinfo *err)
{
	const char *reason = sp__cube_unfinished(&c->superblock);

	return reason ? sp__errf(err, SP_ESTATE, op, c->path, -1, "%s", reason) : 0;
}

int sp__cube_check_elements(const struct sp__cubefile *c, const char *op, struct sp_errinfo *err)
{
	if (c->superblock.no_data)
		return sp__errf(err, SP_EUNSUP, op, c->path, -1,
				"the cube was made without data: only --discard is possible");
	return c->opts.unfinished ? 0 : sp__cube_check_finished(c, op, err);
}

int sp__cube_damaged(const struct sp__cubefile *c, uint64_t block, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ECORRUPT, "read", c->path,
			(long long)(block * c->superblock.block_bytes),
			"a checksum differs: run check");
}

unsigned sp__cube_threads(const struct sp__cubefile *c)
{
	return c->env.device ? 1 : sp__threads(c->opts.run.parallel);
}

uint64_t sp__cube_slab_bytes(const struct sp__cubefile *c)
{
	return sp__max(c->env.budget.limit_bytes / 2, c->cell_bytes);
}

int sp__cube_check_box(const struct sp__cubefile *c, const struct sp_cube_box *b,
		       struct sp_errinfo *err)
{
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++) {
		const unsigned long long size = c->superblock.shape.dims[i];

		if (b->lo[i] >= size)
			return sp__errf(err, -ERANGE, "read", c->path, -1,
					"coordinate %llu of dimension %u is not below %llu",
					(unsigned long long)b->lo[i], i, size);
		if (b->hi[i] >= size)
			return sp__errf(err, -ERANGE, "read", c->path, -1,
					"the box ends behind the %llu elements of dimension %u",
					size, i);
		if (b->lo[i] > b->hi[i] || !b->stride[i])
			return sp__errf(err, SP_ESYNTAX, "read", c->path, -1,
					"the box has no elements along dimension %u", i);
	}
	return 0;
}

struct sp_cube_box sp__cube_cells(const struct sp_cube_shape *s, const struct sp_cube_box *e)
{
	struct sp_cube_box cells = { 0 };

	for (unsigned i = 0; i < s->ndims; i++) {
		uint32_t tile = s->tile[i];
		uint64_t last = e->lo[i] + (sp__box_count(e, i) - 1) * e->stride[i];

		cells.lo[i] = e->lo[i] / tile;
		cells.hi[i] = last / tile;
		cells.stride[i] = e->stride[i] % tile ? 1 : e->stride[i] / tile;
	}
	return cells;
}

int sp__cube_check_input(const struct sp__cubefile *c, int fd, const char *name,
			 struct sp_errinfo *err)
{
	struct stat input;

	if (fstat(fd, &input))
		return sp__err(err, -errno, "stat", name, -1);
	if (S_ISDIR(input.st_mode))
		return sp__err(err, -EISDIR, "read", name, -1);
	return sp__cellfile_has(&c->cells, &input)
		       ? sp__errf(err, SP_EUNSUP, "load", name, -1, "the input is the cube itself")
		       : 0;
}

void sp__cube_hollow(struct sp__cubefile *c, bool hollow)
{
	for (unsigned i = 0; i < c->cells.n; i++)
		c->cells.volumes[i].volume->hollow = hollow;
}

int sp__cube_begin_change(struct sp__cubefile *c, struct sp_errinfo *err)
{
	struct sp__cube_superblock *h = &c->superblock;
	int rc = 0;

	if ((!h->log_bytes && !h->points) || h->no_data || c->cells.n == 1)
		return 0;
	if (!h->marking) {
		h->marking = sp__volume_marking(h->generation);
		rc = sp__state_draw(&h->generation);
		rc = rc ? sp__err(err, rc, "getrandom", c->path, -1)
			: sp__cube_superblock_write(h, c->cells.first.fd, c->path, err);
	}
	return rc ? rc : sp__cube_volumes_mark(c, err);
}

int sp__cube_end_change(struct sp__cubefile *c, struct sp_errinfo *err)
{
	const uint64_t marking = c->superblock.marking;
	int rc;

	c->superblock.marking = 0;
	rc = sp__cube_superblock_write(&c->superblock, c->cells.first.fd, c->path, err);
	c->superblock.marking = rc ? marking : 0;
	return rc;
}

void sp__cube_set_progress(struct sp__cubefile *c, bool complete, enum sp__cube_loading loading,
			   const unsigned *order, uint64_t layers)
{
	struct sp__cube_superblock *h = &c->superblock;

	h->complete = complete;
	h->loading = loading;
	h->loaded = layers;
	memmove(h->load_order, order, sizeof(h->load_order)); /* it can be the same one */
}

bool sp__load_rolled(const struct sp_cube_load_opts *opts)
{
	bool rolled = false;

	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++)
		rolled |= opts->rollup[i] != 0;
	return rolled;
}
