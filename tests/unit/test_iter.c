/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>
#include "flow/iter.h"
#include "io/queue.h"
#include "tap.h"

#define BLOCKS 200
#define BLOCK_BYTES 4096
#define SPEC "ultrastar36lzx-like,files=in"

static int queue_until(void *queue, int64_t timeout_ns)
{
	return sp__queue_wait(queue, timeout_ns);
}

static int queue_fd(void *queue)
{
	return sp__queue_fd(queue);
}

static const struct sp__wait_ops wait_on_queue = { queue_until, queue_fd };

/* A source that has progress after it was polled N times, or when its pipe has a byte. */
struct source {
	struct sp__waiter wait;
	int looks, limited, unlimited, result, pipe[2];
};

static int until(void *source, int64_t timeout_ns)
{
	struct source *s = source;

	*(timeout_ns < 0 ? &s->unlimited : timeout_ns ? &s->limited : &(int){ 0 }) += 1;
	if (timeout_ns < 0)
		return s->result ? s->result : 1;
	return s->result ? s->result : s->looks-- <= 0;
}

static int fd(void *source)
{
	return ((struct source *)source)->pipe[0];
}

static const struct sp__wait_ops ops = { until, fd };

static struct source source(int looks)
{
	return (struct source){ .wait = { .ops = &ops }, .looks = looks, .pipe = { -1, -1 } };
}

static struct sp__waits waits;
static int later;
static bool forgets;

static void add(struct source *s)
{
	s->wait.source = s;
	sp__waits_add(&waits, &s->wait);
}

static int next(void *operator, struct sp_batch * batch)
{
	if (later-- > 0) {
		if (!forgets)
			add(operator);
		return SP_LATER;
	}
	batch->data = "x\n";
	batch->bytes = 2;
	return SP_READY;
}

static void check_helper(void)
{
	struct source s = source(0);
	struct sp__iter it = { &s, next };
	struct sp_batch batch = { 0 };

	later = 3;
	ok(sp__iter_next(&it, &waits, &batch) == SP_READY && s.unlimited == 3 && batch.bytes == 2,
	   "the blocking helper waits once for each LATER");
	later = 1;
	s.result = -EIO;
	ok(sp__iter_next(&it, &waits, &batch) == -EIO, "a wait that fails is the answer");
	later = 1;
	forgets = true;
	ok(sp__iter_next(&it, &waits, &batch) == SP_ESTATE, "LATER without a wait is caught");
	ok(sp__waits_block(&waits) == SP_ESTATE, "as is waiting for nothing");
}

static void check_several(void)
{
	struct source a = source(1000), b = source(3), c = source(1000);

	add(&a);
	add(&b);
	add(&c);
	add(&b);
	ok(sp__waits_block(&waits) == 0 && b.looks < 0, "whichever has progress first is enough");
	ok(a.limited + b.limited + c.limited > 0 && !a.unlimited && !c.unlimited,
	   "without descriptors they wait alternately, with a limit");
	ok(sp__waits_block(&waits) == SP_ESTATE, "and all are forgotten");
	add(&a);
	add(&b);
	sp__waits_withdraw(&a.wait);
	sp__waits_withdraw(&a.wait);
	ok(sp__waits_block(&waits) == 0 && b.unlimited == 1, "a wait withdrawn is not waited for");
	add(&a);
	c.result = -EIO;
	add(&c);
	ok(sp__waits_block(&waits) == -EIO, "an error of any of them is the answer");
}

static void check_descriptors(void)
{
	struct source a = source(1), b = source(1);

	if (pipe(a.pipe) || pipe(b.pipe) || write(b.pipe[1], "x", 1) != 1)
		abort();
	add(&a);
	add(&b);
	ok(sp__waits_block(&waits) == 0 && a.limited + b.limited == 0,
	   "sources with descriptors are polled together");
	for (int i = 0; i < 2; i++) {
		close(a.pipe[i]);
		close(b.pipe[i]);
	}
}

/* Two queues of one machine: the second has the shorter way to go. */
struct disk {
	struct sp__volume *device, *volume;
	struct sp__queue *q[2];
	struct sp__request req[2];
	_Alignas(4096) char data[2][1 << 20];
};

static struct disk disk;

static void open_disk(const char *engine)
{
	bool sim = !engine;
	int rc = sim ? sp__volume_device(&disk.device, SPEC, NULL) : 0;

	if (!rc)
		rc = sp__volume_temp(&disk.volume, "/tmp", SP__DIRECT_NEVER, NULL);
	if (!rc)
		rc = ftruncate(disk.volume->fd, 64 << 20);
	if (!rc && sim)
		rc = sp__volume_simulate(disk.volume, disk.device, SP__SIM_INPUT, 64 << 20, NULL);
	for (int i = 0; i < 2 && !rc; i++) {
		struct sp__queue_opts o = { .engine = engine, .depth = 1, .device = disk.device };

		rc = sp__queue_open(&disk.q[i], &o, NULL);
		disk.req[i] = (struct sp__request){ .volume = disk.volume,
						    .data = disk.data[i],
						    .offset = i ? 0 : 32 << 20,
						    .bytes = i ? 4096 : 1 << 20 };
	}
	if (rc)
		abort();
}

