/* SPDX-License-Identifier: MIT */
/*
 * Locks a cube: at any time it has one writer, or any number of readers.
 *
 * A writer holds an exclusive lock of the file with the superblock while the cube is open.  A
 * reader shares the lock during each read, and first checks whether the superblock, which has the
 * location of cells, is still the one that it read on opening.  Reading the superblock itself needs
 * no lock, since a superblock is replaced as a whole.
 *
 * Assumption: if the file system has no locks, the user prevents concurrent changes.
 */
#include "base/err.h"
#include "cube/file/putlog.h"
#include "datafile/lock.h"

static int refuse(const struct sp__cubefile *c, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, SP_ESTATE, "open", c->path, -1, "%s", text);
}

int sp__cube_lock(struct sp__cubefile *c, struct sp_errinfo *err)
{
	if (sp__file_lock(c->fd, SP__LOCK_EXCLUSIVE) == SP_ESTATE ||
	    !sp__file_named(c->fd, c->path))
		return refuse(c, err, "another program is using it");
	return 0;
}

int sp__cube_check_same(const struct sp__cubefile *c, int fd, struct sp_errinfo *err)
{
	struct stat own, st;

	if (fstat(c->fd, &own) || fstat(fd, &st))
		return sp__err(err, -errno, "stat", c->path, -1);
	return sp__file_same(&own, &st) ? 0 : refuse(c, err, "another program is changing it");
}

int sp__cube_begin_reading(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc;

	if (c->opts.write || c->fd < 0)
		return 0;
	if (sp__file_lock(c->fd, SP__LOCK_SHARED) == SP_ESTATE)
		return refuse(c, err, "another program is changing it");
	rc = sp__superblocks_current(&c->superblock.slots, c->fd)
		     ? sp__putlog_read(c, err)
		     : refuse(c, err, "it has changed since it was opened");
	if (rc)
		sp__cube_end_reading(c);
	return rc;
}

void sp__cube_end_reading(const struct sp__cubefile *c)
{
	if (!c->opts.write && c->fd >= 0)
		sp__file_unlock(c->fd);
}
