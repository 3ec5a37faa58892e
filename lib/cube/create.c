/* SPDX-License-Identifier: MIT */
/*
 * A new cube as planned: room for table and cells on all volumes, then the head.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/choose/choose.h"
#include "cube/file/extents.h"
#include "cube/choose/plan.h"
#include "cube/file/volumes.h"
#include "datafile/lock.h"
#include "io/volume.h"

/* A volume. */
struct target {
	char *name;
	int fd; /* negative: not opened, or nothing is to be undone */
	bool there, device, lengthened;
	struct stat st;
};

struct creation {
	struct sp__cube_plan *plan;
	unsigned n; /* targets: volumes that get a file */
	struct target targets[SP_CUBE_VOLUMES_MAX];
};

static int refuse(const struct creation *c, const struct target *t, int code, const char *text)
{
	return sp__errf(c->plan->err, code, "create", t->name, -1, "%s", text);
}

/* Changes nothing: a file that was there is emptied when the cube is known to fit. */
static int open_target(const struct creation *c, struct target *t)
{
	bool overwrite = c->plan->opts->run.overwrite;

	t->there = stat(t->name, &t->st) == 0;
	t->device = t->there && S_ISBLK(t->st.st_mode);
	if (t->device && c->plan->superblock.points)
		return refuse(c, t, SP_EUNSUP,
			      "points are loaded into a new file: a block device holds none");
	if (t->there && !t->device && !S_ISREG(t->st.st_mode))
		return refuse(c, t, SP_EUNSUP, "is neither a plain file nor a block device");
	if (t->there && !overwrite)
		return t->device ? refuse(c, t, -EPERM,
					  "all that is on the device may be lost: say --overwrite")
				 : sp__err(c->plan->err, -EEXIST, "create", t->name, -1);
	for (const struct target *other = c->targets; t->there && other < t; other++)
		if (sp__file_same(&other->st, &t->st))
			return refuse(c, t, SP_ESYNTAX, "is another volume of the cube, too");
	t->fd = open(t->name,
		     O_RDWR | O_CLOEXEC |
			     (t->device	 ? O_EXCL
			      : t->there ? 0
					 : O_CREAT | O_EXCL),
		     0666);
	if (t->fd < 0 || fstat(t->fd, &t->st))
		return sp__volume_open_err(c->plan->err, -errno, t->name);
	if (t->there && sp__file_lock(t->fd, SP__LOCK_EXCLUSIVE) == SP_ESTATE)
		return refuse(c, t, SP_ESTATE, "another program is using it");
	return 0;
}

static int set_length(const struct creation *c, const struct target *t, uint64_t bytes)
{
	return ftruncate(t->fd, (off_t)bytes)
		       ? sp__errf(c->plan->err, -errno, "truncate", t->name, -1,
				  "the cube needs %llu bytes: %s", (unsigned long long)bytes,
				  sp_strerror(-errno))
		       : 0;
}

static uint64_t file_bytes(const struct sp__cube_superblock *h, uint64_t need)
{
	return h->no_data ? 2 * (uint64_t)h->slots.slot_bytes : need;
}

/* A file that is too short is lengthened, as only that shows whether it may be so long. */
static int check_room(const struct creation *c, struct target *t, uint64_t need)
{
	uint64_t bytes = file_bytes(&c->plan->superblock, need);
	off_t size = t->device ? lseek(t->fd, 0, SEEK_END) : 0;
	uint64_t most = c->plan->device_bytes;

	if (t->device && (uint64_t)size < need)
		most = (uint64_t)size;
	if (most && most < need)
		return sp__errf(c->plan->err, -ENOSPC, "create", t->name, -1,
				"the cube needs %llu bytes, the volume has %llu",
				(unsigned long long)need, (unsigned long long)most);
	t->lengthened = !t->device && (uint64_t)t->st.st_size < bytes;
	return t->lengthened ? set_length(c, t, bytes) : 0;
}

