/* SPDX-License-Identifier: MIT */
/*
 * Making the files of a case, and running the programs on them.  Either program has a
 * folder of its own, as each may write.
 */
#ifndef DIFF_SORTRUN_H
#define DIFF_SORTRUN_H

#include <fcntl.h>
#include "sortinput.h"

/* Running. */

struct run {
	const char *dir, *output; /* output: a file there, unless there is out */
	int in, out;		  /* -1: none */
};

static void gather(const struct args *const *parts, const char **argv)
{
	unsigned n = 1;

	argv[0] = "sort";
	for (; *parts; parts++)
		for (unsigned i = 0; i < (*parts)->n; i++)
			argv[n++] = (*parts)->v[i];
	argv[n] = NULL;
}

static void to(int fd, int want)
{
	if (fd < 0 || dup2(fd, want) < 0)
		_exit(126);
	if (fd != want)
		close(fd);
}

static pid_t start(const char *program, const char *const *argv, const struct sort_case *c,
		   const struct run *r)
{
	char delay[32];
	pid_t pid = fork();

	if (pid < 0)
		abort();
	if (pid)
		return pid;
	sprintf(delay, "%llu", (unsigned long long)c->seed);
	setenv("LC_ALL", c->key->locale, 1);
	setenv("LOCPATH", locale_dir, 1);
	setenv("SP_TASK_DELAY", delay, 1);
	if (chdir(r->dir))
		_exit(126);
	to(r->in >= 0 ? r->in : open("/dev/null", O_RDONLY), 0);
	to(r->out >= 0 ? r->out : open(r->output, O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
	to(open("stderr", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
	execv(program, (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* Starts a process that writes a file to a pipe in odd amounts; returns the reading end. */
static int feed(struct sort_case *c, const char *dir, const char *name, pid_t *pid)
{
	struct text t = { 0 };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		abort();
	*pid = fork();
	if (*pid < 0)
		abort();
	if (*pid) {
		close(ends[1]);
		return ends[0];
	}
	close(ends[0]);
	read_file(dir, name, &t);
	for (size_t at = 0; at < t.bytes;) {
		size_t n = 1 + draw(&c->rng, 1u << (4 + draw(&c->rng, 14)));
		ssize_t got = write(ends[1], t.data + at, n < t.bytes - at ? n : t.bytes - at);

		if (got < 0)
			_exit(1);
		at += (size_t)got;
	}
	_exit(0);
}

static const char *stdin_name(const struct sort_case *c)
{
	static char name[16];

	snprintf(name, sizeof(name), "in%d", c->stdin_piece);
	return name;
}

/* Standard input of a program; -1: none. */
static int open_stdin(const struct sort_case *c, const char *dir)
{
	char path[512];
	int fd;

	if (c->stdin_piece < 0)
		return -1;

	snprintf(path, sizeof(path), "%s/%s", dir, stdin_name(c));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		abort();
	return fd;
}

/* GNU sort with what decides the order, and one option more or NULL; it takes over `in`. */
static pid_t start_gnu(const struct sort_case *c, const char *dir, const char *option,
		       const struct args *files, int in, const char *output)
{
	const struct run r = { dir, output, in, -1 };
	const char *argv[3 * ARGS_MAX];
	struct args more = { 0 };
	pid_t pid;

	if (option)
		add(&more, "%s", option);
	if (c->csv)
		add(&more, "-t,");
	gather((const struct args *const[]){ &c->order, &more, files, NULL }, argv);
	pid = start(gnu_path, argv, c, &r);
	if (in >= 0)
		close(in);
	return pid;
}

static void must_succeed(pid_t pid)
{
	int status = status_of(pid);

	if (status) {
		printf("Bail out! GNU sort: status %x\n", (unsigned)status);
		exit(2);
	}
}

/* The output of a program up to its end. */
static void drain(int fd, pid_t pid, struct text *t)
{
	char buf[65536];
	ssize_t n;

	expired = 0;
	alarm(PATIENCE_S);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n > 0)
			text_put(t, buf, (size_t)n);
		else if (expired)
			kill(pid, SIGKILL);
	}
	close(fd);
}

static void read_result(const struct sort_case *c, const char *dir, struct text *got)
{
	struct text part = { 0 };
	char name[16];

	if (!is(c, RESULT, "split"))
		read_file(dir,
			  is(c, RESULT, "output")  ? "out"
			  : is(c, RESULT, "input") ? "in0"
						   : "stdout",
			  got);
	for (unsigned i = 0; is(c, RESULT, "split") && i <= SPLITTERS; i++) {
		snprintf(name, sizeof(name), "part%u", i);
		read_file(dir, name, &part);
		text_put(got, part.data, part.bytes);
	}
	free(part.data);
}

/* Runs xsort; its status. */
static int run_xsort(struct sort_case *c, const char *dir, const char *const *argv,
		     struct text *got)
{
	struct run r = { dir, "stdout", -1, -1 };
	int ends[2] = { -1, -1 }, status;
	pid_t feeder = 0, pid;

	r.in = c->stdin_pipe ? feed(c, dir, stdin_name(c), &feeder) : open_stdin(c, dir);
	if (is(c, RESULT, "pipe")) {
		if (pipe2(ends, O_CLOEXEC))
			abort();
		r.out = ends[1];
	}
	pid = start(xsort_path, argv, c, &r);
	if (r.in >= 0)
		close(r.in);
	got->bytes = 0;
	if (r.out >= 0) {
		close(r.out);
		drain(ends[0], pid, got);
	}
	status = status_of(pid);
	if (feeder)
		status_of(feeder);
	if (r.out < 0)
		read_result(c, dir, got);
	return status;
}

/* Making the files. */

static void sort_file(struct sort_case *c, const char *dir, const char *name)
{
	struct args files = { 0 };

	add(&files, "-o%s", name);
	add(&files, "%s", name);
	must_succeed(start_gnu(c, dir, NULL, &files, -1, "stdout"));
}

/* The records in the opposite order; all are ended. */
static void reverse(struct text *t, char eol)
{
	struct text to_text = { 0 };
	size_t end = t->bytes;

	while (end) {
		size_t begin = end - 1;

		while (begin && t->data[begin - 1] != eol)
			begin--;
		text_put(&to_text, t->data + begin, end - begin);
		end = begin;
	}
	free(t->data);
	*t = to_text;
}

static void translate(struct text *t)
{
	for (size_t i = 0; i < t->bytes; i++)
		if (t->data[i] == NEWLINE)
			t->data[i] = '\n';
}

/* Piece i of n: from the first record that begins at its share or later. */
static size_t piece_begin(const struct text *t, unsigned i, unsigned n, char eol)
{
	size_t at = t->bytes / n * i;
	char *p;

	if (!i || i == n)
		return i ? t->bytes : 0;
	p = memchr(t->data + at, eol, t->bytes - at);
	return p ? (size_t)(p - t->data) + 1 : t->bytes;
}

static void write_pieces(struct sort_case *c, const char *const dirs[2], const struct text *t)
{
	struct text piece = { 0 };
	char name[16];

	for (unsigned i = 0; i < c->pieces; i++) {
		size_t begin = piece_begin(t, i, c->pieces, c->eol);

		piece.bytes = 0;
		text_put(&piece, t->data + begin, piece_begin(t, i + 1, c->pieces, c->eol) - begin);
		snprintf(name, sizeof(name), "in%u", i);
		write_file(dirs[0], name, &piece);
		if (is(c, SOURCE, "merge")) {
			sort_file(c, dirs[0], name);
			read_file(dirs[0], name, &piece);
		}
		if (c->csv)
			translate(&piece);
		write_file(dirs[1], name, &piece);
	}
	free(piece.data);
}

/* Some of the records, in order. */
static void write_splitters(struct sort_case *c, const char *const dirs[2], const struct text *t)
{
	struct text some = { 0 };

	for (unsigned i = 0; i < SPLITTERS; i++) {
		size_t begin = piece_begin(t, draw(&c->rng, 1000), 1000, c->eol);
		const char *end = memchr(t->data + begin, c->eol, t->bytes - begin);

		text_put(&some, t->data + begin, end ? (size_t)(end - t->data) - begin : 0);
		text_put(&some, &c->eol, 1);
	}
	write_file(dirs[0], "splitters", &some);
	sort_file(c, dirs[0], "splitters");
	read_file(dirs[0], "splitters", &some);
	if (c->csv)
		translate(&some);
	write_file(dirs[1], "splitters", &some);
	free(some.data);
}

static void set_up(struct sort_case *c, const char *const dirs[2])
{
	static const struct text salt = { (char *)(uintptr_t) "0123456789abcdef0123", 20, 0 };
	struct text t = { 0 };

	for (int d = 0; d < 2; d++) {
		make_dirs(dirs[d]);
		write_file(dirs[d], "salt", &salt);
	}
	make_input(c, &t);
	if (is(c, ORDER, "ordered")) {
		write_file(dirs[0], "in0", &t);
		sort_file(c, dirs[0], "in0");
		read_file(dirs[0], "in0", &t);
		if (draw(&c->rng, 2))
			reverse(&t, c->eol);
	}
	if (is(c, ENDS, "unended"))
		t.bytes--;
	write_pieces(c, dirs, &t);
	if (is(c, RESULT, "split"))
		write_splitters(c, dirs, &t);
	free(t.data);
}

#endif
