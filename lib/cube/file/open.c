/* SPDX-License-Identifier: MIT */
/*
 * Opens the file and the volumes of a cube, and its run environment.
 *
 * On a simulated volume the file occupies the device from its first block on.  Requests take the
 * time of the device, and move the bytes of the file.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "cube/file/file.h"
#include "cube/file/putlog.h"
#include "cube/file/volumes.h"
#include "io/volume.h"
#include "run/volume_spec.h"
#include "sim/machine.h"

/* Each write of the progress waits for the device. */
#define PROGRESS_BYTES (UINT64_C(256) << 20)

static int refuse(const struct sp__cubefile *c, int code, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, code, "open", c->path, -1, "%s", text);
}

static int check_direct(const struct sp__cubefile *c, const struct sp__volume *v,
			struct sp_errinfo *err)
{
	if (v->regular ? c->cell_bytes % v->align_bytes ||
				 c->superblock.mapping.kind == SP_CUBE_MULTIMAP
		       : c->superblock.block_bytes % v->block_bytes)
		return refuse(c, SP_EUNSUP, err, "its cells are not aligned for direct I/O");
	return 0;
}

/* Opens the file, and reads the superblock.  Other kinds of files could block forever. */
static int open_superblock(struct sp__cubefile *c, int flags, struct sp_errinfo *err)
{
	struct stat st;
	int rc = sp__cube_open_locked(c, flags | O_NONBLOCK, err);

	if (!rc && fstat(c->fd, &st))
		rc = -errno;
	if (rc)
		return rc == SP_ESTATE ? rc : sp__volume_open_err(err, rc, c->path);
	if (!S_ISREG(st.st_mode) && !S_ISBLK(st.st_mode))
		return refuse(c, SP_EUNSUP, err, "is neither a plain file nor a block device");
	rc = sp__cube_superblock_read(&c->superblock, c->fd, c->path, err);
	if (!rc && c->opts.verify && c->superblock.slots.alone)
		rc = refuse(c, SP_ECORRUPT, err,
			    "one of the two superblocks is not valid: the last change may be "
			    "missing");
	return rc;
}

/* Checks that the file does not end before the last cell. */
static int check_size(const struct sp__cubefile *c, const struct sp__volume *v,
		      struct sp_errinfo *err)
{
	uint64_t need = sp__cube_superblock_end(&c->superblock) * c->superblock.block_bytes;

	if (c->superblock.no_data || c->fd < 0 || v->size_bytes >= need)
		return 0;
	return sp__errf(err, SP_ECORRUPT, "open", v->name, -1,
			"it was truncated: it has %llu bytes, not %llu",
			(unsigned long long)v->size_bytes, (unsigned long long)need);
}

/* Makes a volume for cells, which owns fd. */
static int adopt(struct sp__cubefile *c, unsigned i, int fd, const char *name,
		 struct sp_errinfo *err)
{
	int rc;

	if (fd < 0)
		return sp__volume_open_err(err, -errno, name);
	rc = sp__volume_adopt(&c->volumes[i], fd, true, name, err);
	if (!rc)
		rc = check_size(c, c->volumes[i], err);
	return rc || !c->volumes[i]->direct ? rc : check_direct(c, c->volumes[i], err);
}

/* Places the volumes on the device; each of several is a drive of the array. */
static int simulate(struct sp__cubefile *c, struct sp_errinfo *err)
{
	const struct sp__volume *device = c->env.device;
	unsigned n = c->superblock.mapping.basic.volumes;
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

/* Opens a further volume.  If the cube has no data, the first file stands for all volumes. */
static int open_volume(struct sp__cubefile *c, unsigned i, int flags, struct sp_errinfo *err)
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

/* Opens the volumes for cells.  fd: of the first one, owned; flags: for the others. */
static int open_cells(struct sp__cubefile *c, int fd, int flags, struct sp_errinfo *err)
{
	int rc = adopt(c, 0, fd, c->path, err);

	if (!rc && c->fd >= 0)
		rc = sp__cube_check_same(c, c->volumes[0]->fd, err);
	if (!rc && c->superblock.no_data && !c->env.device)
		rc = refuse(c, SP_EUNSUP, err, "a cube without data needs --volume=sim:MODEL");
	for (unsigned i = 1; !rc && i < c->superblock.mapping.basic.volumes; i++)
		rc = open_volume(c, i, flags, err);
	return rc || !c->env.device ? rc : simulate(c, err);
}

static int open_env(struct sp__cubefile *c, struct sp_errinfo *err)
{
	unsigned volumes = c->superblock.mapping.basic.volumes;
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
	c->env.err = err; /* each call sets it from now on */
	return rc;
}

static int prepare(struct sp__cubefile *c, const char *path, const struct sp_cube_opts *opts,
		   struct sp_errinfo *err)
{
	*c = (struct sp__cubefile){ .opts = *opts, .fd = -1, .progress_bytes = PROGRESS_BYTES };
	c->path = strdup(path);
	return c->path ? 0 : sp__err(err, -ENOMEM, "open", path, -1);
}

int sp__cubefile_open(struct sp__cubefile *c, const char *path, const struct sp_cube_opts *opts,
		      struct sp_errinfo *err)
{
	int flags = (opts->write ? O_RDWR : O_RDONLY) | O_CLOEXEC;
	int rc = prepare(c, path, opts, err);

	if (!rc)
		rc = open_superblock(c, flags, err);
	if (!rc)
		rc = open_env(c, err);
	flags |= opts->run.direct > 0 ? O_DIRECT : 0;
	return rc ? rc : open_cells(c, open(path, flags), flags, err);
}

int sp__cubefile_open_planned(struct sp__cubefile *c, struct sp__cube_superblock *planned,
			      const struct sp_cube_opts *opts, struct sp_errinfo *err)
{
	int rc = prepare(c, "a planned cube", opts, err);

	if (rc)
		return rc;
	c->superblock = *planned;
	*planned = (struct sp__cube_superblock){ 0 };
	rc = sp__cube_superblock_settle(&c->superblock);
	if (!rc)
		rc = open_env(c, err);
	return rc ? rc : open_cells(c, memfd_create("cube", MFD_CLOEXEC), 0, err);
}

int sp__cubefile_close(struct sp__cubefile *c)
{
	int rc = 0;

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
	return rc;
}
