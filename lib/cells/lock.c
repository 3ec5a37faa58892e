/* SPDX-License-Identifier: MIT */
/*
 * Locks whole files by flock(2).
 *
 * Rejected: locks of fcntl(2), which a process loses when it closes any descriptor of the file;
 * reading without a lock and comparing the state once more afterwards, since data can change
 * without it.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/minmax.h"
#include "cells/lock.h"

#define FIRST_PAUSE_NS UINT64_C(1000000)
#define PAUSE_NS UINT64_C(50000000) /* at most, between two attempts */
#define REPLACED_MAX 1000	    /* attempts to lock the file that has the name */

/* Returns the end of a wait that begins now; UINT64_MAX: it has no end. */
static uint64_t end_of(uint64_t wait_ns)
{
	uint64_t end;

	return __builtin_add_overflow(sp__now_ns(), wait_ns, &end) ? UINT64_MAX : end;
}

/* Locks until the clock shows `end`; one attempt at least. */
static int lock_until(int fd, enum sp__lock kind, uint64_t end)
{
	const int how = (kind == SP__LOCK_SHARED ? LOCK_SH : LOCK_EX) | LOCK_NB;
	uint64_t pause = FIRST_PAUSE_NS, now;

	while (flock(fd, how)) {
		if (errno != EWOULDBLOCK)
			return -errno;
		now = sp__now_ns();
		if (now >= end)
			return SP_ESTATE;
		if (!sp__sleep_until(now + sp__min(pause, end - now)))
			return -EINTR;
		pause = sp__min(2 * pause, PAUSE_NS);
	}
	return 0;
}

int sp__file_lock(int fd, enum sp__lock kind, uint64_t wait_ns)
{
	return lock_until(fd, kind, end_of(wait_ns));
}

int sp__file_open_locked(const char *path, int flags, enum sp__lock kind, uint64_t wait_ns)
{
	const uint64_t end = end_of(wait_ns);

	for (unsigned i = 0; i < REPLACED_MAX; i++) {
		int fd = open(path, flags), rc;

		if (fd < 0)
			return -errno;
		rc = lock_until(fd, kind, end);
		if (rc != SP_ESTATE && rc != -EINTR && sp__file_named(fd, path))
			return fd;
		close(fd);
		if (rc == SP_ESTATE || rc == -EINTR)
			return rc;
	}
	return SP_ESTATE;
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
