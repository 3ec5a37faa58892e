/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spill/space.h"
#include "spill/writer.h"
#include "tap.h"

static char dir[] = "/tmp/spindle-filter-XXXXXX";

static const char *in_dir(const char *name)
{
	static char path[4][256];
	static unsigned turn;

	snprintf(path[++turn % 4], sizeof(path[0]), "%s/%s", dir, name);
	return path[turn % 4];
}

static void script(const char *name, const char *text)
{
	int fd = open(in_dir(name), O_WRONLY | O_CREAT | O_CLOEXEC, 0755);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static int temp(const char *name, const char *text)
{
	int fd = open(in_dir(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    lseek(fd, 0, SEEK_SET))
		abort();
	return fd;
}

static const char *content(int fd)
{
	static char buf[4096];
	ssize_t n = pread(fd, buf, sizeof(buf) - 1, 0);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

static bool no_children(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

/* Runs program on text; returns its output and wait status. */
static const char *filtered(const char *program, bool unpack, const char *text, int *rc,
			    struct sp_errinfo *err)
{
	struct sp__filter f;
	int in = temp("in", text), out = temp("out", "");
	const char *got;

	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	*rc = sp__filter_start(&f, program, unpack, in, out, err);
	if (*rc == 0)
		*rc = sp__filter_wait(&f, err);
	got = content(out);
	close(in);
	close(out);
	return got;
}

static void running(void)
{
	struct sp_errinfo err;
	int rc;

	script("flip", "#!/bin/sh\nif [ \"$1\" = -d ]; then exec tr b a; fi\nexec tr a b\n");
	ok(!strcmp(filtered(in_dir("flip"), false, "banana", &rc, &err), "bbnbnb") && rc == 0,
	   "PROG filters standard input to standard output");
	ok(!strcmp(filtered(in_dir("flip"), true, "bbb", &rc, &err), "aaa") && rc == 0,
	   "PROG -d unpacks");
	ok(!strcmp(filtered("cat", false, "as is", &rc, &err), "as is") && rc == 0,
	   "PROG is found along PATH");
	ok(no_children(), "no child is left");
}

static void failing(void)
{
	struct sp_errinfo err;
	int rc;

	script("fails", "#!/bin/sh\nexit 3\n");
	filtered(in_dir("fails"), false, "x", &rc, &err);
	ok(rc == SP_ECHILD && !strcmp(err.path, in_dir("fails")) &&
		   !strcmp(err.text, "[-d] terminated abnormally"),
	   "an exit status other than 0 is a failure, in GNU sort's words");
	script("dies", "#!/bin/sh\nkill -9 $$\n");
	filtered(in_dir("dies"), true, "x", &rc, &err);
	ok(rc == SP_ECHILD, "death by a signal is a failure");
	filtered(in_dir("absent"), false, "x", &rc, &err);
	ok(rc == -ENOENT && !strcmp(err.op, "execute") && !strcmp(err.path, in_dir("absent")),
	   "a missing program is reported at the start");
	filtered(in_dir("absent"), true, "x", &rc, &err);
	ok(rc == -ENOENT && !strcmp(err.op, "execute") && !strcmp(err.path, in_dir("absent")),
	   "so it is for unpacking");
	ok(no_children(), "failures leave no child");
}

static void signals(void)
{
	struct sp_errinfo err;
	sigset_t all;
	int rc;
	const char *got;

	script("pipe", "#!/bin/sh\nkill -PIPE $$\nexit 0\n");
	signal(SIGPIPE, SIG_IGN);
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	filtered(in_dir("pipe"), false, "", &rc, &err);
	ok(rc == SP_ECHILD, "SIGPIPE, ignored and blocked here, ends the child");
	signal(SIGHUP, SIG_IGN);
	script("hup", "#!/bin/sh\nkill -HUP $$\necho alive\n");
	got = filtered(in_dir("hup"), false, "", &rc, &err);
	ok(rc == 0 && !strcmp(got, "alive\n"), "an ignored signal stays ignored");
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
}

/* Descriptors 0 and 1 themselves, crossed. */
static void crossed(void)
{
	int in = temp("in", "crossed"), out = temp("out", ""), was[2], rc;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__filter f;
	bool same;

	fflush(stdout);
	was[0] = fcntl(0, F_DUPFD_CLOEXEC, 10);
	was[1] = fcntl(1, F_DUPFD_CLOEXEC, 10);
	dup2(out, 0);
	dup2(in, 1);
	rc = sp__filter_start(&f, "cat", false, 1, 0, &err);
	if (!rc)
		rc = sp__filter_wait(&f, &err);
	if (was[0] >= 0)
		dup2(was[0], 0);
	dup2(was[1], 1);
	same = !strcmp(content(out), "crossed");
	ok(rc == 0 && same, "input may be descriptor 1 and output descriptor 0");
	close(in);
	close(out);
	close(was[0]);
	close(was[1]);
}

static void stopping(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__filter f;
	int in = temp("in", ""), out = temp("out", "");

	script("sleeps", "#!/bin/sh\nexec sleep 100\n");
	ok(sp__filter_start(&f, in_dir("sleeps"), false, in, out, &err) == 0 && f.pid > 0,
	   "a filter runs concurrently");
	sp__filter_stop(&f);
	ok(f.pid == 0 && no_children(), "a filter that is stopped is reaped");
	sp__filter_stop(&f);
	ok(sp__filter_wait(&f, &err) == 0, "stopping and waiting again do nothing");
	close(in);
	close(out);
}

static void regions(void)
{
	struct sp__regions r = { 7, 7 };
	int fd = temp("in", "some bytes"), pipes[2];

	sp__fiemap_regions(fd, 1, &r);
	ok((r.count == 1 && r.mean_bytes >= 10) || (r.count == 0 && r.mean_bytes == 0),
	   "a small file is one region, or it is unknown");
	close(fd);
	if (pipe2(pipes, O_CLOEXEC))
		abort();
	r.count = 7;
	sp__fiemap_regions(pipes[0], 0, &r);
	ok(r.count == 0 && r.mean_bytes == 0, "a pipe lies nowhere");
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	char command[128];
	int rc;

	if (!mkdtemp(dir))
		return 1;
	running();
	failing();
	signals();
	crossed();
	stopping();
	regions();
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	rc = system(command);
	return done() || rc;
}
