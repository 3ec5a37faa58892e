/* SPDX-License-Identifier: MIT */
/*
 * Starts programs, and waits for them with a deadline.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/child.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/minmax.h"
#include "dbm/calls.h"

#define POLL_MS 200			 /* a stop is noticed after this time at the latest */
#define BLIND_MS 2			 /* without a descriptor of the process */
#define PATIENCE_NS UINT64_C(2000000000) /* between SIGTERM and SIGKILL */

static int open_file(const char *path, int flags, int *fd, struct sp_errinfo *err)
{
	*fd = open(path ? path : "/dev/null", (path ? flags : O_RDWR) | O_CLOEXEC, 0666);
	return *fd < 0 ? sp__err(err, -errno, "open", path, -1) : 0;
}

static int start(struct sp__dbm_call *c, struct sp_errinfo *err)
{
	struct sp__child_opts o = { .argv = c->argv,
				    .variables = c->variables,
				    .folder = c->folder,
				    .fd = { -1, -1, -1 },
				    .group = true };
	int rc = open_file(c->in, O_RDONLY, &o.fd[0], err);

	c->pid = 0;
	if (!rc)
		rc = open_file(c->out, O_WRONLY | O_CREAT | O_TRUNC, &o.fd[1], err);
	if (!rc)
		rc = open_file(c->log, O_WRONLY | O_CREAT | O_APPEND, &o.fd[2], err);
	if (!rc)
		rc = sp__child_start(&c->pid, &o);
	if (rc) {
		c->pid = 0;
		sp__err(err, rc, "execute", c->argv[0], -1);
	}
	for (int i = 0; i < 3; i++)
		if (o.fd[i] >= 0)
			close(o.fd[i]);
	return rc;
}

/*
 * Reaps a call that has ended, and before it what is left of its process group, whose number is
 * then still its own.
 */
static bool reap(struct sp__dbm_call *c)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) || !info.si_pid)
		return false;
	c->ended_ns = sp__now_ns();
	kill(-c->pid, SIGKILL);
	(void)!wait4(c->pid, &c->status, 0, &c->used);
	c->pid = 0;
	return true;
}

/* Waits until a call may have ended, for so many milliseconds at most. */
static void wait_some(const struct sp__dbm_call *c, int ms)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, c->pid, 0), .events = POLLIN };

	(void)!poll(&p, p.fd >= 0, p.fd >= 0 ? ms : (ms < BLIND_MS ? ms : BLIND_MS));
	if (p.fd >= 0)
		close(p.fd);
}

static struct sp__dbm_call *running(struct sp__dbm_call *calls, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (calls[i].pid && !reap(&calls[i]))
			return &calls[i];
	return NULL;
}

/* Waits for all calls.  Returns 0, -ETIMEDOUT or -ECANCELED. */
static int wait_all(struct sp__dbm_call *calls, unsigned n, const struct sp__dbm_limits *limits)
{
	const uint64_t end = sp__now_ns() + limits->timeout_ns;
	const struct sp__dbm_call *c;

	while ((c = running(calls, n))) {
		const uint64_t now = sp__now_ns();

		if (limits->stop && *limits->stop)
			return -ECANCELED;
		if (now >= end)
			return -ETIMEDOUT;
		wait_some(c, (int)sp__min(POLL_MS, (end - now) / 1000000 + 1));
	}
	return 0;
}

static void end_all(struct sp__dbm_call *calls, unsigned n)
{
	const struct sp__dbm_limits patience = { .timeout_ns = PATIENCE_NS };

	for (unsigned i = 0; i < n; i++)
		if (calls[i].pid)
			kill(-calls[i].pid, SIGTERM);
	if (wait_all(calls, n, &patience) == 0)
		return;
	for (unsigned i = 0; i < n; i++)
		if (calls[i].pid)
			kill(-calls[i].pid, SIGKILL);
	for (unsigned i = 0; i < n; i++)
		if (calls[i].pid)
			(void)!sp__child_wait(calls[i].pid, &calls[i].status);
}

int sp__calls_run(struct sp__dbm_call *calls, unsigned n, const struct sp__dbm_limits *limits,
		  struct sp_errinfo *err)
{
	int rc = 0;

	for (unsigned i = 0; i < n; i++)
		calls[i].pid = 0;
	for (unsigned i = 0; !rc && i < n; i++)
		rc = start(&calls[i], err);
	if (!rc)
		rc = wait_all(calls, n, limits);
	if (rc)
		end_all(calls, n);
	return rc;
}
