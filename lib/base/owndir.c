/* SPDX-License-Identifier: MIT */
/*
 * Opens directories and files that only the user can change.
 */
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/err.h"
#include "base/owndir.h"

/* Buffer of a system entry for a user or a group. */
#define ENTRY_BYTES 16384
/* Each failure means that another process has removed the directory. */
#define TRIES 100

/* True if the group has the user's name, is the user's first one, and has no other member. */
static bool is_private(gid_t gid)
{
	char user_text[ENTRY_BYTES], group_text[ENTRY_BYTES];
	struct passwd user, *u = NULL;
	struct group group, *g = NULL;

	if (getpwuid_r(geteuid(), &user, user_text, sizeof(user_text), &u) || !u ||
	    getgrgid_r(gid, &group, group_text, sizeof(group_text), &g) || !g)
		return false;
	if (u->pw_gid != gid || strcmp(u->pw_name, g->gr_name) != 0)
		return false;
	for (char **member = g->gr_mem; *member; member++)
		if (strcmp(*member, u->pw_name) != 0)
			return false;
	return true;
}

/*
 * Returns the reason why a file or directory is not safe from other users, or NULL.  It is safe if
 * it belongs to the user, and only the user, or a group without another member, can write to it.
 */
static const char *own_refusal(const struct stat *st)
{
	if (st->st_uid != geteuid())
		return "belongs to another user";
	if (st->st_mode & S_IWOTH)
		return "can be written by every user";
	if (st->st_mode & S_IWGRP && !is_private(st->st_gid))
		return "can be written by a group";
	return NULL;
}

static int open_or_make(struct sp__owndir *d)
{
	for (int i = 0; i < TRIES; i++) {
		d->made = mkdir(d->path, 0700) == 0;
		if (!d->made && errno != EEXIST)
			return -errno;
		d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (d->fd >= 0)
			return 0;
		if (errno != ENOENT)
			return -errno;
	}
	return -ENOENT;
}

int sp__owndir_open(struct sp__owndir *d, const char *path, struct sp_errinfo *err)
{
	const char *reason;
	struct stat st;
	int rc;

	*d = (struct sp__owndir){ .path = path, .fd = -1 };
	rc = open_or_make(d);
	if (rc < 0)
		return sp__err(err, rc, "open", path, -1);
	rc = fstat(d->fd, &st) < 0 ? -errno : 0;
	reason = rc ? NULL : own_refusal(&st);
	if (!rc && !reason)
		return 0;
	sp__owndir_close(d);
	if (rc)
		return sp__err(err, rc, "open", path, -1);
	return sp__errf(err, SP_EUNSUP, "open", path, -1,
			"%s: give a directory of your own, with mode 0700", reason);
}

void sp__owndir_close(struct sp__owndir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	d->fd = -1;
}

static int refuse(const struct sp__owndir *d, const char *name, int code, struct sp_errinfo *err)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", d->path, name);
	if (code != SP_EUNSUP)
		return sp__err(err, code, "open", path, -1);
	return sp__errf(err, code, "open", path, -1,
			"is a link, or not a regular file of your own: remove it");
}

int sp__owndir_file(const struct sp__owndir *d, const char *name, int flags, mode_t mode,
		    struct sp_errinfo *err)
{
	struct stat st;
	int fd = openat(d->fd, name, flags | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0 && errno == ENOENT)
		return -ENOENT;
	if (fd < 0)
		return refuse(d, name, errno == ELOOP ? SP_EUNSUP : -errno, err);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink < 2 && st.st_uid == geteuid())
		return fd;
	close(fd);
	return refuse(d, name, SP_EUNSUP, err);
}

bool sp__owndir_has(const struct sp__owndir *d, const char *name, int fd)
{
	struct stat open, found;

	return fstat(fd, &open) == 0 && fstatat(d->fd, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
	       open.st_ino == found.st_ino && open.st_dev == found.st_dev;
}

int sp__owndir_unlink(const struct sp__owndir *d, const char *name)
{
	return unlinkat(d->fd, name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int sp__owndir_sync(const struct sp__owndir *d, struct sp_errinfo *err)
{
	return fsync(d->fd) < 0 ? sp__err(err, -errno, "fsync", d->path, -1) : 0;
}

int sp__ownfile_open(const char *path, struct sp_errinfo *err)
{
	/* With O_NONBLOCK, a pipe of this name does not wait for a writer. */
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), rc;
	const char *reason = NULL;
	struct stat st;

	if (fd < 0 && errno != ELOOP)
		return sp__err(err, -errno, "open", path, -1);
	rc = fd >= 0 && fstat(fd, &st) < 0 ? -errno : 0;
	if (fd < 0)
		reason = "is a link";
	else if (!rc)
		reason = S_ISREG(st.st_mode) ? own_refusal(&st) : "is not a regular file";
	if (!rc && !reason)
		return fd;
	if (fd >= 0)
		close(fd);
	if (rc)
		return sp__err(err, rc, "open", path, -1);
	return sp__errf(err, SP_EUNSUP, "open", path, -1, "%s: give a file of your own", reason);
}
