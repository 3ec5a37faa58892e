/* SPDX-License-Identifier: MIT */
/*
 * Who uses a cube at a time: one program that changes it, or any number of them that read it.
 *
 * Who changes a cube has an exclusive lock of the file with the head for as long as it is open.
 * Who reads it has a shared one during each read, and looks first whether the head is still the
 * one that was read on opening: it says where cells are.  What is in the head alone needs no
 * lock, since heads are replaced whole.
 *
 * Where there are no locks, those who use a cube must agree otherwise.
 *
 * Rejected: reading without a lock, and comparing the heads once more after it.  Cells and
 * checksums change without the head, and an element can be wider than what is written at once.
 */
#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include "base/err.h"
#include "cube/file/putlog.h"

static int refuse(const struct sp__cubefile *c, struct sp_errinfo *err, const char *text)
{
	return sp__errf(err, SP_ESTATE, "open", c->path, -1, "%s", text);
}

static bool lock(const struct sp__cubefile *c, int how)
{
	return !flock(c->fd, how | LOCK_NB) || errno != EWOULDBLOCK;
}

int sp__cube_lock(struct sp__cubefile *c, struct sp_errinfo *err)
{
	struct stat own, st;

	if (!lock(c, LOCK_EX))
		return refuse(c, err, "another program is using it");
	/* Between opening and locking another one may have given the name to a new file. */
	if (fstat(c->fd, &own) || stat(c->path, &st) || !sp__cube_same_file(&own, &st))
		return refuse(c, err, "another program is using it");
	return 0;
}

int sp__cube_check_same(const struct sp__cubefile *c, int fd, struct sp_errinfo *err)
{
	struct stat own, st;

	if (fstat(c->fd, &own) || fstat(fd, &st))
		return sp__err(err, -errno, "stat", c->path, -1);
	return sp__cube_same_file(&own, &st) ? 0 : refuse(c, err, "another program is changing it");
}

int sp__cube_begin_reading(struct sp__cubefile *c, struct sp_errinfo *err)
{
	int rc;

	if (c->opts.write || c->fd < 0)
		return 0;
	if (!lock(c, LOCK_SH))
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
		(void)flock(c->fd, LOCK_UN);
}
