/* SPDX-License-Identifier: MIT */
/*
 * Locks whole files by flock(2).
 *
 * Rejected: locks of fcntl(2), which a process loses when it closes any descriptor of the file;
 * reading without a lock and comparing the state once more afterwards, since data can change
 * without it.
 */
#include <sys/file.h>
#include "datafile/lock.h"

int sp__file_lock(int fd, enum sp__lock kind)
{
	if (!flock(fd, (kind == SP__LOCK_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB))
		return 0;
	return errno == EWOULDBLOCK ? SP_ESTATE : -errno;
}

void sp__file_unlock(int fd)
{
	(void)flock(fd, LOCK_UN);
}

bool sp__file_same(const struct stat *a, const struct stat *b)
{
	return S_ISBLK(a->st_mode) ? S_ISBLK(b->st_mode) && a->st_rdev == b->st_rdev
				   : a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool sp__file_named(int fd, const char *path)
{
	struct stat own, named;

	return !fstat(fd, &own) && !stat(path, &named) && sp__file_same(&own, &named);
}
