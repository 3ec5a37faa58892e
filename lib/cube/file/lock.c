/* SPDX-License-Identifier: MIT */
/*
 * Locks a cube: at any time it has one writer, or any number of readers.
 *
 * A writer holds an exclusive lock of the file with the superblock while the cube is open.  A
 * reader shares the lock while it opens the cube and during each read.  With keep_lock it shares
 * the lock while the cube is open; otherwise a read first checks whether the superblock, which has
 * the location of cells, is still the one that was read on opening.
 *
 * Assumption: if the file system has no locks, the user prevents concurrent changes.
 */
#include <fcntl.h>
#include "base/err.h"
#include "cube/file/putlog.h"
#include "datafile/lock.h"

#define CHANGING "another program is changing it"

static int refuse(const struct sp__cubefile *c, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, SP_ESTATE, "open", c->path, -1, "%s", text);
}

int sp__cube_open_locked(struct sp__cubefile *c, int flags, struct sp_errinfo *err)
{
	const bool write = c->opts.write;
	int rc = sp__file_open_locked(c->path, flags, write ? SP__LOCK_EXCLUSIVE : SP__LOCK_SHARED,
				      c->opts.run.wait_ns);

	c->fd = rc >= 0 ? rc : -1;
	if (rc == SP_ESTATE && c->opts.describe && !write) {
		c->busy = true;
		c->fd = open(c->path, flags);
		return c->fd < 0 ? -errno : 0;
	}
	if (rc == SP_ESTATE)
		return refuse(c, err, write ? "another program is using it" : CHANGING);
	return rc >= 0 ? 0 : rc;
}

int sp__cube_check_same(const struct sp__cubefile *c, int fd, struct sp_errinfo *err)
{
	struct stat own, st;

	if (fstat(c->fd, &own) || fstat(fd, &st))
		return sp__err(err, -errno, "stat", c->path, -1);
	return sp__file_same(&own, &st)
		       ? 0
		       : refuse(c, err, "another program has replaced it: open it again");
}

int sp__cube_begin_reading(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc;

	if (c->opts.write || c->fd < 0)
		return 0;
	if (c->busy)
		return refuse(c, err, CHANGING);
	rc = c->opts.run.keep_lock ? 0 : sp__file_lock(c->fd, SP__LOCK_SHARED, c->opts.run.wait_ns);
	if (rc == SP_ESTATE)
		return refuse(c, err, CHANGING);
	if (rc == -EINTR)
		return sp__err(err, rc, "open", c->path, -1);
	rc = sp__superblocks_current(&c->superblock.slots, c->fd)
		     ? sp__putlog_read(c, err)
		     : refuse(c, err, "it has changed since it was opened: open it again");
	if (rc)
		sp__cube_end_reading(c);
	return rc;
}

void sp__cube_end_reading(const struct sp__cubefile *c)
{
	if (!c->opts.write && !c->opts.run.keep_lock && c->fd >= 0)
		sp__file_unlock(c->fd);
}
