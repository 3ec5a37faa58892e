/* SPDX-License-Identifier: MIT */
/*
 * The contract of engines, as the queue shows it: the same checks for every
 * engine, plain and under the fault wrapper, on direct and buffered files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "io/queue.h"
#include "tap.h"

#define BLOCK 8192u
#define NBLOCKS 24u
#define DEPTH 8u

static const char *const engines[] = {
	"io_uring",
	"libaio",
	"sync",
	"null",
	"fault::io_uring",
	"fault::sync",
	"fault:REORDER=5:io_uring",
	"fault:REORDER=6:libaio",
	"fault:DELAY=300,COUNT=0:io_uring",
	"fault:ERROR=SHORT,COUNT=0:io_uring",
	"fault:ERROR=SHORT,COUNT=0:libaio",
	"fault:ERROR=EINTR,COUNT=3:sync",
	"fault:ERROR=EAGAIN,NTH=5,COUNT=9:io_uring",
	"fault:REORDER=1:fault:ERROR=SHORT,COUNT=0:sync",
	"sim",
	"fault:REORDER=3:sim",
	"fault:ERROR=SHORT,COUNT=0:sim",
};

static const char *const ways[] = { "", ", polled", ", signalled" };

static char *pool; /* NBLOCKS to write, NBLOCKS to read into */
static struct sp__request reqs[2 * NBLOCKS];
static const char *label;
static bool bound;		  /* queues stay with the thread that opens them */
static enum sp__completion how;	  /* how queues wait */
static struct sp__volume *device; /* while a simulating engine is tested */

static const char *directory(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir ? dir : "/tmp";
}

static struct sp__volume *temp(enum sp__direct direct)
{
	struct sp__volume *v = NULL;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp__volume_temp(&v, directory(), device ? SP__DIRECT_NEVER : direct, &err);

	if (!rc && device)
		rc = sp__volume_simulate(v, device, SP__SIM_SPILL, 0, &err);
	if (rc)
		ok(false, "a temporary volume opens (%s %s)", sp_strerror(rc), err.text);
	return v;
}

static struct sp__queue *open_queue(const char *engine, unsigned depth, bool with_pool)
{
	struct sp__queue_opts o = { .engine = engine,
				    .depth = depth,
				    .device = device,
				    .bound = bound,
				    .completion = how };
	struct sp__queue *q = NULL;

	if (with_pool) {
		o.pool = pool;
		o.pool_bytes = (size_t)2 * NBLOCKS * BLOCK;
	}
	return sp__queue_open(&q, &o, NULL) ? NULL : q;
}

static struct sp__request *request(unsigned i, enum sp__op op, struct sp__volume *v,
				   uint64_t offset, unsigned slot, uint32_t bytes)
{
	reqs[i] = (struct sp__request){ .op = op,
					.volume = v,
					.offset = offset,
					.data = pool + (size_t)slot * BLOCK,
					.bytes = bytes,
					.tag = i,
					.result = -12345 };
	return &reqs[i];
}

/* Submits one batch and reaps all of it; how many came back. */
static int round_trip(struct sp__queue *q, struct sp__request **batch, size_t n)
{
	struct sp__request *done[2 * NBLOCKS];
	int rc = sp__queue_submit(q, batch, n), got = 0;

	while (rc == 0 && (size_t)got < n) {
		rc = sp__queue_reap(q, done, 2 * NBLOCKS, 1, -1);
		if (rc <= 0)
			return rc;
		got += rc;
		rc = 0;
	}
	return rc ? rc : got;
}

static int one(struct sp__queue *q, struct sp__request *r)
{
	int rc = round_trip(q, &r, 1);

	return rc == 1 ? r->result : -54321;
}

static void fill(void)
{
	struct sp__rng rng = { 42 };

	for (size_t i = 0; i < (size_t)NBLOCKS * BLOCK / 8; i++)
		((uint64_t *)(void *)pool)[i] = sp__rng_next(&rng);
	memset(pool + (size_t)NBLOCKS * BLOCK, 0, (size_t)NBLOCKS * BLOCK);
}

