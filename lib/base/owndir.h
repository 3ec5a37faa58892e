/* SPDX-License-Identifier: MIT */
/*
 * Opens directories and files that hold the state of unfinished work.
 *
 * A later run trusts this state, and writes into these files.  So only the user may be able to
 * change them, and no link may lead from them to another file.
 *
 * Owner: one thread at a time.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/error.h>

struct sp__owndir {
	const char *path; /* borrowed */
	int fd;		  /* -1: not open */
	bool made;	  /* by this open */
};

/*
 * Opens a directory, or creates it with mode 0700.  Returns 0, -errno, or SP_EUNSUP if it is not
 * safe from other users.  After an error d->fd is -1.
 */
SP_MUST_CHECK int sp__owndir_open(struct sp__owndir *d, const char *path, struct sp_errinfo *err);
void sp__owndir_close(struct sp__owndir *d);

/*
 * Opens a file in the directory, with O_NOFOLLOW and O_CLOEXEC in addition to flags.  Returns the
 * descriptor, -errno, or SP_EUNSUP if it is not a regular file of the user with exactly one name.
 * -ENOENT is not described in err: with O_CREAT in flags, another process has removed the
 * directory.
 */
SP_MUST_CHECK int sp__owndir_file(const struct sp__owndir *d, const char *name, int flags,
				  mode_t mode, struct sp_errinfo *err);
/* True if the directory still has a file of this name, and fd refers to it. */
bool sp__owndir_has(const struct sp__owndir *d, const char *name, int fd);
/* Removes a file, if it exists.  Returns 0 or -errno. */
int sp__owndir_unlink(const struct sp__owndir *d, const char *name);
/* Writes the names in the directory to the device.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__owndir_sync(const struct sp__owndir *d, struct sp_errinfo *err);

/*
 * Opens a file of an earlier run for reading: a regular file that is safe from other users, without
 * following a link.  Returns the descriptor, -errno or SP_EUNSUP.
 */
SP_MUST_CHECK int sp__ownfile_open(const char *path, struct sp_errinfo *err);