static void close_disk(void)
{
	for (int i = 0; i < 2; i++)
		sp__queue_close(disk.q[i]);
	sp__volume_close(disk.volume);
	sp__volume_close(disk.device);
	disk = (struct disk){ 0 };
}

static void submit(int i)
{
	struct sp__request *r = &disk.req[i];

	if (sp__queue_submit(disk.q[i], &r, 1))
		abort();
}

static int reap(int i)
{
	struct sp__request *r;

	return sp__queue_reap(disk.q[i], &r, 1, 0, 0);
}

static void check_virtual(void)
{
	struct sp__waiter w[2];

	open_disk(NULL);
	/* The one added last is asked first: that of the long way. */
	for (int i = 1; i >= 0; i--) {
		w[i] = (struct sp__waiter){ .ops = &wait_on_queue, .source = disk.q[i] };
		sp__waits_add(&waits, &w[i]);
	}
	submit(1);
	submit(0);
	ok(sp__waits_block(&waits) == 0 && reap(1) == 1 && reap(0) == 0,
	   "virtual time goes to the earliest completion of all queues, and no further");
	ok(sp__queue_wait(disk.q[1], -1) == SP_ESTATE, "an empty queue cannot be waited for");
	sp__waits_add(&waits, &w[0]);
	ok(sp__waits_block(&waits) == 0 && reap(0) == 1, "then to the next");
	close_disk();
}

static void check_real(const char *engine)
{
	struct sp__waiter w[2];
	int first;

	open_disk(engine);
	for (int i = 0; i < 2; i++) {
		w[i] = (struct sp__waiter){ .ops = &wait_on_queue, .source = disk.q[i] };
		sp__waits_add(&waits, &w[i]);
		submit(i);
	}
	ok(sp__waits_block(&waits) == 0, "two queues are waited for (%s)", engine);
	first = reap(0) + reap(1);
	for (int i = 0; i < 2; i++)
		if (sp__queue_outstanding(disk.q[i]))
			sp__waits_add(&waits, &w[i]);
	if (first == 1 && sp__waits_block(&waits) == 0)
		first += reap(0) + reap(1);
	ok(first == 2, "and both complete (%s)", engine);
	close_disk();
}

/* Blocks that no cache has, so that reading them takes time. */
static struct sp__volume *direct_blocks(void)
{
	struct sp__volume *v;

	if (sp__volume_temp(&v, ".", SP__DIRECT_AUTO, NULL))
		abort();
	for (int i = 0; i < BLOCKS; i++)
		if (pwrite(v->fd, disk.data[0], BLOCK_BYTES, (off_t)i * BLOCK_BYTES) != BLOCK_BYTES)
			abort();
	return v;
}

/* The other source is a pipe without a writer: a missed completion is the end. */
static void check_beside_silence(const char *engine)
{
	struct sp__queue_opts o = { .engine = engine, .depth = 1, .bound = true };
	struct source silence = source(INT_MAX);
	struct sp__request *r = &disk.req[0];
	struct sp__waiter w;
	struct sp__queue *q;
	int n = 0;

	disk.volume = direct_blocks();
	if (pipe(silence.pipe) || sp__queue_open(&q, &o, NULL))
		abort();
	w = (struct sp__waiter){ .ops = &wait_on_queue, .source = q };
	for (int i = 0; i < BLOCKS; i++) {
		*r = (struct sp__request){ .volume = disk.volume,
					   .data = disk.data[0],
					   .offset = (uint64_t)i * BLOCK_BYTES,
					   .bytes = BLOCK_BYTES };
		if (sp__queue_submit(q, &r, 1))
			abort();
		add(&silence);
		sp__waits_add(&waits, &w);
		n += sp__waits_block(&waits) == 0 && sp__queue_reap(q, &r, 1, 0, 0) == 1;
	}
	ok(n == BLOCKS,
	   "a queue bound to its thread is waited for together with a silent pipe (%s)", engine);
	sp__queue_close(q);
	sp__volume_close(disk.volume);
	disk.volume = NULL;
	for (int i = 0; i < 2; i++)
		close(silence.pipe[i]);
}

int main(void)
{
	check_helper();
	check_several();
	check_descriptors();
	check_virtual();
	check_real("auto");
	check_real("sync");
	check_real("fault:DELAY=2000,COUNT=0:auto");
	check_beside_silence("auto");
	check_beside_silence("sync");
	return done();
}
