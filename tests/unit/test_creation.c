/* SPDX-License-Identifier: MIT */
/*
 * A creation makes all of its files or none.  Each system call fails, one at a time (the Makefile
 * wraps them), and so does the caller's own step.  Then no file is left that did not exist, and an
 * existing one keeps its bytes, or is empty once contents were discarded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cells/creation.h"
#include "cells/lock.h"
#include "tap.h"

static unsigned calls, fail_at; /* 0: none fails */

static bool fails(void)
{
	errno = EIO;
	return ++calls == fail_at;
}

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return fails() ? -1 : __real_open(path, flags, mode);
}

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st)
{
	return fails() ? -1 : __real_fstat(fd, st);
}

int __real_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes);
int __wrap_ftruncate(int fd, off_t bytes)
{
	return fails() ? -1 : __real_ftruncate(fd, bytes);
}

int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
	int rc = __real_close(fd);

	return fails() ? -1 : rc;
}

static char dir[4096];
static const char *const names[] = { "first", "old", "long", "last" };
static const char old[] = "an old file";
#define NAMES 4
#define NEED 20
#define LONG 50

static char *path_of(const char *name)
{
	char *path;

	return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* Bytes of a file, or -1: it does not exist; *data is zero beyond them. */
static ssize_t content(const char *name, char data[LONG + 1])
{
	char *path = path_of(name);
	int fd = __real_open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = -1;

	memset(data, 0, LONG + 1);
	if (fd >= 0) {
		n = read(fd, data, LONG);
		__real_close(fd);
	}
	free(path);
	return n;
}

static void make(const char *name, off_t bytes)
{
	char *path = path_of(name);
	int fd = __real_open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, old, sizeof(old)) != sizeof(old) || __real_ftruncate(fd, bytes))
		exit(2);
	__real_close(fd);
	free(path);
}

/* "old" is shorter than needed, "long" is longer; the others do not exist. */
static void set_up(void)
{
	for (unsigned i = 0; i < NAMES; i++) {
		char *path = path_of(names[i]);

		unlink(path);
		free(path);
	}
	make("old", sizeof(old));
	make("long", LONG);
}

static struct sp_errinfo err;

static struct sp__creation creation(void)
{
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return (struct sp__creation){ .noun = "the dataset",
				      .err = &err,
				      .overwrite = true,
				      .need_bytes = NEED,
				      .file_bytes = NEED };
}

/* Creates all files; own: what the caller's step returns.  *emptied: old contents are gone. */
static int create(int own, bool *emptied)
{
	struct sp__creation c = creation();
	int rc = 0;

	for (unsigned i = 0; !rc && i < NAMES; i++)
		rc = sp__creation_add(&c, path_of(names[i]));
	if (!rc)
		rc = sp__creation_empty(&c);
	if (!rc)
		rc = own;
	*emptied = c.emptied;
	return sp__creation_end(&c, rc);
}

static bool is_undone(bool emptied)
{
	char data[LONG + 1];
	bool right = content("first", data) < 0 && content("last", data) < 0;

	right &= content("old", data) == (emptied ? 0 : (ssize_t)sizeof(old));
	right &= emptied || !memcmp(data, old, sizeof(old));
	right &= content("long", data) == (emptied ? 0 : LONG);
	return right && (emptied || !memcmp(data, old, sizeof(old)));
}

static bool is_created(void)
{
	static const char zeros[LONG + 1];
	char data[LONG + 1];
	bool right = true;

	for (unsigned i = 0; i < NAMES; i++)
		right &= content(names[i], data) == NEED && !memcmp(data, zeros, LONG);
	return right;
}

static void check_undone(void)
{
	unsigned undone = 0, untouched = 0;
	bool right = true, emptied;
	int rc;

	for (fail_at = 1;; fail_at++) {
		set_up();
		calls = 0;
		rc = create(0, &emptied);
		if (!rc)
			break;
		right &= rc == -EIO && err.code == -EIO && is_undone(emptied);
		undone++;
		untouched += !emptied;
	}
	ok(right && untouched && undone > untouched && calls < fail_at,
	   "each of %u calls fails: nothing new is left, old files are untouched %u times", undone,
	   untouched);
	ok(is_created(), "without a failure all files have their size and no contents");
	fail_at = 0;
	set_up();
	ok(create(SP_ECORRUPT, &emptied) == SP_ECORRUPT && is_undone(emptied),
	   "an error of the caller's own step undoes all");
}

/* Adds one file to c, under two names if there is a second; returns the first error. */
static int add(struct sp__creation c, const char *name, const char *second)
{
	int rc = sp__creation_add(&c, path_of(name));

	if (!rc && second)
		rc = sp__creation_add(&c, path_of(second));
	return sp__creation_end(&c, rc ? rc : -ECANCELED);
}

static void check_refused(void)
{
	struct sp__creation c;
	char *path = path_of("last"), *target = path_of("old");
	bool emptied = false;
	int fd;

	set_up();
	c = creation();
	c.overwrite = false;
	ok(add(c, "first", "old") == -EEXIST && is_undone(emptied), "a file exists");
	c = creation();
	c.max_bytes = NEED - 1;
	ok(add(c, "first", NULL) == -ENOSPC && is_undone(emptied), "a volume is too small");
	ok(add(creation(), ".", NULL) == SP_EUNSUP, "a directory is refused");
	ok(add(creation(), "long", "long") == SP_ESYNTAX, "a file is named twice");
	ok(!symlink(target, path) && add(creation(), "old", "last") == SP_ESYNTAX &&
		   !unlink(path) && is_undone(emptied),
	   "a file is named once more by a symbolic link");
	fd = __real_open(target, O_RDONLY | O_CLOEXEC);
	ok(!sp__file_lock(fd, SP__LOCK_SHARED, 0) && add(creation(), "first", "old") == SP_ESTATE &&
		   is_undone(emptied),
	   "another process reads a file");
	__real_close(fd);
	free(path);
	free(target);
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/creationXXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 2;
	check_undone();
	check_refused();
	for (unsigned i = 0; i < NAMES; i++) {
		char *path = path_of(names[i]);

		unlink(path);
		free(path);
	}
	rmdir(dir);
	return done();
}
