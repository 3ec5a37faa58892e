/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads runs through the pipes of a compression program, a child process.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <spindle/batch.h>
#include "base/child.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/whole.h"
#include "spill/writer.h"

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

/* Reports a failure like sp__filter_wait(), for a failure that the exit status hides. */
static int filter_failed(const struct sp__filter *filter, struct sp_errinfo *err)
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
	return filter_failed(filter, err);
}

void sp__filter_stop(struct sp__filter *filter)
{
	int status;

	if (!filter->pid)
		return;
	kill(filter->pid, SIGTERM);
	(void)reap(filter, &status);
}

/* Larger than the default: fewer context switches between us and the program. */
#define PIPE_BYTES (256 << 10)

static int open_pipe(const char *program, int fds[2], struct sp_errinfo *err)
{
	if (pipe2(fds, O_CLOEXEC) < 0)
		return sp__err(err, -errno, "execute", program, -1);
	/* Any size works. */
	(void)fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	return 0;
}

static int make_file(struct sp__run *run, const char *dir, struct sp_errinfo *err)
{
	struct sp__volume *v;
	int rc = sp__volume_temp(&v, dir, SP__DIRECT_NEVER, err);

	if (rc < 0)
		return rc;
	v->owned = false;
	run->filter_fd = v->fd;
	sp__volume_close(v);
	return 0;
}

static int start_packing(struct sp__packer *p, const char *program, const struct sp__run *run)
{
	int fds[2], rc = open_pipe(program, fds, NULL);

	if (rc < 0)
		return rc;
	rc = sp__filter_start(&p->child, program, false, fds[0], run->filter_fd, NULL);
	close(fds[0]);
	p->fd = fds[1];
	if (rc < 0)
		close(fds[1]);
	return rc;
}

/* A program that cannot be run is reported and not used, as in GNU sort. */
int sp__packer_open(struct sp__packer *p, struct sp__spill *spill, struct sp__run *run,
		    const char *dir)
{
	int rc = make_file(run, dir, spill->opts.err);

	if (rc < 0)
		return rc;
	rc = start_packing(p, spill->opts.program, run);
	run->filter_raw = rc < 0;
	if (rc < 0) {
		p->fd = run->filter_fd;
		p->dir = dir;
		if (!spill->program_error)
			spill->program_error = -rc;
	}
	return 0;
}

