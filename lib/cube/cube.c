/* SPDX-License-Identifier: MIT */
/*
 * Opening a cube: the head says where its cells are; the run environment brings the simulated
 * machine, if any.  On one the whole file lies from the first block of the device on, and
 * requests take the device's time; the bytes are those of the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/cube_impl.h"
#include "io/volume.h"
#include "run/memory.h"
#include "run/where.h"

/* Each note of progress waits for the device. */
#define PROGRESS_BYTES (UINT64_C(256) << 20)

static int refuse(const struct sp_cube *c, int code, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, code, "open", c->path, -1, "%s", text);
}

static int check_direct(const struct sp_cube *c, struct sp_errinfo *err)
{
	const struct sp__volume *v = c->volume;

	if (v->regular ? c->cell_bytes % v->align_bytes || c->head.mapping.kind == SP_CUBE_MULTIMAP
		       : c->head.block_bytes % v->block_bytes)
		return refuse(c, SP_EUNSUP, err, "its cells do not lie as direct requests must");
	return 0;
}

/* The volume of the cells, whose descriptor it takes over. */
static int open_cells(struct sp_cube *c, int fd, struct sp_errinfo *err)
{
	const struct sp__cube_head *h = &c->head;
	int rc;

	if (fd < 0)
		return sp__volume_open_err(err, -errno, c->path);
	rc = sp__volume_adopt(&c->volume, fd, true, c->path, err);
	if (rc)
		close(fd);
	else if (c->volume->direct)
		rc = check_direct(c, err);
	if (rc)
		return rc;
	if (c->env.device)
		return sp__volume_simulate(c->volume, c->env.device, SP__SIM_INPUT,
					   sp__mapping_end(&h->mapping) * h->block_bytes, err);
	if (h->no_data)
		return refuse(c, SP_EUNSUP, err, "a cube without data needs --volume=sim:MODEL");
	return 0;
}

static int open_env(struct sp_cube *c, struct sp_errinfo *err)
{
	int rc;

	c->cell_bytes = (uint64_t)c->head.cell_blocks * c->head.block_bytes;
	if (!c->opts.run.volume)
		c->opts.run.volume = c->head.volume;
	if (c->opts.run.volume && !sp__where_simulated(&c->opts.run))
		return refuse(c, SP_ESYNTAX, err,
			      "the volume of a cube is simulated, or its own file");
	rc = sp__env_open(&c->env, &c->opts.run, err);
	c->env.err = err; /* of the call that is made, from now on */
	return rc;
}

static int allocate(struct sp_cube **c, const char *path, const struct sp_cube_opts *opts,
		    struct sp_errinfo *err)
{
	*c = calloc(1, sizeof(**c));
	if (*c)
		(*c)->path = strdup(path);
	if (!*c || !(*c)->path) {
		free(*c);
		return sp__err(err, -ENOMEM, "open", path, -1);
	}
	(*c)->opts = *opts;
	(*c)->fd = -1;
	(*c)->progress_bytes = PROGRESS_BYTES;
	return 0;
}

