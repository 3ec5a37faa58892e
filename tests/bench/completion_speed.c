/* SPDX-License-Identifier: MIT */
/*
 * Ways to wait for completions, compared (figure 8 of Iyengar et al. 2008): in the kernel, by
 * polling, by an event file descriptor.
 *
 *	completion_speed FILE [DEPTH [READS [ROUNDS]]]
 *
 * Reads blocks of 4096 bytes at random offsets of FILE, bypassing the page cache, with DEPTH (64)
 * outstanding; ROUNDS (5) times READS (20000), the ways alternately.  Prints a line for each way
 * and round: engine, way, depth, round, microseconds of time and of the processor per read, with
 * tabs between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "io/queue.h"

#define BLOCK 4096u
#define DEPTH_MAX 1024u

struct load {
	struct sp__volume *volume;
	unsigned depth;
	uint64_t reads, left;
	struct sp__rng rng;
	char *memory;
	struct sp__request req[DEPTH_MAX];
};

static void fail(const char *what, int rc)
{
	fprintf(stderr, "completion_speed: %s: %s\n", what, sp_strerror(rc));
	exit(2);
}

static void submit(struct load *l, struct sp__queue *q, struct sp__request **reqs, int n)
{
	int rc;

	for (int i = 0; i < n; i++)
		reqs[i]->offset = sp__rng_below(&l->rng, l->volume->size_bytes / BLOCK) * BLOCK;
	rc = n ? sp__queue_submit(q, reqs, (size_t)n) : 0;
	if (rc)
		fail("submit", rc);
	l->left -= (uint64_t)n;
}

static void run(struct load *l, struct sp__queue *q)
{
	struct sp__request *reqs[DEPTH_MAX];
	unsigned n = l->depth < l->reads ? l->depth : (unsigned)l->reads;

	l->rng = (struct sp__rng){ 1 };
	l->left = l->reads;
	for (unsigned i = 0; i < n; i++) {
		l->req[i] = (struct sp__request){ .volume = l->volume,
						  .data = l->memory + i * BLOCK,
						  .bytes = BLOCK };
		reqs[i] = &l->req[i];
	}
	submit(l, q, reqs, (int)n);
	while (sp__queue_outstanding(q)) {
		int done = sp__queue_reap(q, reqs, l->depth, 1, -1);

		if (done < 0)
			fail("reap", done);
		for (int i = 0; i < done; i++)
			if (reqs[i]->result < 0)
				fail("read", reqs[i]->result);
		submit(l, q, reqs, (uint64_t)done < l->left ? done : (int)l->left);
	}
}

static void measure(struct load *l, const char *engine, enum sp__completion how, int round)
{
	static const char *const ways[] = { "wait", "poll", "event" };
	struct sp__queue_opts o = {
		.engine = engine, .depth = l->depth, .completion = how, .bound = true
	};
	uint64_t begin, cpu;
	struct sp__queue *q;
	int rc = sp__queue_open(&q, &o, NULL);

	if (rc) {
		fprintf(stderr, "completion_speed: %s: %s\n", engine, sp_strerror(rc));
		return;
	}
	begin = sp__now_ns();
	cpu = sp__cpu_ns();
	run(l, q);
	printf("%s\t%s\t%u\t%d\t%.2f\t%.2f\n", engine, ways[how], l->depth, round,
	       (double)(sp__now_ns() - begin) / 1e3 / (double)l->reads,
	       (double)(sp__cpu_ns() - cpu) / 1e3 / (double)l->reads);
	sp__queue_close(q);
}

int main(int argc, char **argv)
{
	static struct load l;
	int rounds = argc > 4 ? atoi(argv[4]) : 5, fd, rc;

	l.depth = argc > 2 ? (unsigned)atoi(argv[2]) : 64;
	l.reads = argc > 3 ? strtoull(argv[3], NULL, 10) : 20000;
	if (argc < 2 || l.depth < 1 || l.depth > DEPTH_MAX || !l.reads || rounds < 1) {
		fprintf(stderr, "usage: completion_speed FILE [DEPTH [READS [ROUNDS]]]\n");
		return 2;
	}
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	rc = fd < 0 ? -errno : sp__volume_reopen_direct(&l.volume, fd, false, argv[1]);
	if (rc || l.volume->size_bytes < BLOCK)
		fail(argv[1], rc ? rc : -EINVAL);
	l.memory = sp__pages_alloc((size_t)l.depth * BLOCK, false);
	if (!l.memory)
		fail("allocate", -ENOMEM);
	for (int round = 0; round < rounds; round++)
		for (int how = SP__COMPLETE_WAIT; how <= SP__COMPLETE_EVENT; how++) {
			measure(&l, "io_uring", (enum sp__completion)how, round);
			measure(&l, "libaio", (enum sp__completion)how, round);
		}
	sp__pages_free(l.memory, (size_t)l.depth * BLOCK);
	sp__volume_close(l.volume);
	close(fd);
	return 0;
}
