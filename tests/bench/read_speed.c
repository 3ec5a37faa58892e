/* SPDX-License-Identifier: MIT */
/*
 * What the reads of a trace cost a program that does nothing else: the floor under a join by
 * index nested loops.
 *
 *	read_speed TRACE sync|io_uring DEPTH FILE...
 *
 * Repeats the reads of these files in TRACE, spindle-trace(5), in its order and with its offsets
 * and sizes, past the page cache: with pread(2), one after the other; or with io_uring, as
 * liburing has it, DEPTH outstanding and each completion replaced immediately.  One line: reads,
 * bytes, seconds, microseconds of the processor for each read, with tabs between.  The time is
 * that of the reads, without loading the trace.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "trace/sequence.h"

#define FILES_MAX 16
#define DEPTH_MAX 4096u

struct one {
	int fd;
	uint32_t bytes;
	uint64_t offset;
};

struct load {
	struct one *reads;
	size_t n;
	uint64_t bytes;
	unsigned depth;
	char *memory; /* depth buffers */
	size_t each_bytes;
};

static void fail(const char *what, int rc)
{
	fprintf(stderr, "read_speed: %s: %s\n", what, sp_strerror(rc));
	exit(2);
}

static void open_files(char **names, int n, int *fd)
{
	for (int i = 0; i < n; i++) {
		fd[i] = open(names[i], O_RDONLY | O_CLOEXEC | O_DIRECT);
		if (fd[i] < 0)
			fail(names[i], -errno);
	}
}

static void load(struct load *l, const char *trace, char **names, int n)
{
	struct sp_sequence *seq;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp_sequence_load(&seq, trace, NULL, &err), fd[FILES_MAX];

	if (rc)
		fail(trace, rc);
	open_files(names, n, fd);
	l->reads = calloc(seq->n + 1, sizeof(*l->reads));
	if (!l->reads)
		fail("allocate", -ENOMEM);
	for (size_t i = 0; i < seq->n; i++) {
		const struct sp__seqreq *r = &seq->req[i];
		int k = 0;

		while (k < n && strcmp(seq->volume[r->volume].name, names[k]))
			k++;
		if (r->write || k == n)
			continue;
		l->reads[l->n++] = (struct one){ fd[k], r->bytes, r->offset };
		l->bytes += r->bytes;
		if (l->each_bytes < r->bytes)
			l->each_bytes = r->bytes;
	}
	sp_sequence_free(seq);
	l->memory = sp__pages_alloc(l->depth * l->each_bytes, false);
	if (!l->memory)
		fail("allocate", -ENOMEM);
}

static void check(const struct one *r, ssize_t got)
{
	if (got != (ssize_t)r->bytes)
		fail("read", got < 0 ? (int)got : SP_ECORRUPT);
}

static void run_sync(struct load *l)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct one *r = &l->reads[i];
		ssize_t got = pread(r->fd, l->memory, r->bytes, (off_t)r->offset);

		check(r, got < 0 ? -errno : got);
	}
}

static void put(struct load *l, struct io_uring *ring, size_t i, unsigned buffer)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);
	const struct one *r = &l->reads[i];

	io_uring_prep_read(sqe, r->fd, l->memory + buffer * l->each_bytes, r->bytes, r->offset);
	io_uring_sqe_set_data64(sqe, (uint64_t)i * DEPTH_MAX + buffer);
}

static void run_uring(struct load *l)
{
	struct io_uring ring;
	struct io_uring_cqe *cqe;
	size_t next = 0, done = 0;
	int rc = io_uring_queue_init(l->depth, &ring,
				     IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);

	if (rc)
		fail("io_uring", rc);
	for (; next < l->n && next < l->depth; next++)
		put(l, &ring, next, (unsigned)next);
	while (done < l->n) {
		rc = io_uring_submit_and_wait(&ring, 1);
		if (rc < 0)
			fail("io_uring", rc);
		while (!io_uring_peek_cqe(&ring, &cqe)) {
			uint64_t data = io_uring_cqe_get_data64(cqe);

			check(&l->reads[data / DEPTH_MAX], cqe->res);
			io_uring_cqe_seen(&ring, cqe);
			done++;
			if (next < l->n)
				put(l, &ring, next++, (unsigned)(data % DEPTH_MAX));
		}
	}
	io_uring_queue_exit(&ring);
}

int main(int argc, char **argv)
{
	static struct load l;
	uint64_t begin, cpu;
	bool sync = argc > 2 && !strcmp(argv[2], "sync");

	l.depth = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
	if (argc < 5 || argc > 4 + FILES_MAX || l.depth < 1 || l.depth > DEPTH_MAX) {
		fprintf(stderr, "usage: read_speed TRACE sync|io_uring DEPTH FILE...\n");
		return 2;
	}
	load(&l, argv[1], argv + 4, argc - 4);
	if (!l.n)
		fail(argv[1], SP_EFORMAT);
	begin = sp__now_ns();
	cpu = sp__cpu_ns();
	if (sync)
		run_sync(&l);
	else
		run_uring(&l);
	printf("%zu\t%llu\t%.6f\t%.3f\n", l.n, (unsigned long long)l.bytes,
	       (double)(sp__now_ns() - begin) / 1e9,
	       (double)(sp__cpu_ns() - cpu) / 1e3 / (double)l.n);
	sp__pages_free(l.memory, l.depth * l.each_bytes);
	free(l.reads);
	return 0;
}
