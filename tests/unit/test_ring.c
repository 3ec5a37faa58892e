/* SPDX-License-Identifier: MIT */
/* A ring of buffers between two threads, and within one. */
#define TAP_THREADS

#include <errno.h>
#include <stdio.h>
#include "base/ring.h"
#include "base/task.h"
#include "tap.h"

#define BUFFERS 50
#define BYTES 16

static char mem[SP__RING_BUFFERS * BYTES];

struct filling {
	struct sp__ring ring;
	struct sp__task task;
	int last, filled;
	bool abandoned;
};

static void begin(struct filling *f, int last)
{
	*f = (struct filling){ .last = last };
	sp__ring_init(&f->ring);
	sp__ring_use(&f->ring, mem, BYTES);
}

/* Publishes numbers, and then what the test says. */
static void fill(void *arg)
{
	struct filling *f = arg;
	struct sp__ring_buffer *b = NULL;

	while (f->filled < BUFFERS && (b = sp__ring_empty(&f->ring))) {
		b->bytes = (size_t)snprintf(b->mem, BYTES, "%d", f->filled++);
		sp__ring_publish(&f->ring, SP_READY);
	}
	f->abandoned = sp__ring_abandoned(&f->ring);
	sp__ring_publish(&f->ring, f->last);
}

/* Takes at most n buffers; the result of the last call if all before it were right. */
static int take(struct filling *f, int n)
{
	const char *data = NULL;
	size_t bytes = 0;
	char wanted[BYTES];
	int rc = SP_READY;

	for (int i = 0; i < n && rc == SP_READY; i++) {
		rc = sp__ring_get(&f->ring, true, &data, &bytes);
		if (rc != SP_READY)
			break;
		if ((size_t)snprintf(wanted, BYTES, "%d", i) != bytes ||
		    memcmp(wanted, data, bytes) != 0)
			return -EINVAL;
		sp__ring_release(&f->ring);
	}
	return rc;
}

static void end(struct filling *f)
{
	sp__ring_abandon(&f->ring);
	sp__task_join(&f->task);
	sp__ring_destroy(&f->ring);
}

static void two_threads(void)
{
	struct filling f;

	begin(&f, SP_END);
	ok(sp__task_start_thread(&f.task, fill, &f), "a thread fills");
	ok(take(&f, BUFFERS + 1) == SP_END, "buffers arrive in order, and the end behind them");
	end(&f);
	begin(&f, -EIO);
	ok(sp__task_start_thread(&f.task, fill, &f) && take(&f, BUFFERS + 1) == -EIO,
	   "an error is the end");
	end(&f);
	begin(&f, SP_END);
	ok(sp__task_start_thread(&f.task, fill, &f) && take(&f, 2) == SP_READY,
	   "a taking side may stop");
	end(&f);
	ok(f.abandoned && f.filled <= 2 + SP__RING_BUFFERS, "its filling side stops, too");
}

static void one_thread(void)
{
	struct filling f;
	const char *data;
	size_t bytes;

	begin(&f, SP_END);
	ok(!sp__ring_await(&f.ring, 0) && !sp__ring_await(&f.ring, 1000),
	   "waiting for an empty ring ends after the given time");
	ok(sp__ring_get(&f.ring, false, &data, &bytes) == SP_LATER, "there is nothing to take");
	for (int i = 0; i < SP__RING_BUFFERS; i++) {
		sp__ring_empty(&f.ring)->bytes = 1;
		sp__ring_publish(&f.ring, SP_READY);
	}
	ok(sp__ring_await(&f.ring, -1) && sp__ring_get(&f.ring, false, &data, &bytes) == SP_READY &&
		   data == mem && bytes == 1,
	   "a full buffer is taken");
	sp__ring_abandon(&f.ring);
	ok(!sp__ring_empty(&f.ring), "an abandoned ring has no empty buffer");
	sp__ring_release(&f.ring);
	ok(sp__ring_get(&f.ring, true, &data, &bytes) == -ECANCELED, "and no full one");
	end(&f);
}

int main(void)
{
	two_threads();
	one_thread();
	return done();
}
