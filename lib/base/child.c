/* SPDX-License-Identifier: MIT */
/*
 * Starts other programs with posix_spawn().
 *
 * Assumptions: descriptors can be scarce (ulimit -n 7).
 *
 * Rejected: fork().  With gigabytes mapped it takes long to copy page tables, and in a process with
 * threads the child can do almost nothing.  posix_spawn() also reports without a pipe that the
 * program could not be executed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/child.h"

extern char **environ;

static int set_attributes(posix_spawnattr_t *attr, bool group)
{
	static const int usual[] = { SIGPIPE, SIGALRM, SIGHUP,	SIGINT,	 SIGQUIT,  SIGTERM,
				     SIGPOLL, SIGPROF, SIGXCPU, SIGXFSZ, SIGVTALRM };
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
	struct sigaction was;
	sigset_t none, defaults;

	sigemptyset(&none);
	sigemptyset(&defaults);
	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (usual[i] == SIGPIPE ||
		    (sigaction(usual[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN))
			sigaddset(&defaults, usual[i]);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setsigdefault(attr, &defaults);
	posix_spawnattr_setpgroup(attr, 0);
	return posix_spawnattr_setflags(attr,
					(short)(group ? flags | POSIX_SPAWN_SETPGROUP : flags));
}

/*
 * Adds the descriptors to the actions.  One that would be overwritten by another before it is used
 * is duplicated into moved.  Returns 0 or an error number.
 */
static int set_descriptors(posix_spawn_file_actions_t *actions, const int *fd, int *moved)
{
	int rc = 0;

	for (int to = 0; !rc && to < 3; to++) {
		int from = fd[to];

		if (from < 0)
			continue;
		if (from < to && fd[from] >= 0 && fd[from] != from) {
			from = moved[to] = fcntl(from, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
			if (from < 0)
				return errno;
		}
		rc = posix_spawn_file_actions_adddup2(actions, from, to);
	}
	return rc;
}

static int spawn(pid_t *pid, const struct sp__child_opts *o, int *moved)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	/* posix_spawnp() takes both without const, but does not change the strings. */
	char *const *argv = (char *const *)(uintptr_t)o->argv;
	char *const *variables = o->variables ? (char *const *)(uintptr_t)o->variables : environ;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (rc) {
		posix_spawn_file_actions_destroy(&actions);
		return rc;
	}
	rc = set_attributes(&attr, o->group);
	if (!rc)
		rc = set_descriptors(&actions, o->fd, moved);
	if (!rc && o->folder)
		rc = posix_spawn_file_actions_addchdir_np(&actions, o->folder);
	if (!rc)
		rc = posix_spawnp(pid, o->argv[0], &actions, &attr, argv, variables);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int sp__child_start(pid_t *pid, const struct sp__child_opts *o)
{
	int moved[3] = { -1, -1, -1 };
	int rc = spawn(pid, o, moved);

	for (int i = 0; i < 3; i++)
		if (moved[i] >= 0)
			close(moved[i]);
	return -rc;
}

int sp__child_wait(pid_t pid, int *status)
{
	int rc;

	do
		rc = waitpid(pid, status, 0);
	while (rc < 0 && errno == EINTR);
	return rc < 0 ? -errno : 0;
}
