/* SPDX-License-Identifier: MIT */
/*
 * Opens the file and the volumes of a cube, and its run environment.
 *
 * On a simulated volume the file occupies the device from its first block on.  Requests take the
 * time of the device, and move the bytes of the file.
 */
#include <fcntl.h>
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

static int open_superblock(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc = sp__cellfile_open(&c->cells, 0, err);

	if (rc == -ENOENT)
		return sp__volume_open_err(err, rc, c->path);
	if (!rc)
		rc = sp__cube_superblock_read(&c->superblock, c->cells.first.fd, c->path, err);
	if (!rc && c->opts.verify && c->superblock.slots.alone)
		rc = refuse(c, SP_ECORRUPT, err,
			    "one of the two superblocks is not valid: the last change may be "
			    "missing");
	return rc;
}

/* Opens a file once more, for direct requests. */
static int open_direct(const struct sp__cubefile *c, const struct sp__cellvolume *v,
		       struct sp_errinfo *err)
{
	int fd = open(v->name, (c->cells.write ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_DIRECT), rc;
	struct stat st;

	if (fd < 0)
		return sp__volume_open_err(err, -errno, v->name);
	if (!fstat(fd, &st) && sp__cellfile_has(&c->cells, &st))
		return fd;
	rc = sp__cellfile_replaced(v, err);
	close(fd);
	return rc;
}

/* Makes a volume for the cells of one that is open. */
static int adopt(struct sp__cubefile *c, unsigned i, struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &c->superblock;
	struct sp__cellvolume *v = &c->cells.volumes[i];
	const bool direct = c->opts.run.direct > 0;
	int fd = direct ? open_direct(c, v, err) : v->fd;
	int rc = fd < 0 ? fd : sp__volume_adopt(&v->volume, fd, direct, v->name, err);

	if (!rc && !h->no_data)
		rc = sp__cellvolume_check_length(v, sp__cube_superblock_end(h) * h->block_bytes,
						 err);
	return rc || !direct ? rc : check_direct(c, v->volume, err);
}

/* Places the volumes on the device; each of several is a drive of the array. */
static int simulate(struct sp__cubefile *c, struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &c->superblock;
	const struct sp__volume *device = c->env.device;
	uint64_t bytes = c->cells.n == 1
				 ? sp__cube_superblock_end(h) * h->block_bytes
				 : device->size_bytes - device->size_bytes % device->align_bytes;
	int rc = sp__volume_simulate(c->cells.first.volume, device, SP__SIM_INPUT, bytes, err);

	if (!rc)
		sp__cellfile_place(&c->cells, device, device->size_bytes / c->cells.n);
	return rc;
}

/* Opens a further volume.  If the cube has no data, the first file stands for all volumes. */
static int open_volume(struct sp__cubefile *c, unsigned i, struct sp_errinfo *err)
{
	struct sp__cellvolume *v = &c->cells.volumes[i];
	int rc;

	if (c->superblock.no_data)
		return sp__volume_adopt(&v->volume, c->cells.first.volume->fd, false, c->path, err);
	rc = sp__cellfile_open(&c->cells, i, err);
	if (rc == -ENOENT)
		return sp__volume_open_err(err, rc, v->name);
	if (!rc)
		rc = sp__cube_volume_check(&c->superblock, i, v->fd, v->name, c->path, err);
	return rc ? rc : adopt(c, i, err);
}

/* Opens the volumes for cells, of which the first one is open. */
static int open_cells(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc = sp__cube_volumes_list(c, err);

	if (!rc && c->superblock.no_data && !c->env.device)
		rc = refuse(c, SP_EUNSUP, err, "a cube without data needs --volume=sim:MODEL");
	for (unsigned i = 1; !rc && i < c->cells.n; i++)
		rc = open_volume(c, i, err);
	return rc || !c->env.device ? rc : simulate(c, err);
}

static int open_env(struct sp__cubefile *c, struct sp_errinfo *err)
{
	const unsigned volumes = c->superblock.mapping.basic.volumes;
	struct sp_run_opts *run = &c->opts.run;
	struct sp__machine_spec spec;
	int rc = sp__cellfile_set_volume(&c->cells, run, c->superblock.volume, err);

	c->cell_bytes = (uint64_t)c->superblock.cell_blocks * c->superblock.block_bytes;
	if (!rc && run->volume && volumes > 1)
		rc = sp__volume_spec_drives(&spec, sp__volume_spec_machine_spec(run), volumes,
					    c->path, err);
	return rc ? rc : sp__cellfile_open_env(&c->cells, &c->env, run, NULL, volumes, err);
}

static int prepare(struct sp__cubefile *c, const char *path, const struct sp_cube_opts *opts,
		   struct sp_errinfo *err)
{
	const struct sp__progress_phase progress =
		SP__PROGRESS_PHASE_INIT(opts->progress, opts->progress_arg);
	int rc;

	*c = (struct sp__cubefile){
		.opts = *opts, .progress_bytes = PROGRESS_BYTES, .progress = progress, .counted = -1
	};
	rc = sp__cellfile_begin(&c->cells, "cube", path, &opts->run, opts->write, err);
	c->cells.describe = opts->describe;
	c->path = c->cells.first.name;
	return rc;
}

int sp__cubefile_open(struct sp__cubefile *c, const char *path, const struct sp_cube_opts *opts,
		      struct sp_errinfo *err)
{
	int rc = prepare(c, path, opts, err);

	if (!rc)
		rc = open_superblock(c, err);
	if (!rc)
		rc = open_env(c, err);
	if (!rc)
		rc = adopt(c, 0, err);
	return rc ? rc : open_cells(c, err);
}

int sp__cubefile_open_planned(struct sp__cubefile *c, struct sp__cube_superblock *planned,
			      const struct sp_cube_opts *opts, struct sp_errinfo *err)
{
	int rc = prepare(c, "a planned cube", opts, err), fd;

	if (rc)
		return rc;
	c->superblock = *planned;
	*planned = (struct sp__cube_superblock){ 0 };
	rc = sp__cube_superblock_settle(&c->superblock);
	if (!rc)
		rc = open_env(c, err);
	if (rc)
		return rc;
	fd = memfd_create("cube", MFD_CLOEXEC);
	if (fd < 0)
		return sp__volume_open_err(err, -errno, c->path);
	rc = sp__volume_adopt(&c->cells.first.volume, fd, true, c->path, err);
	return rc ? rc : open_cells(c, err);
}

int sp__cubefile_close(struct sp__cubefile *c)
{
	int rc = 0;

	sp__putlog_forget(c);
	sp__cellfile_close(&c->cells);
	if (c->env.opts) {
		c->env.err = &c->env.own_err;
		rc = sp__env_close(&c->env);
	}
	sp__cube_superblock_free(&c->superblock);
	return rc;
}

int sp__cube_begin_reading(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc;

	if (c->cells.write || c->cells.first.fd < 0)
		return 0;
	rc = sp__cellfile_begin_reading(&c->cells, &c->superblock.slots, err);
	if (rc)
		return rc;
	rc = sp__putlog_read(c, err);
	if (rc)
		sp__cellfile_end_reading(&c->cells);
	return rc;
}

void sp__cube_end_reading(const struct sp__cubefile *c)
{
	sp__cellfile_end_reading(&c->cells);
}
