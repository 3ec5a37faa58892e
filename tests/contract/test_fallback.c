/* SPDX-License-Identifier: MIT */
/*
 * What "auto" makes of a system that refuses something: the next engine, and no
 * request lost.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/mem.h"
#include "base/rng.h"
#include "io/queue.h"
#include "forbid.h"
#include "tap.h"

#define BLOCK 8192u
#define NBLOCKS 24u
#define BYTES ((size_t)NBLOCKS * BLOCK)
#define DEPTH 8u

static char *pool; /* NBLOCKS to write, NBLOCKS to read into */
static struct sp__request reqs[NBLOCKS];

static struct sp__volume *temp(void)
{
	const char *dir = getenv("TMPDIR");
	struct sp__volume *v = NULL;

	ok(sp__volume_temp(&v, dir && *dir ? dir : "/tmp", SP__DIRECT_NEVER, NULL) == 0,
	   "a temporary volume opens");
	return v;
}

static struct sp__queue *open_queue(const char *engine, bool with_pool)
{
	struct sp__queue_opts o = { .engine = engine, .depth = DEPTH };
	struct sp__queue *q = NULL;

	if (with_pool) {
		o.pool = pool;
		o.pool_bytes = 2 * BYTES;
	}
	return sp__queue_open(&q, &o, NULL) ? NULL : q;
}

/* One batch, beyond the depth where that is; what came back. */
static int round_trip(struct sp__queue *q, unsigned n)
{
	struct sp__request *batch[NBLOCKS] = { NULL }, *done[NBLOCKS];
	int rc, got = 0;

	for (unsigned i = 0; i < n; i++)
		batch[i] = &reqs[i];
	rc = sp__queue_submit(q, batch, n);
	while (rc == 0 && (unsigned)got < n) {
		rc = sp__queue_reap(q, done, NBLOCKS, 1, -1);
		if (rc <= 0)
			return rc;
		got += rc;
		rc = 0;
	}
	return rc ? rc : got;
}

/* One request over the first bytes of the volume, from or to that place of the pool. */
static int one(struct sp__queue *q, struct sp__volume *v, enum sp__op op, char *at, uint32_t bytes)
{
	reqs[0] = (struct sp__request){ .op = op, .volume = v, .data = at, .bytes = bytes };
	return round_trip(q, 1) == 1 ? reqs[0].result : -54321;
}

/* In a process of its own, as a filter stays for ever: what "auto" then is. */
static void check_forbidden(unsigned a, unsigned b, const char *want)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0) {
		struct sp__queue *q;

		if (!forbid_calls(a, b, EPERM))
			_exit(77);
		q = open_queue("auto", true);
		_exit(!q || strcmp(sp__queue_engine(q), want) != 0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("a forbidden engine is passed over", "no system call filters here");
	else
		ok(status == 0, "without system calls %u and %u \"auto\" is %s, without an error",
		   a, b, want);
}

/* Root is exempt from the limit on processes. */
static bool refuse_threads(void)
{
	struct rlimit none = { 1, 1 };

	return (getuid() != 0 || setresuid(65534, 65534, 65534) == 0) &&
	       setrlimit(RLIMIT_NPROC, &none) == 0;
}

/* Writes all blocks; how many requests have that result. */
static unsigned write_threadless(struct sp__queue *q, struct sp__volume *v, int result)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NBLOCKS; i++)
		reqs[i] = (struct sp__request){ .op = SP__OP_WRITE,
						.volume = v,
						.offset = (uint64_t)i * BLOCK,
						.data = pool + (size_t)i * BLOCK,
						.bytes = BLOCK };
	if (!q || round_trip(q, NBLOCKS) != (int)NBLOCKS)
		return NBLOCKS + 1;
	for (unsigned i = 0; i < NBLOCKS; i++)
		n += reqs[i].result == result;
	return n;
}

/* 77: here io_uring needs no thread. */
static int threadless(struct sp__volume *v)
{
	struct sp__queue *q;

	if (!refuse_threads() || !(q = open_queue("io_uring", true)) ||
	    !write_threadless(q, v, SP_ETHREAD))
		return 77;
	sp__queue_close(q);
	q = open_queue("auto", true);
	if (write_threadless(q, v, BLOCK) != NBLOCKS)
		return 1;
	if (strcmp(sp__queue_engine(q), "io_uring") == 0 || !sp__queue_pool_rc(q))
		return 2;
	if (one(q, v, SP__OP_READ, pool + BYTES, (uint32_t)BYTES) != (int)BYTES)
		return 3;
	return memcmp(pool, pool + BYTES, BYTES) == 0 ? 0 : 4;
}

static void check_threadless(void)
{
	struct sp__volume *v = temp();
	struct sp__rng rng = { 42 };
	int status = 1;
	pid_t pid;

	for (size_t i = 0; i < BYTES; i++)
		pool[i] = (char)sp__rng_next(&rng);
	pid = fork();
	if (pid == 0)
		_exit(threadless(v));
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("no thread for io_uring", "io_uring needs none here, or is not here");
	else
		ok(status == 0,
		   "\"auto\" uses another engine if io_uring gets no "
		   "thread: every request is done (status %#x)",
		   (unsigned)status);
	sp__volume_close(v);
}

/* Few descriptors: "auto" does without a ring and without an error. */
static void check_fallback(void)
{
	struct rlimit before, few;
	struct sp__queue *q;
	struct sp__volume *v = temp();
	int next = dup(0);

	close(next);
	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = (rlim_t)next;
	setrlimit(RLIMIT_NOFILE, &few);
	q = open_queue(NULL, false);
	ok(q && strcmp(sp__queue_engine(q), "io_uring") != 0,
	   "without descriptors an engine is found that needs none");
	ok(q && one(q, v, SP__OP_WRITE, pool, BLOCK) == (int)BLOCK, "and it works");
	sp__queue_close(q);
	ok(open_queue("io_uring", false) == NULL, "io_uring by name is then refused");
	setrlimit(RLIMIT_NOFILE, &before);
	sp__volume_close(v);
}

int main(void)
{
	pool = sp__pages_alloc(2 * BYTES, false);
	check_fallback();
	check_forbidden(SYS_io_uring_setup, SYS_io_uring_setup, "libaio");
	check_forbidden(SYS_io_uring_setup, SYS_io_setup, "sync");
	check_forbidden(SYS_io_uring_enter, SYS_io_uring_enter, "libaio");
	check_forbidden(SYS_io_uring_register, SYS_io_uring_register, "libaio");
	check_threadless();
	sp__pages_free(pool, 2 * BYTES);
	return done();
}
