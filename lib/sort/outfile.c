/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <spindle/sort.h>
#include "base/err.h"
#include "sort/outfile.h"

/*
 * Temporary names for handlers of fatal signals: a place for each output that there
 * has been at a time.  Places are used again, never freed or unlinked from the list, so
 * that a handler can walk it at any moment.
 */
enum { FREE, TAKEN, LIVE };

struct sp__tempname {
	struct sp__tempname *next;
	_Atomic int state;
	char name[PATH_MAX];
};

static struct sp__tempname *_Atomic temp_names;

void sp_sort_cleanup_signal(void)
{
	for (struct sp__tempname *t = atomic_load(&temp_names); t; t = t->next)
		if (atomic_load(&t->state) == LIVE)
			unlink(t->name);
}

static struct sp__tempname *take_place(void)
{
	struct sp__tempname *t;

	for (t = atomic_load(&temp_names); t; t = t->next) {
		int state = FREE;

		if (atomic_compare_exchange_strong(&t->state, &state, TAKEN))
			return t;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	atomic_store(&t->state, TAKEN);
	t->next = atomic_load(&temp_names);
	while (!atomic_compare_exchange_weak(&temp_names, &t->next, t))
		;
	return t;
}

static bool copy_xattr(const char *from, const char *name, int to)
{
	ssize_t len = getxattr(from, name, NULL, 0);
	char *value = malloc(len > 0 ? (size_t)len : 1);

	if (!value)
		return false;
	if (len >= 0)
		len = getxattr(from, name, value, (size_t)len);
	if (len >= 0)
		(void)!fsetxattr(to, name, value, (size_t)len, 0);
	free(value);
	return true;
}

/* Some may not be for us to set; false: there is no memory to know. */
static bool copy_xattrs(const char *from, int to)
{
	ssize_t n = listxattr(from, NULL, 0);
	char *names;
	bool good = true;

	if (n <= 0)
		return true;
	names = malloc((size_t)n);
	if (!names)
		return false;
	n = listxattr(from, names, (size_t)n);
	for (ssize_t i = 0; good && i < n; i += (ssize_t)strlen(names + i) + 1)
		good = copy_xattr(from, names + i, to);
	free(names);
	return good;
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
	return copy_xattrs(path, fd);
}

/* What was made is in place, or gone. */
static void forget_temp(struct sp__outfile *o)
{
	atomic_store(&o->place->state, FREE);
	o->place = NULL;
	free(o->temp);
	o->temp = NULL;
}

static int make_temp(struct sp__outfile *o)
{
	sigset_t all, old;
	int fd = -1;

	if (strlen(o->path) + sizeof(".XXXXXX") > sizeof(o->place->name))
		return -1;
	o->place = take_place();
	if (!o->place)
		return -1;
	if (asprintf(&o->temp, "%s.XXXXXX", o->path) < 0)
		o->temp = NULL;
	/* A signal must find the file and its name together. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (o->temp)
		fd = mkostemp(o->temp, O_CLOEXEC);
	if (fd >= 0) {
		strcpy(o->place->name, o->temp);
		atomic_store(&o->place->state, LIVE);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (fd < 0)
		forget_temp(o);
	return fd;
}

static void drop_temp(struct sp__outfile *o)
{
	if (!o->temp)
		return;
	unlink(o->temp);
	forget_temp(o);
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
	forget_temp(o);
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