/* Writes all blocks, last first, in one batch far beyond the depth. */
static void write_blocks(struct sp__queue *q, struct sp__volume *v)
{
	struct sp__request *batch[NBLOCKS];
	bool whole = true, timed = true;
	int n;

	for (unsigned i = 0; i < NBLOCKS; i++)
		batch[i] = request(i, SP__OP_WRITE, v, (uint64_t)(NBLOCKS - 1 - i) * BLOCK,
				   NBLOCKS - 1 - i, BLOCK);
	n = round_trip(q, batch, NBLOCKS);
	for (unsigned i = 0; i < NBLOCKS; i++) {
		whole &= reqs[i].result == (int)BLOCK;
		timed &= reqs[i].done_ns > 0 && reqs[i].done_ns >= reqs[i].submit_ns;
	}
	ok(n == (int)NBLOCKS, "%s: every request of a batch larger than the depth comes back",
	   label);
	ok(whole, "%s: every write moves all of its bytes", label);
	ok(timed, "%s: no request is done before it was submitted", label);
	v->size_bytes = (uint64_t)NBLOCKS * BLOCK;
}

static void read_blocks(struct sp__queue *q, struct sp__volume *v, bool moves)
{
	bool seen[NBLOCKS] = { false }, whole = true, once = true;
	struct sp__request *done[3];
	unsigned out = 0, back = 0;

	while (back < NBLOCKS) {
		while (out < NBLOCKS && sp__queue_outstanding(q) < DEPTH) {
			struct sp__request *r = request(out, SP__OP_READ, v, (uint64_t)out * BLOCK,
							NBLOCKS + out, BLOCK);

			r->prio = out % 2 ? (2 << 13) | 4 : 0;
			if (sp__queue_submit(q, &r, 1))
				break;
			out++;
		}
		int n = sp__queue_reap(q, done, 3, 1, -1);

		if (n <= 0)
			break;
		for (int i = 0; i < n; i++, back++) {
			once &= !seen[done[i]->tag];
			seen[done[i]->tag] = true;
			whole &= done[i]->result == (int)BLOCK;
		}
	}
	ok(back == NBLOCKS && once, "%s: every read comes back once", label);
	ok(whole, "%s: every read moves all of its bytes", label);
	if (moves)
		ok(memcmp(pool, pool + (size_t)NBLOCKS * BLOCK, (size_t)NBLOCKS * BLOCK) == 0,
		   "%s: what was written is read back", label);
}

static void check_ends(struct sp__queue *q, struct sp__volume *v)
{
	uint64_t end = (uint64_t)NBLOCKS * BLOCK;
	struct sp__request *none[1];

	ok(one(q, request(0, SP__OP_READ, v, end - BLOCK / 2, 0, BLOCK)) == (int)BLOCK / 2,
	   "%s: a read across the end of the file is short", label);
	ok(one(q, request(0, SP__OP_READ, v, end, 0, BLOCK)) == 0,
	   "%s: a read at the end of the file moves nothing", label);
	ok(one(q, request(0, SP__OP_READ, v, 0, 0, 0)) == 0, "%s: a read of nothing gives nothing",
	   label);
	ok(one(q, request(0, SP__OP_WRITE, v, 0, 0, 0)) == 0,
	   "%s: a write of nothing gives nothing", label);
	ok(sp__queue_reap(q, none, 1, 1, -1) == 0, "%s: a reap with nothing outstanding returns",
	   label);
	ok(sp__queue_reap(q, none, 1, 0, 0) == 0 && sp__queue_outstanding(q) == 0,
	   "%s: nothing is outstanding when all has been reaped", label);
}

/* A file that ends at an odd byte. */
static void check_tail(struct sp__queue *q, struct sp__volume *v)
{
	if (ftruncate(v->fd, 3 * BLOCK + 100))
		ok(false, "the file is truncated");
	v->size_bytes = 3 * BLOCK + 100;
	ok(one(q, request(0, SP__OP_READ, v, 3 * BLOCK, 0, BLOCK)) == 100,
	   "%s: a tail that is not a whole block is read as a short result", label);
	ok(one(q, request(0, SP__OP_READ, v, 2 * BLOCK, 0, 2 * BLOCK)) == BLOCK + 100,
	   "%s: the same after a whole block", label);
}

