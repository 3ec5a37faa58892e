/* SPDX-License-Identifier: MIT */
/*
 * Makes right what has a copy that is right: a put in the log, and a superblock in the other one.
 */
#include <errno.h>
#include "base/err.h"
#include "cube/cube_impl.h"
#include "cube/file/putlog.h"

int sp_cube_repair(struct sp_cube *c, struct sp_cube_repair *done, struct sp_errinfo *err)
{
	int rc;

	*done = (struct sp_cube_repair){ 0 };
	if (!c->opts.write)
		return sp__err(err, -EBADF, "repair", c->path, -1);
	rc = sp__putlog_read(c, err);
	if (rc)
		return rc;
	done->put = c->pending.extent != NULL;
	done->superblock = c->superblock.alone;
	rc = sp__put_settle(c, err);
	/* The next state of the head goes to the other place. */
	if (!rc && c->superblock.alone)
		rc = sp__cube_superblock_write(&c->superblock, c->fd, c->path, err);
	if (!rc)
		c->superblock.alone = false;
	return rc;
}