/* Suppresses SIGPIPE, which would end the process for a failure of the program. */
static ssize_t write_without_signal(int fd, const char *data, size_t bytes)
{
	const struct timespec at_once = { 0 };
	sigset_t pipe, pending, before;
	ssize_t n;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	do
		n = write(fd, data, bytes);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		n = -errno;
	if (n == -EPIPE && !sigismember(&pending, SIGPIPE))
		while (sigtimedwait(&pipe, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return n;
}

/* Reports a program that closed the pipe before all was written: a failure with any exit status. */
static int left_early(struct sp__packer *p, struct sp_errinfo *err)
{
	int rc;

	close(p->fd);
	rc = sp__filter_wait(&p->child, err);
	return rc < 0 ? rc : filter_failed(&p->child, err);
}

int sp__packer_write(struct sp__packer *p, struct sp__spill *spill, const void *data, size_t bytes)
{
	const char *at = data, *end = at + bytes;

	while (at < end) {
		ssize_t n = write_without_signal(p->fd, at, (size_t)(end - at));

		if (n == -EPIPE)
			return left_early(p, spill->opts.err);
		if (n < 0)
			return sp__err(spill->opts.err, (int)n, "write",
				       p->dir ? p->dir : spill->opts.program, -1);
		at += n;
		spill->past.write_requests++;
		spill->past.write_bytes += (uint64_t)n;
	}
	return 0;
}

int sp__packer_finish(struct sp__packer *p, struct sp__spill *spill, const struct sp__run *run)
{
	uint64_t bytes;
	int rc;

	if (!run->filter_raw)
		close(p->fd);
	rc = sp__filter_wait(&p->child, spill->opts.err);
	bytes = sp__file_bytes(run->filter_fd);
	spill->write_bytes += bytes;
	spill->peak_bytes_now += bytes;
	if (spill->peak_bytes_now > spill->peak_bytes)
		spill->peak_bytes = spill->peak_bytes_now;
	return rc;
}

void sp__packer_close(struct sp__packer *p)
{
	if (!p->child.pid)
		return;
	close(p->fd);
	sp__filter_stop(&p->child);
}

struct source {
	struct sp__filter child;
	struct sp__run *run;
	int fd;	      /* the pipe, or the file itself; -1: closed */
	size_t page;  /* the next page to read */
	uint64_t sum; /* sum of the current group, for verification */
	char *mem;
	uint64_t file_bytes;
};

struct sp__unpackers {
	struct sp__spill *spill;
	unsigned n;
	struct source sources[];
};

static int start_program(struct sp__unpackers *u, struct source *src)
{
	const char *program = u->spill->opts.program;
	struct sp_errinfo *err = u->spill->opts.err;
	int fds[2], rc = open_pipe(program, fds, err);

	if (rc < 0)
		return rc;
	rc = sp__filter_start(&src->child, program, true, src->run->filter_fd, fds[1], err);
	close(fds[1]);
	src->fd = fds[0];
	if (rc == 0)
		close(src->run->filter_fd);
	return rc;
}

static int start(struct sp__unpackers *u, struct source *src)
{
	int fd = src->run->filter_fd, rc = 0;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return sp__err(u->spill->opts.err, -errno, "seek", u->spill->opts.program, -1);
	src->file_bytes = sp__file_bytes(fd);
	if (src->run->filter_raw)
		src->fd = fd;
	else
		rc = start_program(u, src);
	if (rc == 0)
		src->run->filter_fd = -1;
	return rc;
}

int sp__unpackers_open(struct sp__unpackers **out, struct sp__spill *spill,
		       struct sp__run *const *runs, unsigned n, void *mem)
{
	struct sp__unpackers *u = calloc(1, sizeof(*u) + n * sizeof(u->sources[0]));
	int rc = 0;

	if (!u)
		return sp__err(spill->opts.err, -ENOMEM, "allocate", NULL, -1);
	u->spill = spill;
	for (; !rc && u->n < n; u->n++) {
		struct source *src = &u->sources[u->n];

		*src = (struct source){ .run = runs[u->n], .fd = -1 };
		src->mem = (char *)mem + (size_t)u->n * spill->opts.page_bytes;
		rc = start(u, src);
	}
	if (rc < 0) {
		sp__unpackers_close(u);
		return rc;
	}
	*out = u;
	return 0;
}

/*
 * Reads up to the given number of bytes; fewer only at the end.  Returns their number or an error.
 */
static ssize_t read_up_to(struct sp__unpackers *u, struct source *src, size_t bytes)
{
	size_t have = 0;

	while (have < bytes) {
		ssize_t n = read(src->fd, src->mem + have, bytes - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return sp__err(u->spill->opts.err, -errno, "read", u->spill->opts.program,
				       -1);
		if (n == 0)
			break;
		have += (size_t)n;
		u->spill->past.read_requests++;
		u->spill->past.read_bytes += (uint64_t)n;
	}
	return (ssize_t)have;
}

static int differs(struct sp__unpackers *u)
{
	return sp__errf(u->spill->opts.err, SP_ECORRUPT, "read", u->spill->opts.program, -1,
			"[-d] returned other data than was written");
}

static void close_pipe(struct sp__unpackers *u, struct source *src)
{
	if (src->fd < 0)
		return;
	close(src->fd);
	src->fd = -1;
	u->spill->read_bytes += src->file_bytes;
	u->spill->peak_bytes_now -= src->file_bytes;
}

/* Checks at the end of the pipe that the program has succeeded. */
static int end(struct sp__unpackers *u, struct source *src)
{
	int rc;

	close_pipe(u, src);
	rc = sp__filter_wait(&src->child, u->spill->opts.err);
	return rc < 0 ? rc : SP_END;
}

int sp__unpackers_get(struct sp__unpackers *u, size_t run, const char **data, size_t *bytes)
{
	struct source *src = &u->sources[run];
	bool more = src->page < src->run->npages;
	ssize_t n;
	int rc;

	if (!more && src->fd < 0)
		return SP_END;
	*bytes = more ? sp__spill_page_payload(u->spill, src->run, src->page) : 1;
	n = read_up_to(u, src, *bytes);
	if (n < 0)
		return (int)n;
	if ((size_t)n < *bytes) {
		/* The program's own failure explains more than the missing data. */
		rc = end(u, src);
		return rc < 0 || !more ? rc : differs(u);
	}
	if (!more ||
	    !sp__run_verify_page(src->run, &src->sum, src->page, sp__checksum(src->mem, *bytes)))
		return differs(u);
	src->page++;
	*data = src->mem;
	return SP_READY;
}

void sp__unpackers_close(struct sp__unpackers *u)
{
	if (!u)
		return;
	for (unsigned i = 0; i < u->n; i++) {
		close_pipe(u, &u->sources[i]);
		sp__filter_stop(&u->sources[i].child);
	}
	free(u);
}
