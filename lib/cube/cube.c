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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/points/points.h"
#include "cube/file/putlog.h"
#include "cube/file/volumes.h"
#include "io/volume.h"
#include "run/memory.h"
#include "run/volume_spec.h"
#include "sim/machine.h"

/* Each note of progress waits for the device. */
#define PROGRESS_BYTES (UINT64_C(256) << 20)

static int refuse(const struct sp_cube *c, int code, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, code, "open", c->path, -1, "%s", text);
}

static int check_direct(const struct sp_cube *c, const struct sp__volume *v, struct sp_errinfo *err)
{
	if (v->regular ? c->cell_bytes % v->align_bytes ||
				 c->superblock.mapping.kind == SP_CUBE_MULTIMAP
		       : c->superblock.block_bytes % v->block_bytes)
		return refuse(c, SP_EUNSUP, err, "its cells do not lie as direct requests must");
	return 0;
}

/* Opens the file for the head and the table, if it can be a cube: others could block for ever. */
static int open_head(struct sp_cube *c, int flags, struct sp_errinfo *err)
{
	struct stat st;
	int rc;

	c->fd = open(c->path, flags | O_NONBLOCK);
	if (c->fd < 0 || fstat(c->fd, &st))
		return sp__volume_open_err(err, -errno, c->path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return refuse(c, SP_EUNSUP, err, "is neither a plain file nor a block device");
	rc = c->opts.write ? sp__cube_lock(c, err) : 0;
	if (!rc)
		rc = sp__cube_superblock_read(&c->superblock, c->fd, c->path, err);
	if (!rc && c->opts.verify && c->superblock.alone)
		rc = refuse(c, SP_ECORRUPT, err,
			    "one of the two superblocks is not valid: the last change may be "
			    "missing");
	return rc;
}

/* The file ends where cells are. */
static int check_size(const struct sp_cube *c, const struct sp__volume *v, struct sp_errinfo *err)
{
	uint64_t need = sp__cube_superblock_end(&c->superblock) * c->superblock.block_bytes;

	if (c->superblock.no_data || c->fd < 0 || v->size_bytes >= need)
		return 0;
	return sp__errf(err, SP_ECORRUPT, "open", v->name, -1,
			"it is cut short: it has %llu bytes, not %llu",
			(unsigned long long)v->size_bytes, (unsigned long long)need);
}

/* A volume of the cells, whose descriptor it takes over. */
static int adopt(struct sp_cube *c, unsigned i, int fd, const char *name, struct sp_errinfo *err)
{
	int rc;

	if (fd < 0)
		return sp__volume_open_err(err, -errno, name);
	rc = sp__volume_adopt(&c->volumes[i], fd, true, name, err);
	if (rc)
		close(fd);
	else
		rc = check_size(c, c->volumes[i], err);
	return rc || !c->volumes[i]->direct ? rc : check_direct(c, c->volumes[i], err);
}

/* Of several volumes each is a drive of the array, from its first block on. */
static int simulate(struct sp_cube *c, struct sp_errinfo *err)
{
	const struct sp__volume *device = c->env.device;
	unsigned n = sp__fragments_volumes(&c->superblock.fragments);
	int rc;

	if (n == 1)
		return sp__volume_simulate(
			c->volumes[0], device, SP__SIM_INPUT,
			sp__cube_superblock_end(&c->superblock) * c->superblock.block_bytes, err);
	rc = sp__volume_simulate(c->volumes[0], device, SP__SIM_INPUT,
				 device->size_bytes - device->size_bytes % device->align_bytes,
				 err);
	for (unsigned i = 1; !rc && i < n; i++) {
		sp__volume_place(c->volumes[i], device, c->volumes[0]->sim_file);
		c->volumes[i]->sim_begin = device->size_bytes / n * i;
	}
	return rc;
}

/* Without data all volumes are the first file, of which nothing is read. */
static int open_volume(struct sp_cube *c, unsigned i, int flags, struct sp_errinfo *err)
{
	char *name;
	int rc;

	if (c->superblock.no_data)
		return adopt(c, i, fcntl(c->volumes[0]->fd, F_DUPFD_CLOEXEC, 0), c->path, err);
	name = sp__cube_volume_name(&c->superblock, c->path, i);
	if (!name)
		return sp__err(err, -ENOMEM, "open", c->path, -1);
	rc = sp__cube_volume_check(&c->superblock, i, name, c->path, err);
	if (!rc)
		rc = adopt(c, i, open(name, flags), name, err);
	free(name);
	return rc;
}

/* fd: of the first volume, which it takes over; flags are for the others. */
static int open_cells(struct sp_cube *c, int fd, int flags, struct sp_errinfo *err)
{
	int rc = adopt(c, 0, fd, c->path, err);

	if (!rc && c->fd >= 0)
		rc = sp__cube_check_same(c, c->volumes[0]->fd, err);
	if (!rc && c->superblock.no_data && !c->env.device)
		rc = refuse(c, SP_EUNSUP, err, "a cube without data needs --volume=sim:MODEL");
	for (unsigned i = 1; !rc && i < sp__fragments_volumes(&c->superblock.fragments); i++)
		rc = open_volume(c, i, flags, err);
	return rc || !c->env.device ? rc : simulate(c, err);
}

static int open_env(struct sp_cube *c, struct sp_errinfo *err)
{
	unsigned volumes = sp__fragments_volumes(&c->superblock.fragments);
	struct sp__machine_spec spec;
	int rc;

	c->cell_bytes = (uint64_t)c->superblock.cell_blocks * c->superblock.block_bytes;
	if (!c->opts.run.volume)
		c->opts.run.volume = c->superblock.volume;
	if (c->opts.run.volume && !sp__volume_spec_simulated(&c->opts.run))
		return refuse(c, SP_ESYNTAX, err,
			      "the volume of a cube is simulated, or its own file");
	c->drive = c->opts.run.volume;
	if (c->drive && volumes > 1) {
		rc = sp__cube_drives(&spec, sp__volume_spec_machine_spec(&c->opts.run), volumes,
				     c->path, err);
		if (rc)
			return rc;
		if (asprintf(&c->array, "%s,array=linear:%u", c->drive, volumes) < 0) {
			c->array = NULL;
			return sp__err(err, -ENOMEM, "open", c->path, -1);
		}
		c->opts.run.volume = c->array;
	}
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
	rc = open_head(c, flags, err);
	if (!rc)
		rc = open_env(c, err);
	flags |= opts->run.direct > 0 ? O_DIRECT : 0;
	if (!rc)
		rc = open_cells(c, open(path, flags), flags, err);
	if (!rc && c->superblock.points)
		rc = sp__directory_read(c, err);
	if (!rc) {
		*out = c;
		return 0;
	}
	(void)sp_cube_close(c);
	return rc;
}

int sp__cube_open_planned(struct sp_cube **out, struct sp__cube_superblock *head,
			  const struct sp_cube_opts *opts, struct sp_errinfo *err)
{
	struct sp_cube *c;
	int rc = allocate(&c, "a planned cube", opts, err);

	if (rc)
		return rc;
	c->superblock = *head;
	*head = (struct sp__cube_superblock){ 0 };
	rc = sp__cube_superblock_settle(&c->superblock);
	if (!rc)
		rc = open_env(c, err);
	if (!rc)
		rc = open_cells(c, memfd_create("cube", MFD_CLOEXEC), 0, err);
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
	sp__directory_free(c);
	sp__putlog_forget(c);
	for (unsigned i = 0; i < SP_CUBE_VOLUMES_MAX; i++)
		sp__volume_close(c->volumes[i]);
	if (c->env.opts) {
		c->env.err = &c->env.own_err;
		rc = sp__env_close(&c->env);
	}
	sp__cube_superblock_free(&c->superblock);
	if (c->fd >= 0)
		close(c->fd);
	free(c->array);
	free(c->path);
	free(c);
	return rc;
}

/* NULL, or what a load that was interrupted asks for. */
static const char *unfinished(const struct sp__cube_superblock *h)
{
	switch (h->loading) {
	case SP__LOADING_NONE:
		return NULL;
	case SP__LOADING_ALL:
		return h->loaded ? "loaded in part: load --resume goes on"
				 : "a load was interrupted: load all elements again";
	case SP__LOADING_POINTS:
		return "a load from CSV was interrupted: load it again";
	case SP__LOADING_SUMS:
		return "a roll-up was interrupted: create the cube again";
	}
	return NULL;
}

int sp__cube_check_finished(const struct sp_cube *c, const char *op, struct sp_errinfo *err)
{
	const char *why = unfinished(&c->superblock);

	return why ? sp__errf(err, SP_ESTATE, op, c->path, -1, "%s", why) : 0;
}

int sp__cube_check_elements(const struct sp_cube *c, const char *op, struct sp_errinfo *err)
{
	if (c->superblock.no_data)
		return sp__errf(err, SP_EUNSUP, op, c->path, -1,
				"the cube was made without data: only --discard is possible");
	return c->opts.unfinished ? 0 : sp__cube_check_finished(c, op, err);
}

/* What of the basic cubes is worth telling. */
static void copy_basic(const struct sp__mapping *m, uint64_t *basic)
{
	for (unsigned i = 0; i < m->grid.n; i++)
		basic[i] = m->kind == SP_CUBE_MULTIMAP || m->basic.ncubes > 1 ? m->basic.k[i] : 0;
}

/* What the cells of a grid are. */
static void grid_info(const struct sp_cube *c, struct sp_cube_info *info)
{
	const struct sp__cube_superblock *h = &c->superblock;
	const struct sp__mapping *m = &h->fragments.list[0]->mapping;

	info->all_cells = 1;
	info->first_block = sp__fragments_begin(&h->fragments);
	sp__cube_superblock_cells(h, info->cells);
	copy_basic(m, info->basic);
	for (unsigned i = 0; i < h->shape.ndims; i++)
		info->all_cells *= info->cells[i];
	info->waste_bytes = (info->end_block - info->first_block) * info->volumes * h->block_bytes -
			    info->all_cells * c->cell_bytes;
}

void sp_cube_info(const struct sp_cube *c, struct sp_cube_info *info)
{
	const struct sp__cube_superblock *h = &c->superblock;
	const struct sp__mapping *m = &h->mapping;
	bool multimap = m->kind == SP_CUBE_MULTIMAP;

	*info = (struct sp_cube_info){
		.shape = h->shape,
		.mapping = m->kind,
		.block_bytes = h->block_bytes,
		.cell_blocks = h->cell_blocks,
		.reach = multimap ? m->multimap.reach : 0,
		.fragments = h->fragments.n,
		.zones = multimap ? h->mapping.multimap.nzones : 0,
		.volumes = sp__fragments_volumes(&h->fragments),
		.decluster = m->basic.method,
		.volume_blocks = m->basic.volume_blocks,
		.end_block = sp__cube_superblock_end(h),
		.loaded = h->loaded,
		.complete = h->complete,
		.unfinished = unfinished(h),
		.alone = h->alone,
		.no_data = h->no_data,
		.volume = c->drive,
		.device = h->device,
		.fill = h->fill,
		.attributes = h->attributes,
		.nattributes = h->nattributes,
	};
	memcpy(info->order, m->order, sizeof(info->order));
	if (h->points)
		sp__points_info(c, info);
	else
		grid_info(c, info);
}

int sp_cube_fragment(const struct sp_cube *c, size_t i, struct sp_cube_fragment *part)
{
	const struct sp__fragment *p = c->superblock.fragments.list[i];
	const struct sp_cube_shape *s = &c->superblock.shape;

	*part = (struct sp_cube_fragment){ .first_block = sp__mapping_begin(&p->mapping),
					   .end_block = sp__fragment_end(p) };
	copy_basic(&p->mapping, part->basic);
	for (unsigned d = 0; d < s->ndims; d++) {
		uint64_t lo = d == p->dim ? p->first : 0;

		if (!p->size[d])
			return -ENOENT;
		part->lo[d] = lo * s->tile[d];
		part->hi[d] = sp__min((lo + p->size[d]) * s->tile[d], s->dims[d]) - 1;
	}
	return 0;
}

static int check_element(const struct sp_cube *c, const uint64_t *x)
{
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++)
		if (x[i] >= c->superblock.shape.dims[i])
			return -ERANGE;
	return 0;
}

