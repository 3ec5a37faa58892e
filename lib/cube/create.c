/* SPDX-License-Identifier: MIT */
/*
 * A new cube as planned: room for table and cells, then the head.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/choose.h"
#include "cube/extents.h"
#include "cube/plan.h"
#include "io/volume.h"

struct target {
	int fd;
	bool there, device;
};

static int refuse(const struct sp__cube_plan *p, int code, const char *text)
{
	return sp__errf(p->err, code, "create", p->path, -1, "%s", text);
}

/* Changes nothing: a file that was there is emptied when the cube is known to fit. */
static int open_file(const struct sp__cube_plan *p, struct target *t)
{
	struct stat st;

	t->there = stat(p->path, &st) == 0;
	t->device = t->there && S_ISBLK(st.st_mode);
	if (t->there && !t->device && !S_ISREG(st.st_mode))
		return refuse(p, SP_EUNSUP, "is neither a plain file nor a block device");
	if (t->there && !p->opts->run.overwrite)
		return t->device ? refuse(p, -EPERM,
					  "all that is on the device may be lost: say --overwrite")
				 : sp__err(p->err, -EEXIST, "create", p->path, -1);
	t->fd = open(p->path,
		     O_RDWR | O_CLOEXEC |
			     (t->device	 ? O_EXCL
			      : t->there ? 0
					 : O_CREAT | O_EXCL),
		     0666);
	return t->fd < 0 ? sp__volume_open_err(p->err, -errno, p->path) : 0;
}

static int check_room(const struct sp__cube_plan *p, const struct target *t, uint64_t need)
{
	off_t size = t->device ? lseek(t->fd, 0, SEEK_END) : 0;
	uint64_t most = p->device_bytes;

	if (t->device && (uint64_t)size < need)
		most = (uint64_t)size;
	return most && most < need ? sp__errf(p->err, -ENOSPC, "create", p->path, -1,
					      "the cube needs %llu bytes, the volume has %llu",
					      (unsigned long long)need, (unsigned long long)most)
				   : 0;
}

/* Room for table and cells; the table of a device is zeroed. */
static int make_room(const struct sp__cube_plan *p, const struct target *t, uint64_t need)
{
	const struct sp__cube_head *h = &p->head;
	uint64_t table_end = h->table_block * h->block_bytes + sp__extents_table_bytes(h);

	if (t->device)
		return sp__extents_clear(t->fd, 0, table_end, p->path, p->err);
	return ftruncate(t->fd, 0) ||
			       ftruncate(t->fd, h->no_data ? 2 * (off_t)h->room_bytes : (off_t)need)
		       ? sp__err(p->err, -errno, "truncate", p->path, -1)
		       : 0;
}

static int write_file(struct sp__cube_plan *p)
{
	uint64_t need = sp__mapping_end(&p->head.mapping) * p->head.block_bytes;
	struct target t = { .fd = -1 };
	bool begun = false;
	int rc = open_file(p, &t);

	if (rc)
		return rc;
	rc = check_room(p, &t, need);
	begun = !rc;
	if (!rc)
		rc = make_room(p, &t, need);
	for (int i = 0; !rc && i < 2; i++) /* both places */
		rc = sp__cube_head_write(&p->head, t.fd, p->path, p->err);
	if (close(t.fd) && !rc)
		rc = sp__err(p->err, -errno, "close", p->path, -1);
	/* Nothing stays that looks like a cube. */
	if (rc && !t.there)
		unlink(p->path);
	else if (rc && begun && !t.device)
		(void)!truncate(p->path, 0);
	return rc;
}

int sp_cube_create(const char *path, const struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	struct sp_cube_create_opts chosen = *opts;
	struct sp__cube_plan p = { 0 };
	int rc = 0;

	if (opts->mapping == SP_CUBE_AUTO && opts->workload)
		rc = sp__cube_choose(&chosen, err);
	if (rc)
		return rc;
	rc = sp__cube_plan(&p, &chosen, path, err);
	if (!rc)
		rc = write_file(&p);
	sp__cube_plan_free(&p);
	return rc;
}