int sp_cube_open(struct sp_cube **out, const char *path, const struct sp_cube_opts *opts,
		 struct sp_errinfo *err)
{
	int flags = (opts->write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	struct sp_cube *c;
	int rc = allocate(&c, path, opts, err);

	if (rc)
		return rc;
	c->fd = open(path, flags);
	if (c->fd < 0)
		rc = sp__volume_open_err(err, -errno, path);
	if (!rc)
		rc = sp__cube_head_read(&c->head, c->fd, path, err);
	if (!rc)
		rc = open_env(c, err);
	if (!rc)
		rc = open_cells(c, open(path, flags | (opts->run.direct > 0 ? O_DIRECT : 0)), err);
	if (!rc) {
		*out = c;
		return 0;
	}
	(void)sp_cube_close(c);
	return rc;
}

int sp__cube_open_planned(struct sp_cube **out, struct sp__cube_head *head,
			  const struct sp_cube_opts *opts, struct sp_errinfo *err)
{
	struct sp_cube *c;
	int rc = allocate(&c, "a planned cube", opts, err);

	if (rc)
		return rc;
	c->head = *head;
	*head = (struct sp__cube_head){ 0 };
	rc = sp__cube_head_place(&c->head);
	if (!rc)
		rc = open_env(c, err);
	if (!rc)
		rc = open_cells(c, memfd_create("cube", MFD_CLOEXEC), err);
	if (!rc) {
		*out = c;
		return 0;
	}
	(void)sp_cube_close(c);
	return rc;
}

int sp_cube_close(struct sp_cube *c)
{
	int rc = 0;

	if (!c)
		return 0;
	sp__volume_close(c->volume);
	if (c->env.opts) {
		c->env.err = &c->env.own_err;
		rc = sp__env_close(&c->env);
	}
	sp__cube_head_free(&c->head);
	if (c->fd >= 0)
		close(c->fd);
	free(c->path);
	free(c);
	return rc;
}

void sp_cube_info(const struct sp_cube *c, struct sp_cube_info *info)
{
	const struct sp__cube_head *h = &c->head;
	const struct sp__mapping *m = &h->mapping;
	bool multimap = m->kind == SP_CUBE_MULTIMAP;

	*info = (struct sp_cube_info){
		.shape = h->shape,
		.mapping = m->kind,
		.all_cells = m->grid.cells,
		.block_bytes = h->block_bytes,
		.cell_blocks = h->cell_blocks,
		.reach = multimap ? m->multimap.reach : 0,
		.zones = multimap ? m->multimap.nzones : 0,
		.first_block = sp__mapping_begin(m),
		.end_block = sp__mapping_end(m),
		.loaded = h->loaded,
		.complete = h->complete,
		.loading = h->loading,
		.no_data = h->no_data,
		.volume = c->opts.run.volume,
		.device = h->device,
		.fill = h->fill,
		.attributes = h->attributes,
		.nattributes = h->nattributes,
	};
	memcpy(info->order, m->order, sizeof(info->order));
	for (unsigned i = 0; i < h->shape.ndims; i++) {
		info->basic[i] = multimap ? m->multimap.k[i] : 0;
		info->cells[m->order[i]] = m->grid.size[i];
	}
	info->waste_bytes = (info->end_block - info->first_block) * h->block_bytes -
			    m->grid.cells * c->cell_bytes;
}

static int check_element(const struct sp_cube *c, const uint64_t *x)
{
	for (unsigned i = 0; i < c->head.shape.ndims; i++)
		if (x[i] >= c->head.shape.dims[i])
			return -ERANGE;
	return 0;
}

int sp_cube_block(const struct sp_cube *c, const uint64_t *x, uint64_t *block)
{
	uint64_t cell[SP_CUBE_DIMS_MAX];
	int rc = check_element(c, x);

	for (unsigned i = 0; i < c->head.shape.ndims; i++)
		cell[i] = x[i] / c->head.shape.tile[i];
	if (!rc)
		*block = sp__mapping_block(&c->head.mapping, cell);
	return rc;
}

int sp_cube_element(const struct sp_cube *c, uint64_t block, uint64_t *x)
{
	if (!sp__mapping_cell(&c->head.mapping, block, x))
		return -ENOENT;
	for (unsigned i = 0; i < c->head.shape.ndims; i++)
		x[i] *= c->head.shape.tile[i];
	return 0;
}

uint64_t sp__cube_part_bytes(const struct sp_cube *c)
{
	return sp__max(c->env.budget.limit_bytes / 2, c->cell_bytes);
}

int sp__cube_check_box(const struct sp_cube *c, const struct sp_cube_box *b, struct sp_errinfo *err)
{
	for (unsigned i = 0; i < c->head.shape.ndims; i++) {
		if (b->hi[i] >= c->head.shape.dims[i])
			return sp__errf(err, -ERANGE, "read", c->path, -1,
					"coordinate %llu of dimension %u is not below %llu",
					(unsigned long long)b->hi[i], i,
					(unsigned long long)c->head.shape.dims[i]);
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

int sp__cube_check_input(const struct sp_cube *c, int fd, const char *name, struct sp_errinfo *err)
{
	struct stat own, input;

	if (fstat(c->fd, &own) || fstat(fd, &input))
		return sp__err(err, -errno, "stat", name, -1);
	if (S_ISBLK(own.st_mode) ? S_ISBLK(input.st_mode) && own.st_rdev == input.st_rdev
				 : own.st_dev == input.st_dev && own.st_ino == input.st_ino)
		return sp__errf(err, SP_EUNSUP, "load", name, -1, "the input is the cube itself");
	return 0;
}