int sp_cube_block(const struct sp_cube *c, const uint64_t *x, uint64_t *block)
{
	uint64_t cell[SP_CUBE_DIMS_MAX];
	int rc = check_element(c, x);

	if (!rc && c->superblock.points) {
		struct sp__home home = sp__pointset_home(&c->set, sp__zkey_of(&c->set.space, x), x);

		*block = home.block;
		return home.outside && !c->superblock.pointset.outside ? -ENOENT : 0;
	}
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++)
		cell[i] = x[i] / c->superblock.shape.tile[i];
	if (!rc)
		*block = sp__fragments_block(&c->superblock.fragments, cell);
	return rc;
}

int sp_cube_element(const struct sp_cube *c, uint64_t block, uint64_t *x)
{
	struct sp_cube_box node;

	if (c->superblock.points) {
		if (sp_cube_node(c, block, &node))
			return -ENOENT;
		memcpy(x, node.lo, c->superblock.shape.ndims * sizeof(*x));
		return 0;
	}
	if (!sp__fragments_cell(&c->superblock.fragments, block, x))
		return -ENOENT;
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++)
		x[i] *= c->superblock.shape.tile[i];
	return 0;
}

uint64_t sp__cube_fragment_bytes(const struct sp_cube *c)
{
	return sp__max(c->env.budget.limit_bytes / 2, c->cell_bytes);
}

