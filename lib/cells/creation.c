/* SPDX-License-Identifier: MIT */
/*
 * Creates several files, and undoes that after an error.
 *
 * States of an existing file: untouched while files are added, except that a short one is
 * lengthened, since only that shows whether quota and limits allow its size; then empty.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "cells/creation.h"
#include "cells/lock.h"
#include "io/volume.h"

#define READER_NS UINT64_C(1000000000) /* for a reader of a new file to find it empty */

static int refuse(const struct sp__creation *c, const struct sp__newfile *f, int code,
		  const char *reason)
{
	return sp__errf(c->err, code, "create", f->name, -1, "%s", reason);
}

/* Checks what is known before the file is opened. */
static int permit(const struct sp__creation *c, const struct sp__newfile *f)
{
	if (f->device && c->no_device)
		return refuse(c, f, SP_EUNSUP, c->no_device);
	if (f->existed && !f->device && !S_ISREG(f->st.st_mode))
		return refuse(c, f, SP_EUNSUP, "is neither a plain file nor a block device");
	if (f->existed && !c->overwrite)
		return f->device ? refuse(c, f, -EPERM,
					  "all data on the device may be lost: --overwrite allows "
					  "that")
				 : sp__err(c->err, -EEXIST, "create", f->name, -1);
	for (const struct sp__newfile *other = c->files; f->existed && other < f; other++)
		if (sp__file_same(&other->st, &f->st))
			return sp__errf(c->err, SP_ESYNTAX, "create", f->name, -1,
					"is named for another volume of %s, too", c->noun);
	return 0;
}

static int set_length(const struct sp__creation *c, const struct sp__newfile *f)
{
	return ftruncate(f->fd, (off_t)c->file_bytes)
		       ? sp__errf(c->err, -errno, "truncate", f->name, -1,
				  "%s needs %llu bytes: %s", c->noun,
				  (unsigned long long)c->file_bytes, sp_strerror(-errno))
		       : 0;
}

static int check_capacity(const struct sp__creation *c, struct sp__newfile *f)
{
	uint64_t max = c->max_bytes;
	off_t end = f->device ? lseek(f->fd, 0, SEEK_END) : 0;

	if (f->device && (uint64_t)end < c->need_bytes)
		max = (uint64_t)end;
	if (max && max < c->need_bytes)
		return sp__errf(c->err, -ENOSPC, "create", f->name, -1,
				"%s needs %llu bytes, the volume has %llu: choose a larger one",
				c->noun, (unsigned long long)c->need_bytes,
				(unsigned long long)max);
	f->lengthened = !f->device && (uint64_t)f->st.st_size < c->file_bytes;
	return f->lengthened ? set_length(c, f) : 0;
}

/*
 * Locks a file, so that a reader says that it is being written.  A reader can open a new file
 * before it is locked here, and lock it until it has read that it is empty.
 */
static int lock(const struct sp__creation *c, const struct sp__newfile *f)
{
	uint64_t wait_ns = f->existed ? c->wait_ns : sp__max(c->wait_ns, READER_NS);
	int rc = sp__file_lock(f->fd, SP__LOCK_EXCLUSIVE, wait_ns);

	if (rc == -EINTR)
		return sp__err(c->err, rc, "create", f->name, -1);
	return rc == SP_ESTATE ? refuse(c, f, rc, "another program is using it") : 0;
}

int sp__creation_add(struct sp__creation *c, char *name)
{
	struct sp__newfile *f = &c->files[c->n];
	int kind, rc;

	if (!name)
		return sp__err(c->err, -ENOMEM, "create", NULL, -1);
	*f = (struct sp__newfile){ .name = name };
	c->n++;
	f->existed = stat(name, &f->st) == 0;
	f->device = f->existed && S_ISBLK(f->st.st_mode);
	rc = permit(c, f);
	if (rc)
		return rc;
	kind = f->device ? O_EXCL : f->existed ? 0 : O_CREAT | O_EXCL;
	f->fd = open(name, O_RDWR | O_CLOEXEC | kind, 0666);
	f->opened = f->fd >= 0;
	if (!f->opened || fstat(f->fd, &f->st))
		return sp__volume_open_err(c->err, -errno, name);
	rc = lock(c, f);
	return rc ? rc : check_capacity(c, f);
}

int sp__creation_empty(struct sp__creation *c)
{
	int rc = 0;

	c->emptied = true;
	for (const struct sp__newfile *f = c->files; !rc && f < c->files + c->n; f++) {
		if (f->device)
			rc = sp__write_zeros(f->fd, 0, c->clear_bytes, f->name, c->err);
		else if (ftruncate(f->fd, 0))
			rc = sp__err(c->err, -errno, "truncate", f->name, -1);
		else
			rc = set_length(c, f);
	}
	return rc;
}

static void undo(const struct sp__creation *c, const struct sp__newfile *f)
{
	if (!f->existed)
		unlink(f->name);
	else if ((c->emptied && !f->device) || f->lengthened)
		(void)!truncate(f->name, c->emptied ? 0 : f->st.st_size);
}

int sp__creation_end(struct sp__creation *c, int rc)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->files[i].opened && close(c->files[i].fd) && !rc)
			rc = sp__err(c->err, -errno, "close", c->files[i].name, -1);
	for (unsigned i = 0; i < c->n; i++) {
		if (rc && c->files[i].opened)
			undo(c, &c->files[i]);
		free(c->files[i].name);
	}
	return rc;
}