/* Room for table and cells; the table of a device is zeroed. */
static int make_room(const struct creation *c, const struct target *t, uint64_t need)
{
	const struct sp__cube_superblock *h = &c->plan->superblock;

	if (t->device)
		return sp__extents_clear(
			t->fd, 0, sp__extents_table_end(h, h->fragments.list[0]) * h->block_bytes,
			t->name, c->plan->err);
	return ftruncate(t->fd, 0) ? sp__err(c->plan->err, -errno, "truncate", t->name, -1)
				   : set_length(c, t, file_bytes(h, need));
}

static int name_targets(struct creation *c, const char *path)
{
	const struct sp__cube_superblock *h = &c->plan->superblock;

	for (; c->n < (h->no_data ? 1 : h->mapping.basic.volumes); c->n++) {
		struct target *t = &c->targets[c->n];

		t->fd = -1;
		t->name = c->n ? sp__cube_volume_name(h, path, c->n) : strdup(path);
		if (!t->name)
			return sp__err(c->plan->err, -ENOMEM, "create", path, -1);
	}
	return 0;
}

/* Nothing stays that looks like a cube; of files that were there nothing, once one is changed. */
static void undo(const struct creation *c, bool changed)
{
	for (const struct target *t = c->targets; t < c->targets + c->n && t->fd >= 0; t++) {
		if (!t->there)
			unlink(t->name);
		else if ((changed && !t->device) || t->lengthened)
			(void)!truncate(t->name, changed ? 0 : t->st.st_size);
	}
}

/* The head comes last, and a head that was there goes first. */
static int write_targets(struct creation *c)
{
	struct sp__cube_plan *p = c->plan;
	uint64_t end = p->superblock.points ? sp__cube_superblock_end(&p->superblock)
					    : sp__mapping_end(&p->superblock.mapping),
		 need = end * p->superblock.block_bytes;
	bool changed;
	int rc = 0;

	for (unsigned i = 0; !rc && i < c->n; i++) {
		rc = open_target(c, &c->targets[i]);
		if (!rc)
			rc = check_room(c, &c->targets[i], need);
	}
	changed = !rc;
	for (unsigned i = 0; !rc && i < c->n; i++) {
		struct target *t = &c->targets[i];

		rc = make_room(c, t, need);
		if (!rc && i)
			rc = sp__cube_volume_mark(&p->superblock, i, t->fd, t->name, p->err);
	}
	for (int i = 0; !rc && i < 2; i++) /* both places */
		rc = sp__cube_superblock_write(&p->superblock, c->targets[0].fd, p->path, p->err);
	for (unsigned i = 0; i < c->n; i++)
		if (c->targets[i].fd >= 0 && close(c->targets[i].fd) && !rc)
			rc = sp__err(p->err, -errno, "close", c->targets[i].name, -1);
	if (rc)
		undo(c, changed);
	return rc;
}

static int write_files(struct sp__cube_plan *p)
{
	struct creation c = { .plan = p };
	int rc = name_targets(&c, p->path);

	if (!rc && p->superblock.mapping.basic.volumes > 1 &&
	    getrandom(&p->superblock.id, sizeof(p->superblock.id), 0) !=
		    (ssize_t)sizeof(p->superblock.id))
		rc = sp__err(p->err, -errno, "getrandom", p->path, -1);
	if (!rc)
		rc = write_targets(&c);
	for (unsigned i = 0; i < c.n; i++)
		free(c.targets[i].name);
	return rc;
}

int sp_cube_create(const char *path, const struct sp_cube_create_opts *opts, struct sp_errinfo *err)
{
	struct sp_cube_create_opts chosen = *opts;
	struct sp__cube_plan p = { 0 };
	int rc = sp__cube_choose_open(&chosen, err);

	if (rc)
		return rc;
	rc = sp__cube_plan(&p, &chosen, path, err);
	if (!rc)
		rc = write_files(&p);
	sp__cube_plan_free(&p);
	return rc;
}
