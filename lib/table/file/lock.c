/* SPDX-License-Identifier: MIT */
/*
 * Locks the files of a table.  Between two commands of a reader a writer can come and go, so each
 * command checks that the superblock is the one that was opened.
 */
#include "base/err.h"
#include "datafile/lock.h"
#include "table/file/lock.h"

int sp__tablefile_lock(const struct sp__tablefile *f, int fd, const char *name,
		       struct sp_errinfo *err)
{
	enum sp__lock kind = f->write ? SP__LOCK_EXCLUSIVE : SP__LOCK_SHARED;

	if (sp__file_lock(fd, kind) == SP_ESTATE)
		return sp__errf(err, SP_ESTATE, "open", name, -1,
				f->write ? "another program is using it"
					 : "another program is changing it");
	return sp__file_named(fd, name) ? 0
					: sp__errf(err, SP_ESTATE, "open", name, -1,
						   "another program has replaced it");
}

void sp__tablefile_unlock(const struct sp__tablefile *f)
{
	if (f->fd >= 0)
		sp__file_unlock(f->fd);
	for (unsigned i = 0; i < f->nfurther; i++)
		if (f->further[i].fd >= 0)
			sp__file_unlock(f->further[i].fd);
}

/* Locks all files that are open. */
static int lock(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc = sp__tablefile_lock(f, f->fd, f->path, err);

	for (unsigned i = 0; !rc && i < f->nfurther; i++)
		rc = sp__tablefile_lock(f, f->further[i].fd, f->further[i].name, err);
	return rc;
}

int sp__tablefile_begin_reading(const struct sp__tablefile *f, struct sp_errinfo *err)
{
	int rc;

	if (f->write)
		return 0;
	rc = lock(f, err);
	if (!rc && !sp__superblocks_current(&f->superblock.slots, f->fd))
		rc = sp__errf(err, SP_ESTATE, "open", f->path, -1,
			      "it has changed since it was opened");
	if (rc)
		sp__tablefile_unlock(f);
	return rc;
}

void sp__tablefile_end_reading(const struct sp__tablefile *f)
{
	if (!f->write)
		sp__tablefile_unlock(f);
}
