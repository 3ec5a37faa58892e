/* SPDX-License-Identifier: MIT */
/*
 * Locks of a file by two processes: a child opens the file again and says what it got.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "datafile/lock.h"
#include "tap.h"

static char dir[4096], path[4200], other[4200];

/* Returns the result of a child's attempt; `hold`: it is killed with the lock. */
static int child_gets(enum sp__lock kind, bool hold)
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		int fd = open(path, O_RDWR | O_CLOEXEC), rc = fd < 0 ? -1 : sp__file_lock(fd, kind);

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
	ok(!sp__file_lock(fd, SP__LOCK_SHARED) && child_gets(SP__LOCK_SHARED, false) == 0,
	   "two processes read");
	ok(child_gets(SP__LOCK_EXCLUSIVE, false) == 1, "meanwhile none changes the file");
	ok(!sp__file_lock(fd, SP__LOCK_EXCLUSIVE) && child_gets(SP__LOCK_SHARED, false) == 1 &&
		   child_gets(SP__LOCK_EXCLUSIVE, false) == 1,
	   "while one program changes it, another can neither read nor change it");
	sp__file_unlock(fd);
	ok(child_gets(SP__LOCK_EXCLUSIVE, false) == 0, "until the lock is released");
	ok(child_gets(SP__LOCK_EXCLUSIVE, true) == 9 && !sp__file_lock(fd, SP__LOCK_EXCLUSIVE),
	   "a process that is killed leaves no lock");
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
	close(fd);
	unlink(path);
	unlink(other);
	rmdir(dir);
	return done();
}
