/* SPDX-License-Identifier: MIT */
/*
 * Runs a compression program as a child process.
 *
 * Assumptions: descriptors can be scarce (ulimit -n 7).
 *
 * Rejected: fork().  With gigabytes mapped it takes long to copy page tables, and in a process with
 * threads the child can do almost nothing.  posix_spawn() also reports without a pipe that the
 * program could not be executed.
 */
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/err.h"
#include "spill/filter.h"

extern char **environ;

static int set_signals(posix_spawnattr_t *attr)
{
	static const int usual[] = { SIGPIPE, SIGALRM, SIGHUP,	SIGINT,	 SIGQUIT,  SIGTERM,
				     SIGPOLL, SIGPROF, SIGXCPU, SIGXFSZ, SIGVTALRM };
	struct sigaction was;
	sigset_t none, defaults;

	sigemptyset(&none);
	sigemptyset(&defaults);
	/* Ignored signals stay ignored, except SIGPIPE. */
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (usual[i] == SIGPIPE ||
		    (sigaction(usual[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN))
			sigaddset(&defaults, usual[i]);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &defaults);
	return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(struct sp__filter *f, int in_fd, int out_fd)
{
	char name[] = "-d";
	char *argv[3] = { NULL, f->unpack ? name : NULL, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc) {
		posix_spawn_file_actions_destroy(&actions);
		return rc;
	}
	/* posix_spawnp() takes argv without const, but does not change the strings. */
	argv[0] = (char *)(uintptr_t)f->program;
	rc = set_signals(&attr);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
	if (!rc)
		rc = posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	if (!rc)
		rc = posix_spawnp(&f->pid, f->program, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int sp__filter_start(struct sp__filter *filter, const char *program, bool unpack, int in_fd,
		     int out_fd, struct sp_errinfo *err)
{
	int moved = -1, rc;

	*filter = (struct sp__filter){ .program = program, .unpack = unpack };
	if (out_fd == STDIN_FILENO) {
		/* The first dup2 would overwrite it. */
		moved = out_fd = fcntl(out_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (moved < 0)
			return sp__err(err, -errno, "dup", NULL, -1);
	}
	rc = spawn(filter, in_fd, out_fd);
	if (moved >= 0)
		close(moved);
	if (!rc)
		return 0;
	filter->pid = 0;
	return sp__err(err, -rc, "execute", program, -1);
}

static int reap(struct sp__filter *f, int *status)
{
	pid_t pid = f->pid;
	int rc;

	f->pid = 0;
	do
		rc = waitpid(pid, status, 0);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}

int sp__filter_failed(const struct sp__filter *filter, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ECHILD, "wait", filter->program, -1, "[-d] terminated abnormally");
}

int sp__filter_wait(struct sp__filter *filter, struct sp_errinfo *err)
{
	int status, rc;

	if (!filter->pid)
		return 0;
	rc = reap(filter, &status);
	if (rc < 0)
		return sp__errf(err, rc, "wait", filter->program, -1, "waiting for %s [-d]",
				filter->program);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return sp__filter_failed(filter, err);
}

void sp__filter_stop(struct sp__filter *filter)
{
	int status;

	if (!filter->pid)
		return;
	kill(filter->pid, SIGTERM);
	(void)reap(filter, &status);
}
