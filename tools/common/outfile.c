/* SPDX-License-Identifier: MIT */
/*
 * A regular file, or one that does not exist yet, is written beside its target
 * and renamed at the end; a signal removes what was written and then kills the
 * program as it would have.  Devices, pipes and files whose directory cannot
 * be written are opened in place.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "outfile.h"

static const int fatal[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ, SIGPIPE };
#define FATALS (sizeof(fatal) / sizeof(fatal[0]))

static char *volatile left_behind;

static void on_signal(int number)
{
	if (left_behind)
		unlink(left_behind);
	signal(number, SIG_DFL);
	raise(number);
}

/* Holds the fatal signals back; *before is for sigprocmask() afterwards. */
static void hold_signals(sigset_t *set, sigset_t *before)
{
	sigemptyset(set);
	for (size_t i = 0; i < FATALS; i++)
		sigaddset(set, fatal[i]);
	sigprocmask(SIG_BLOCK, set, before);
}

/* remove: what a signal must remove from now on; NULL: nothing. */
static void guard(char *remove)
{
	struct sigaction act = { .sa_handler = on_signal }, old;
	sigset_t before;

	hold_signals(&act.sa_mask, &before);
	left_behind = remove;
	for (size_t i = 0; remove && i < FATALS; i++)
		if (sigaction(fatal[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaction(fatal[i], &act, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* The file, and the guard against leaving it behind: no signal comes between. */
static int make_guarded(char *name)
{
	sigset_t set, before;
	int fd;

	hold_signals(&set, &before);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		guard(name);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return fd;
}

static int in_place(struct outfile *o)
{
	o->fd = open(o->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	return o->fd < 0 ? -errno : 0;
}

static mode_t mode_of(const struct stat *st)
{
	mode_t mask;

	if (st->st_mode)
		return st->st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int beside(struct outfile *o, const struct stat *st)
{
	int rc;

	if (asprintf(&o->temporary, "%s.XXXXXX", o->path) < 0) {
		o->temporary = NULL;
		return -ENOMEM;
	}
	o->fd = make_guarded(o->temporary);
	if (o->fd < 0)
		return o->fd;
	rc = fchmod(o->fd, mode_of(st)) < 0 ? -errno : 0;
	if (rc < 0)
		outfile_abandon(o);
	return rc;
}

int outfile_open(struct outfile *o, const char *path)
{
	struct stat st = { 0 };
	int rc;

	*o = (struct outfile){ .fd = STDOUT_FILENO, .name = path ? path : "standard output" };
	if (!path)
		return 0;
	if (stat(path, &st) == 0) {
		if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || access(path, W_OK) < 0)
			return in_place(o);
		o->path = realpath(path, NULL);
	} else if (lstat(path, &st) < 0) {
		st.st_mode = 0;
		o->path = strdup(path);
	} else {
		return in_place(o); /* a symbolic link to nothing */
	}
	if (!o->path)
		return -errno;
	rc = beside(o, &st);
	return rc == -EACCES || rc == -EROFS || rc == -ENAMETOOLONG ? in_place(o) : rc;
}

int outfile_write(struct outfile *o, const char *buf, size_t bytes)
{
	while (bytes) {
		ssize_t n = write(o->fd, buf, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		buf += n;
		bytes -= (size_t)n;
	}
	return 0;
}

int outfile_close(struct outfile *o)
{
	int rc = close(o->fd) < 0 ? -errno : 0;

	o->fd = -1;
	if (rc == 0 && left_behind && rename(o->temporary, o->path) < 0)
		rc = -errno;
	if (rc == 0)
		guard(NULL);
	outfile_abandon(o);
	return rc;
}

void outfile_abandon(struct outfile *o)
{
	char *remove = left_behind;

	if (remove)
		unlink(remove);
	guard(NULL);
	free(o->temporary);
	free(o->path);
	o->temporary = o->path = NULL;
}