static void check_bad_fd(struct sp__queue *q)
{
	struct sp__volume gone = { .fd = -1, .align_bytes = 4096, .name = (char[]){ "gone" } };
	struct sp__request *batch[2];
	struct sp__volume *v = temp(SP__DIRECT_NEVER);

	batch[0] = request(0, SP__OP_WRITE, &gone, 0, 0, BLOCK);
	batch[1] = request(1, SP__OP_WRITE, v, 0, 0, BLOCK);
	ok(round_trip(q, batch, 2) == 2 && reqs[0].result == -EBADF,
	   "%s: a descriptor that is not open is the request's error", label);
	ok(reqs[1].result == (int)BLOCK, "%s: and its neighbour in the batch is not harmed", label);
	sp__volume_close(v);
}

/* Closing with requests outstanding waits for them. */
static void check_close(const char *engine, struct sp__volume *v)
{
	struct sp__queue *q = open_queue(engine, DEPTH, false);
	struct sp__request *batch[4];
	char *back = pool + (size_t)NBLOCKS * BLOCK;
	bool same = true;

	for (unsigned i = 0; i < 4; i++)
		batch[i] = request(i, SP__OP_WRITE, v, (uint64_t)i * BLOCK, i, BLOCK);
	same &= sp__queue_submit(q, batch, 4) == 0;
	sp__queue_close(q);
	for (unsigned i = 0; i < 4; i++)
		same &= pread(v->fd, back, BLOCK, (off_t)i * BLOCK) == (ssize_t)BLOCK &&
			memcmp(back, pool + (size_t)i * BLOCK, BLOCK) == 0;
	ok(same, "%s: closing waits for writes that are outstanding", label);
}

static void check_counters(struct sp__queue *q)
{
	struct sp__io_counters c = *sp__queue_counters(q);

	ok(c.write_requests == NBLOCKS && c.write_bytes == (uint64_t)NBLOCKS * BLOCK &&
		   c.read_requests == NBLOCKS && c.read_bytes == (uint64_t)NBLOCKS * BLOCK,
	   "%s: the counters tell what was asked for, not how it was done", label);
}

static void check_engine(const char *engine, enum sp__direct direct, bool with_pool)
{
	struct sp__volume *v = temp(direct);
	struct sp__queue *q = open_queue(engine, DEPTH, with_pool);
	bool moves = strstr(engine, "null") == NULL;
	char text[100];

	snprintf(text, sizeof(text), "%s%s%s%s%s", engine, v->direct ? ", direct" : "",
		 with_pool ? ", pool" : "", bound ? ", bound" : "", ways[how]);
	label = text;
	if (!q) {
		skip(label, "this engine cannot be opened here");
		sp__volume_close(v);
		return;
	}
	fill();
	write_blocks(q, v);
	read_blocks(q, v, moves);
	check_counters(q);
	check_ends(q, v);
	if (moves) {
		check_tail(q, v);
		check_bad_fd(q);
		fill();
		check_close(engine, v);
	}
	sp__queue_close(q);
	sp__volume_close(v);
}

/* The fault wrapper itself. */

static void check_errors(void)
{
	struct sp__queue *q = open_queue("fault:KIND=WRITE,NTH=3,ERROR=ENOSPC:sync", DEPTH, false);
	struct sp__volume *v = temp(SP__DIRECT_NEVER);
	struct sp__request *batch[8];

	for (unsigned i = 0; i < 8; i++)
		batch[i] = request(i, i % 2 ? SP__OP_WRITE : SP__OP_READ, v, 0, i, BLOCK);
	ok(round_trip(q, batch, 8) == 8 && reqs[5].result == -ENOSPC,
	   "the third write fails as its own result");
	ok(reqs[1].result == (int)BLOCK && reqs[3].result == (int)BLOCK &&
		   reqs[7].result == (int)BLOCK && reqs[4].result >= 0,
	   "and no other request does");
	sp__queue_close(q);
	sp__volume_close(v);
}