int sp__cube_check_box(const struct sp_cube *c, const struct sp_cube_box *b, struct sp_errinfo *err)
{
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++) {
		if (b->hi[i] >= c->superblock.shape.dims[i])
			return sp__errf(err, -ERANGE, "read", c->path, -1,
					"coordinate %llu of dimension %u is not below %llu",
					(unsigned long long)b->hi[i], i,
					(unsigned long long)c->superblock.shape.dims[i]);
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

bool sp__cube_same_file(const struct stat *a, const struct stat *b)
{
	return S_ISBLK(a->st_mode) ? S_ISBLK(b->st_mode) && a->st_rdev == b->st_rdev
				   : a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int sp__cube_check_input(const struct sp_cube *c, int fd, const char *name, struct sp_errinfo *err)
{
	struct stat own, input;

	for (unsigned i = 0; i < sp__fragments_volumes(&c->superblock.fragments); i++) {
		if (fstat(c->volumes[i]->fd, &own) || fstat(fd, &input))
			return sp__err(err, -errno, "stat", name, -1);
		if (S_ISDIR(input.st_mode))
			return sp__err(err, -EISDIR, "read", name, -1);
		if (sp__cube_same_file(&own, &input))
			return sp__errf(err, SP_EUNSUP, "load", name, -1,
					"the input is the cube itself");
	}
	return 0;
}

void sp__cube_hollow(struct sp_cube *c, bool hollow)
{
	for (unsigned i = 0; i < sp__fragments_volumes(&c->superblock.fragments); i++)
		c->volumes[i]->hollow = hollow;
}

int sp__cube_begin_change(struct sp_cube *c, struct sp_errinfo *err)
{
	struct sp__cube_superblock *h = &c->superblock;
	unsigned n = sp__fragments_volumes(&h->fragments);
	int rc = 0;

	if (!h->log_bytes || h->no_data || n == 1)
		return 0;
	if (!h->marking) {
		h->marking = true;
		h->generation++;
		rc = sp__cube_superblock_write(h, c->fd, c->path, err);
	}
	for (unsigned i = 1; !rc && i < n; i++)
		rc = sp__cube_volume_mark(h, i, c->volumes[i]->fd, c->volumes[i]->name, err);
	return rc;
}

int sp__cube_sync(const struct sp_cube *c, struct sp_errinfo *err)
{
	for (unsigned i = 0; i < sp__fragments_volumes(&c->superblock.fragments); i++)
		if (fdatasync(c->volumes[i]->fd))
			return sp__err(err, -errno, "write", c->volumes[i]->name, -1);
	return 0;
}
