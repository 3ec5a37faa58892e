/* SPDX-License-Identifier: MIT */
/*
 * Children: descriptors in any order, variables, process groups, programs that are missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/child.h"
#include "tap.h"

/* Runs a script of the shell; returns its exit status, or -errno. */
static int run(const char *script, const struct sp__child_opts *more, pid_t *pid)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct sp__child_opts o = *more;
	int rc, status;

	o.argv = argv;
	rc = sp__child_start(pid, &o);
	if (!rc)
		rc = sp__child_wait(*pid, &status);
	return rc ? rc : WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define group_of "read -r _ _ _ _ g _ < /proc/$$/stat; "

static const struct sp__child_opts none = { .fd = { -1, -1, -1 } };

/* Gives a child two files as 0 and 1, which the parent has as 1 and 0 or elsewhere. */
static void test_descriptors(bool swapped)
{
	int in = open("child-in.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int out = open("child-out.tmp", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int saved[2] = { fcntl(0, F_DUPFD_CLOEXEC, 10), fcntl(1, F_DUPFD_CLOEXEC, 10) };
	struct sp__child_opts o = none;
	char text[8] = "";
	pid_t pid;
	int rc;

	if (write(in, "abc\n", 4) != 4 || lseek(in, 0, SEEK_SET))
		exit(1);
	fflush(stdout);
	if (swapped) {
		dup2(out, 0);
		dup2(in, 1);
	}
	o.fd[0] = swapped ? 1 : in;
	o.fd[1] = swapped ? 0 : out;
	rc = run("read line; echo $line", &o, &pid);
	dup2(saved[0], 0);
	dup2(saved[1], 1);
	ok(rc == 0 && pread(out, text, 7, 0) == 4 && !strcmp(text, "abc\n"),
	   "a child reads and writes its files%s", swapped ? ", which are 1 and 0 here" : "");
	close(in);
	close(out);
	close(saved[0]);
	close(saved[1]);
	unlink("child-in.tmp");
	unlink("child-out.tmp");
}

int main(void)
{
	static const char *const variables[] = { "PATH=/usr/bin:/bin", "FRUIT=apple", NULL };
	static const char *const missing[] = { "./no-such-program", NULL };
	struct sp__child_opts o = none;
	pid_t pid;

	test_descriptors(false);
	test_descriptors(true);
	ok(run("exit 7", &none, &pid) == 7, "a child's exit status is known");
	o.variables = variables;
	ok(run("test \"$FRUIT$HOME\" = apple", &o, &pid) == 0, "a child has the variables given");
	o = none;
	ok(run(group_of "test $g != $$", &o, &pid) == 0, "a child is in our group");
	o.group = true;
	ok(run(group_of "test $g = $$", &o, &pid) == 0, "or in one of its own");
	signal(SIGPIPE, SIG_IGN);
	ok(run("kill -PIPE $$", &none, &pid) == 128 + SIGPIPE, "SIGPIPE ends it");
	o = none;
	o.argv = missing;
	ok(sp__child_start(&pid, &o) == -ENOENT, "a program that is missing is an error");
	return done();
}