static void check_flip(void)
{
	struct sp__queue *q = open_queue("fault:ERROR=FLIP,KIND=READ,NTH=2:sync", DEPTH, false);
	struct sp__volume *v = temp(SP__DIRECT_NEVER);
	char *a = pool, *b = pool + BLOCK;

	fill();
	one(q, request(0, SP__OP_WRITE, v, 0, 0, BLOCK));
	one(q, request(0, SP__OP_READ, v, 0, 1, BLOCK));
	ok(memcmp(a, b, BLOCK) == 0, "the first read is true");
	one(q, request(0, SP__OP_READ, v, 0, 1, BLOCK));
	ok(a[0] == (char)~b[0] && memcmp(a + 1, b + 1, BLOCK - 1) == 0,
	   "the second differs in its first byte alone");
	sp__queue_close(q);
	sp__volume_close(v);
}

static void check_delay(void)
{
	struct sp__queue *q = open_queue("fault:DELAY=500000:auto", DEPTH, false);
	struct sp__volume *v = temp(SP__DIRECT_NEVER);
	struct sp__request *r = request(0, SP__OP_WRITE, v, 0, 0, BLOCK), *done[1];
	uint64_t begun_ns = sp__now_ns();

	ok(sp__queue_submit(q, &r, 1) == 0 && sp__queue_reap(q, done, 1, 1, 1000000) == 0 &&
		   sp__now_ns() - begun_ns >= 1000000,
	   "a delayed request is not there when the wait times out");
	ok(sp__queue_reap(q, done, 1, 1, -1) == 1 && r->result == (int)BLOCK &&
		   sp__now_ns() - begun_ns >= 500000000,
	   "and is there after its delay");
	sp__queue_close(q);
	sp__volume_close(v);
}

static bool reordered(const char *engine, unsigned *order)
{
	struct sp__queue *q = open_queue(engine, DEPTH, false);
	struct sp__volume *v = temp(SP__DIRECT_NEVER);
	struct sp__request *batch[DEPTH], *done[DEPTH];
	bool moved = false;
	int rc;

	for (unsigned i = 0; i < DEPTH; i++)
		batch[i] = request(i, SP__OP_WRITE, v, (uint64_t)i * BLOCK, i, BLOCK);
	rc = sp__queue_submit(q, batch, DEPTH);
	for (unsigned got = 0; rc >= 0 && got < DEPTH; got += (unsigned)rc) {
		rc = sp__queue_reap(q, done, DEPTH, 1, -1);
		for (int i = 0; i < rc; i++) {
			order[got + (unsigned)i] = (unsigned)done[i]->tag;
			moved |= done[i]->tag != got + (unsigned)i;
		}
	}
	sp__queue_close(q);
	sp__volume_close(v);
	return moved;
}

static void check_reorder(void)
{
	unsigned a[DEPTH], b[DEPTH], c[DEPTH];

	ok(reordered("fault:REORDER=3:auto", a), "completions come out of order");
	reordered("fault:REORDER=3:sync", b);
	ok(memcmp(a, b, sizeof(a)) == 0, "in the same order under every inner engine");
	reordered("fault:REORDER=4:sync", c);
	ok(memcmp(a, c, sizeof(a)) != 0, "in another with another seed");
}

static void check_scope(void)
{
	static const char name[] = "fault:SCOPE=PROCESS,NTH=2,ERROR=EIO:sync";
	struct sp__queue *q1 = open_queue(name, 1, false), *q2 = open_queue(name, 1, false);
	struct sp__volume *v = temp(SP__DIRECT_NEVER);

	ok(one(q1, request(0, SP__OP_WRITE, v, 0, 0, BLOCK)) == (int)BLOCK &&
		   one(q2, request(1, SP__OP_WRITE, v, 0, 0, BLOCK)) == -EIO &&
		   one(q1, request(2, SP__OP_WRITE, v, 0, 0, BLOCK)) == (int)BLOCK,
	   "the queues of a process can count together");
	sp__queue_close(q1);
	sp__queue_close(q2);
	sp__volume_close(v);
}

