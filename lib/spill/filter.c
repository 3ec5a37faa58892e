/* SPDX-License-Identifier: MIT */
/*
 * Runs a compression program as a child process.
 */
#include <signal.h>
#include <sys/wait.h>
#include "base/child.h"
#include "base/err.h"
#include "spill/filter.h"

int sp__filter_start(struct sp__filter *filter, const char *program, bool unpack, int in_fd,
		     int out_fd, struct sp_errinfo *err)
{
	const char *argv[] = { program, unpack ? "-d" : NULL, NULL };
	const struct sp__child_opts o = { .argv = argv, .fd = { in_fd, out_fd, -1 } };
	int rc;

	*filter = (struct sp__filter){ .program = program, .unpack = unpack };
	rc = sp__child_start(&filter->pid, &o);
	if (!rc)
		return 0;
	filter->pid = 0;
	return sp__err(err, rc, "execute", program, -1);
}

static int reap(struct sp__filter *f, int *status)
{
	pid_t pid = f->pid;

	f->pid = 0;
	return sp__child_wait(pid, status);
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
