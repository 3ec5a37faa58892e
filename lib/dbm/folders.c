/* SPDX-License-Identifier: MIT */
/*
 * Makes, walks and removes folders.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "dbm/folders.h"

#define OPEN_MAX_ 16 /* descriptors of a walk */

static char *join(const char *folder, const char *name)
{
	char *path;

	return folder && asprintf(&path, "%s/%s", folder, name) >= 0 ? path : NULL;
}

static int make(const char *path, struct sp_errinfo *err)
{
	return mkdir(path, 0777) ? sp__err(err, -errno, "create", path, -1) : 0;
}

int sp__folders_open(struct sp__dbm_folders *f, const char *folder, struct sp_errinfo *err)
{
	char *all;
	int rc;

	*f = (struct sp__dbm_folders){ 0 };
	if (mkdir(folder, 0777) && errno != EEXIST)
		return sp__err(err, -errno, "create", folder, -1);
	all = realpath(folder, NULL);
	if (!all)
		return sp__err(err, -errno, "open", folder, -1);
	f->work = join(all, "work");
	f->logs = join(all, "logs");
	f->sim = join(f->work, "sim");
	f->t1 = join(f->work, "t1.tbl");
	f->t2 = join(f->work, "t2.tbl");
	free(all);
	if (!f->work || !f->logs || !f->sim || !f->t1 || !f->t2)
		return sp__err(err, -ENOMEM, "open", folder, -1);
	rc = make(f->work, NULL);
	if (rc == -EEXIST)
		return sp__errf(err, rc, "create", f->work, -1,
				"belongs to another run, which is active or was killed: choose "
				"another folder, or remove it");
	if (rc)
		return sp__err(err, rc, "create", f->work, -1);
	f->made = true;
	rc = make(f->sim, err);
	if (!rc && !geteuid() && chmod(f->sim, 01777)) /* a server of root's is another user */
		rc = sp__err(err, -errno, "chmod", f->sim, -1);
	if (!rc && mkdir(f->logs, 0777) && errno != EEXIST)
		rc = sp__err(err, -errno, "create", f->logs, -1);
	return rc;
}

int sp__folders_close(struct sp__dbm_folders *f, struct sp_errinfo *err)
{
	int rc = f->made ? sp__folder_remove(f->work) : 0;

	if (rc)
		sp__err(err, rc, "remove", f->work, -1);
	free(f->work);
	free(f->logs);
	free(f->sim);
	free(f->t1);
	free(f->t2);
	*f = (struct sp__dbm_folders){ 0 };
	return rc;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)at;
	return (kind == FTW_DP ? rmdir(path) : unlink(path)) ? errno : 0;
}

int sp__folder_remove(const char *path)
{
	int rc = nftw(path, remove_one, OPEN_MAX_, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);

	return rc < 0 ? -errno : -rc;
}

static __thread uint64_t counted; /* nftw() passes no argument */

static int count_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)path;
	(void)at;
	counted += kind == FTW_F ? (uint64_t)st->st_size : 0;
	return 0;
}

int sp__folder_bytes(const char *path, uint64_t *bytes)
{
	counted = 0;
	if (nftw(path, count_one, OPEN_MAX_, FTW_PHYS))
		return -errno;
	*bytes = counted;
	return 0;
}

static int cool_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	int fd;

	(void)st;
	(void)at;
	if (kind != FTW_F)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return 0; /* a socket, or gone: it has no pages */
	(void)!fdatasync(fd);
	(void)!posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
	return 0;
}

int sp__folder_cool(const char *path)
{
	return nftw(path, cool_one, OPEN_MAX_, FTW_PHYS) ? -errno : 0;
}
