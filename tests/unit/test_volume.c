/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "io/volume.h"
#include "tap.h"

static const char *directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

static void check_temp(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__volume *v = NULL;

	ok(sp__volume_temp(&v, directory(), SP__DIRECT_NEVER, NULL) == 0 && v->regular &&
		   !v->direct && v->size_bytes == 0 && v->owned,
	   "a temporary volume is an empty regular file");
	ok(fcntl(v->fd, F_GETFD) & FD_CLOEXEC, "no child inherits it");
	sp__volume_close(v);
	ok(sp__volume_temp(&v, "/nosuch", SP__DIRECT_AUTO, &err) == -ENOENT &&
		   err.code == -ENOENT && strcmp(err.path, "/nosuch") == 0,
	   "a directory that is not there is an error");
	if (sp__volume_temp(&v, directory(), SP__DIRECT_ALWAYS, NULL)) {
		skip("a direct volume says so", "no direct I/O here");
		return;
	}
	ok(v->direct && v->align_bytes >= 512, "a direct volume says so");
	sp__volume_close(v);
}

static void check_adopt(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__volume *v = NULL;
	int fds[2];

	if (pipe(fds))
		return;
	ok(sp__volume_adopt(&v, fds[0], false, "pipe", &err) == SP_EUNSUP && err.code == SP_EUNSUP,
	   "a pipe is not a volume");
	ok(fcntl(fds[0], F_GETFD) >= 0, "and is still its owner's");
	ok(sp__volume_reopen_direct(&v, fds[0], false, "pipe") == SP_EUNSUP,
	   "it cannot be opened for direct I/O");
	ok(sp__volume_adopt(&v, fds[0], true, "pipe", NULL) == SP_EUNSUP &&
		   fcntl(fds[0], F_GETFD) < 0,
	   "a descriptor that is taken over is closed on an error");
	close(fds[1]);
	ok(sp__volume_adopt(&v, -1, false, "none", NULL) == -EBADF,
	   "a closed descriptor is not a volume");
}

static void check_reopen(void)
{
	struct sp__volume *v = NULL, *again = NULL;
	char byte = 0;

	if (sp__volume_temp(&v, directory(), SP__DIRECT_NEVER, NULL))
		return;
	ok(pwrite(v->fd, "abc", 3, 0) == 3, "bytes are written");
	if (sp__volume_reopen_direct(&again, v->fd, false, "again")) {
		skip("a file without a name is opened again", "no direct I/O here");
	} else {
		ok(again->fd != v->fd && again->size_bytes == 3,
		   "a file without a name is opened again");
		ok(!(fcntl(v->fd, F_GETFL) & O_DIRECT) && pread(v->fd, &byte, 1, 1) == 1 &&
			   byte == 'b',
		   "the first descriptor stays as it was");
	}
	sp__volume_close(again);
	sp__volume_close(v);
}

static bool in_memory(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) || fs.f_type == TMPFS_MAGIC;
}

static void check_pagecache(void)
{
	static char bytes[1 << 20];
	struct sp__volume *v = NULL;

	if (sp__volume_temp(&v, directory(), SP__DIRECT_NEVER, NULL))
		return;
	memset(bytes, 'x', sizeof(bytes));
	ok(pwrite(v->fd, bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes), "a file is written");
	ok(sp__file_cached(v->fd, 0, sizeof(bytes)), "it is in the page cache");
	ok(sp__file_cached(v->fd, 5, 5), "nothing always is");
	/* A file system in memory is the page cache itself. */
	if (fsync(v->fd) || posix_fadvise(v->fd, 0, 0, POSIX_FADV_DONTNEED) || in_memory(v->fd))
		skip("dropping removes it from there", "nothing below the page cache");
	else
		ok(!sp__file_cached(v->fd, 0, sizeof(bytes)), "dropping removes it from there");
	sp__volume_close(v);
}

static void check_scarce(void)
{
	struct rlimit before, few;

	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = 7;
	setrlimit(RLIMIT_NOFILE, &few);
	ok(sp__fds_scarce(), "seven descriptors are few");
	setrlimit(RLIMIT_NOFILE, &before);
	ok(before.rlim_cur < 100 || !sp__fds_scarce(), "a hundred are not");
}

int main(void)
{
	check_temp();
	check_adopt();
	check_reopen();
	check_pagecache();
	check_scarce();
	return done();
}