static void refuses(const char *engine, unsigned depth, int want, const char *word)
{
	struct sp__queue_opts o = { .engine = engine, .depth = depth, .completion = how };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp__queue *q = NULL;
	int rc = sp__queue_open(&q, &o, &err);

	ok(rc == want && err.code == want && strstr(err.text, word),
	   "engine '%s' with depth %u is refused (%s)", engine, depth, err.text);
	if (rc == 0)
		sp__queue_close(q);
}

static void check_refusals(void)
{
	refuses("uring", 4, -EINVAL, "no such");
	refuses("sync:x", 4, -EINVAL, "no such");
	refuses("sync", 0, -EINVAL, "depth");
	refuses("sync", 4097, -EINVAL, "depth");
	refuses("fault", 4, SP_ESYNTAX, "inner");
	refuses("fault:NTH=1", 4, SP_ESYNTAX, "inner");
	refuses("fault:NTH=0:sync", 4, SP_ESYNTAX, "'NTH=0'");
	refuses("fault:ERROR=EWHAT:sync", 4, SP_ESYNTAX, "'ERROR=EWHAT'");
	refuses("fault:TWICE:sync", 4, SP_ESYNTAX, "'TWICE'");
	refuses("fault::nosuch", 4, -EINVAL, "no such");
}

/* The other ways to wait for completions. */
static void check_completion(void)
{
	static const char *const by_polling[] = { "io_uring", "libaio", "sync", "null",
						  "fault:DELAY=300,COUNT=0:io_uring" };

	how = SP__COMPLETE_POLL;
	for (size_t i = 0; i < sizeof(by_polling) / sizeof(by_polling[0]); i++) {
		check_engine(by_polling[i], SP__DIRECT_NEVER, false);
		check_engine(by_polling[i], SP__DIRECT_AUTO, true);
	}
	how = SP__COMPLETE_EVENT;
	for (int i = 0; i < 4; i++) {
		bound = i > 1;
		check_engine(i % 2 ? "libaio" : "io_uring", SP__DIRECT_NEVER, false);
		check_engine(i % 2 ? "libaio" : "io_uring", SP__DIRECT_AUTO, true);
	}
	bound = false;
	refuses("sync", 4, SP_EUNSUP, "signal");
	refuses("fault::io_uring", 4, SP_EUNSUP, "signal");
	how = SP__COMPLETE_WAIT;
}

static bool simulates(const char *engine)
{
	const char *last = strrchr(engine, ':');

	return !strcmp(last ? last + 1 : engine, "sim");
}

/* A small device on which the volumes of the checks that follow lie. */
static void open_device(void)
{
	if (sp__volume_device(&device, "linear", NULL))
		ok(false, "a simulated device opens");
}

static void close_device(void)
{
	sp__volume_close(device);
	device = NULL;
}

static void check_mixing(void)
{
	ok(!open_queue("sim", DEPTH, false), "without a device there is nothing to simulate");
	open_device();
	ok(!open_queue("sync", DEPTH, false), "on a simulated device a real engine is refused");
	close_device();
}

int main(void)
{
	pool = sp__pages_alloc((size_t)2 * NBLOCKS * BLOCK, false);
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		if (simulates(engines[i]))
			open_device();
		check_engine(engines[i], SP__DIRECT_NEVER, false);
		check_engine(engines[i], SP__DIRECT_AUTO, false);
		check_engine(engines[i], SP__DIRECT_AUTO, true);
		bound = true;
		check_engine(engines[i], SP__DIRECT_AUTO, true);
		bound = false;
		close_device();
	}
	check_mixing();
	check_errors();
	check_flip();
	check_delay();
	check_reorder();
	check_scope();
	check_refusals();
	check_completion();
	sp__pages_free(pool, (size_t)2 * NBLOCKS * BLOCK);
	return done();
}
