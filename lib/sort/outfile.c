/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "base/err.h"
#include "sort/outfile.h"

/* The one temporary name there may be, for handlers of fatal signals. */
static char temp_name[PATH_MAX];
static volatile int temp_live;

void sp_sort_cleanup_signal(void)
{
	if (temp_live)
		unlink(temp_name);
}

static void copy_xattrs(const char *from, int to)
{
	char names[4096], value[65536];
	ssize_t n = listxattr(from, names, sizeof(names));

	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(names + i) + 1) {
		ssize_t len = getxattr(from, names + i, value, sizeof(value));

		if (len >= 0)
			(void)!fsetxattr(to, names + i, value, (size_t)len, 0);
	}
}

/* Gives the new file what the old one had; false: it cannot. */
static bool keep_attributes(const char *path, const struct stat *old, int fd)
{
	struct stat now;

	if (fstat(fd, &now) < 0)
		return false;
	if ((old->st_uid != now.st_uid || old->st_gid != now.st_gid) &&
	    fchown(fd, old->st_uid, old->st_gid) < 0)
		return false;
	if (fchmod(fd, old->st_mode & 07777) < 0)
		return false;
	copy_xattrs(path, fd);
	return true;
}

static int make_temp(struct sp__outfile *o)
{
	sigset_t all, old;
	int fd;

	if (asprintf(&o->temp, "%s.XXXXXX", o->path) < 0) {
		o->temp = NULL;
		return -1;
	}
	if (strlen(o->temp) >= sizeof(temp_name)) {
		free(o->temp);
		o->temp = NULL;
		return -1;
	}
	/* A signal must find the file and its name together. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	fd = mkostemp(o->temp, O_CLOEXEC);
	if (fd >= 0) {
		strcpy(temp_name, o->temp);
		temp_live = 1;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (fd < 0) {
		free(o->temp);
		o->temp = NULL;
	}
	return fd;
}

static void drop_temp(struct sp__outfile *o)
{
	if (!o->temp)
		return;
	unlink(o->temp);
	temp_live = 0;
	free(o->temp);
	o->temp = NULL;
}

/* A file beside the target, or -1 if the target must be written in place. */
static int open_beside(struct sp__outfile *o)
{
	struct stat st;
	mode_t mask;
	int fd;

	o->path = realpath(o->name, NULL);
	if (!o->path) {
		struct stat link;

		/* A new file; a dangling link is written through. */
		if (errno != ENOENT || lstat(o->name, &link) == 0)
			return -1;
		o->path = strdup(o->name);
		if (!o->path)
			return -1;
		fd = make_temp(o);
		if (fd < 0)
			return -1;
		mask = umask(0);
		umask(mask);
		if (fchmod(fd, 0666 & ~mask) == 0)
			return fd;
	} else {
		if (stat(o->path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1)
			return -1;
		fd = make_temp(o);
		if (fd < 0)
			return -1;
		if (keep_attributes(o->path, &st, fd))
			return fd;
	}
	close(fd);
	drop_temp(o);
	return -1;
}

void sp__outfile_prepare(struct sp__outfile *o, const char *path, int fd)
{
	*o = (struct sp__outfile){ .fd = fd, .name = path };
	if (path) {
		o->owned = true;
		o->fd = open_beside(o);
	} else {
		o->name = "standard output";
	}
}

int sp__outfile_open(struct sp__outfile *o, struct sp_errinfo *err)
{
	if (o->fd >= 0)
		return 0;
	o->fd = open(o->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return o->fd < 0 ? sp__err(err, -errno, "open", o->name, -1) : 0;
}

int sp__outfile_commit(struct sp__outfile *o, struct sp_errinfo *err)
{
	if (o->owned && close(o->fd) < 0) {
		o->fd = -1;
		return sp__err(err, -errno, "close", o->name, -1);
	}
	if (o->owned)
		o->fd = -1;
	if (!o->temp)
		return 0;
	if (rename(o->temp, o->path) < 0)
		return sp__err(err, -errno, "rename", o->name, -1);
	temp_live = 0;
	free(o->temp);
	o->temp = NULL;
	return 0;
}

void sp__outfile_close(struct sp__outfile *o)
{
	if (o->owned && o->fd >= 0)
		close(o->fd);
	o->fd = -1;
	drop_temp(o);
	free(o->path);
	o->path = NULL;
}
