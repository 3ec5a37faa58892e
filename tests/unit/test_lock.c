/* SPDX-License-Identifier: MIT */
/*
 * Locks of a file by two processes: a child opens the file again and says what it got.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cells/lock.h"
#include "tap.h"

static char dir[4096], path[4200], other[4200];

/* Returns the result of a child's attempt; `hold`: it is killed with the lock. */
static int child_gets(enum sp__lock kind, bool hold)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		int fd = open(path, O_RDWR | O_CLOEXEC),
		    rc = fd < 0 ? -1 : sp__file_lock(fd, kind, 0);

		if (hold)
			raise(SIGKILL);
		_exit(rc == SP_ESTATE ? 1 : rc ? 2 : 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 9;
}

static void check_locks(int fd)
{
	ok(!sp__file_lock(fd, SP__LOCK_SHARED, 0) && child_gets(SP__LOCK_SHARED, false) == 0,
	   "two processes read");
	ok(child_gets(SP__LOCK_EXCLUSIVE, false) == 1, "meanwhile none changes the file");
	ok(!sp__file_lock(fd, SP__LOCK_EXCLUSIVE, 0) && child_gets(SP__LOCK_SHARED, false) == 1 &&
		   child_gets(SP__LOCK_EXCLUSIVE, false) == 1,
	   "while one program changes it, another can neither read nor change it");
	sp__file_unlock(fd);
	ok(child_gets(SP__LOCK_EXCLUSIVE, false) == 0, "until the lock is released");
	ok(child_gets(SP__LOCK_EXCLUSIVE, true) == 9 && !sp__file_lock(fd, SP__LOCK_EXCLUSIVE, 0),
	   "a process that is killed leaves no lock");
}

/* A child that waits for the lock until this process gives the name to another file. */
static void check_waits(int fd)
{
	struct stat st = { 0 };
	int status = -1, pipes[2], next;
	pid_t child;
	char go;

	ok(!sp__file_lock(fd, SP__LOCK_EXCLUSIVE, 0) && !pipe(pipes), "a lock is held");
	child = fork();
	if (!child) {
		int own;

		close(pipes[0]);
		(void)!write(pipes[1], "", 1);
		own = sp__file_open_locked(path, O_RDONLY | O_CLOEXEC, SP__LOCK_SHARED,
					   10000000000);
		_exit(own < 0 || fstat(own, &st) ? 2 : (int)st.st_size);
	}
	(void)!read(pipes[0], &go, 1);
	next = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ok(next >= 0 && write(next, "abc", 3) == 3 && !rename(other, path), "the file is replaced");
	sp__file_unlock(fd);
	ok(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3,
	   "a process that waited gets the lock of the file that has the name then");
	ok(!sp__file_lock(next, SP__LOCK_EXCLUSIVE, 0) &&
		   sp__file_open_locked(path, O_RDONLY | O_CLOEXEC, SP__LOCK_SHARED, 3000000) ==
			   SP_ESTATE,
	   "a wait ends after its time");
	ok(sp__file_open_locked(other, O_RDONLY | O_CLOEXEC, SP__LOCK_SHARED, 0) == -ENOENT,
	   "a file that is missing is an error of open(2)");
	close(next);
	close(pipes[0]);
	close(pipes[1]);
}

static void check_names(int fd)
{
	struct stat a, b;

	ok(sp__file_named(fd, path), "a name is that of the file");
	ok(!rename(path, other) && !sp__file_named(fd, path) && sp__file_named(fd, other),
	   "it is no longer when the file has got another one");
	close(open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
	ok(!sp__file_named(fd, path), "a new file of that name is another one");
	ok(!stat(path, &a) && !stat(other, &b) && !sp__file_same(&a, &b) && sp__file_same(&a, &a),
	   "the two are not the same");
}

int main(void)
{
	const char *tmp = getenv("TMPDIR");
	int fd;

	snprintf(dir, sizeof(dir), "%s/lockXXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return 2;
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	check_locks(fd);
	check_names(fd);
	sp__file_unlock(fd);
	close(fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	check_waits(fd);
	close(fd);
	unlink(path);
	unlink(other);
	rmdir(dir);
	return done();
}
