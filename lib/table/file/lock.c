/* SPDX-License-Identifier: MIT */
/*
 * Locks the files of a table.  Between two commands of a reader that does not keep its lock, a
 * writer can come and go, so each command checks that the superblock is the one that was opened.
 */
#include <fcntl.h>
#include "base/err.h"
#include "datafile/lock.h"
#include "table/file/lock.h"

static enum sp__lock kind_of(const struct sp__tablefile *f)
{
	return f->write ? SP__LOCK_EXCLUSIVE : SP__LOCK_SHARED;
}

static int refuse(const struct sp__tablefile *f, const char *name, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ESTATE, "open", name, -1,
			f->write ? "another program is using it"
				 : "another program is changing it");
}

int sp__tablefile_open_locked(const struct sp__tablefile *f, const char *name, int *fd,
			      struct sp_errinfo *err)
{
	const int flags = (f->write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC;
	int rc = sp__file_open_locked(name, flags, kind_of(f), f->run.wait_ns);

	*fd = rc >= 0 ? rc : -1;
	return rc >= 0 ? 0 : rc == SP_ESTATE ? refuse(f, name, err) : rc;
}

void sp__tablefile_unlock(const struct sp__tablefile *f)
{
	if (f->fd >= 0)
		sp__file_unlock(f->fd);
	for (unsigned i = 0; i < f->nfurther; i++)
		if (f->further[i].fd >= 0)
			sp__file_unlock(f->further[i].fd);
}

/* Locks a file that is open under this name. */
static int lock_file(const struct sp__tablefile *f, int fd, const char *name,
		     struct sp_errinfo *err)
{
	int rc = sp__file_lock(fd, kind_of(f), f->run.wait_ns);

	if (rc == SP_ESTATE)
		return refuse(f, name, err);
	if (rc == -EINTR)
		return sp__err(err, rc, "open", name, -1);
	return sp__file_named(fd, name)
		       ? 0
		       : sp__errf(err, SP_ESTATE, "open", name, -1,
				  "another program has replaced it: open it again");
}

/* Locks all files that are open. */
static int lock(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = lock_file(f, f->fd, f->path, err);

	for (unsigned i = 0; !rc && i < f->nfurther; i++)
		rc = lock_file(f, f->further[i].fd, f->further[i].name, err);
	return rc;
}

int sp__tablefile_begin_reading(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc;

	if (f->write || f->run.keep_lock)
		return 0;
	rc = lock(f, err);
	if (!rc && !sp__superblocks_current(&f->superblock.slots, f->fd))
		rc = sp__errf(err, SP_ESTATE, "open", f->path, -1,
			      "it has changed since it was opened: open it again");
	if (rc)
		sp__tablefile_unlock(f);
	return rc;
}

void sp__tablefile_end_reading(const struct sp__tablefile *f)
{
	if (!f->write && !f->run.keep_lock)
		sp__tablefile_unlock(f);
}
