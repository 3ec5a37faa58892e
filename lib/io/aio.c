/* SPDX-License-Identifier: MIT */
/*
 * Implements the engine for the kernel's native asynchronous I/O; the only file that includes
 * libaio.  Only direct I/O is asynchronous: io_submit carries out a buffered request before it
 * returns, as the sync engine does.
 *
 * Algorithm: control blocks come from a stack of free ones.  io_submit stops at the first block
 * that it refuses.  That request completes with the error, through a ring of completed requests,
 * and the requests after it are submitted too.
 */
#include <libaio.h>
#include <stdlib.h>
#include "base/loaded.h"
#include "io/engine.h"

/* From linux/aio_abi.h, which cannot be included together with libaio.h. */
#ifndef IOCB_FLAG_IOPRIO
#define IOCB_FLAG_IOPRIO (1 << 1)
#endif

struct aio {
	io_context_t context;
	unsigned depth, nfree;
	bool signals; /* completions, to this event file descriptor */
	int event;
	struct sp__donering *refused;
	struct iocb *blocks;	 /* depth */
	struct iocb **free;	 /* depth: stack of unused blocks */
	struct iocb **batch;	 /* depth: for io_submit */
	struct io_event *events; /* depth: for io_getevents */
};

static void aio_free(struct aio *a)
{
	free(a->refused);
	free(a->blocks);
	free(a->free);
	free(a->batch);
	free(a->events);
	free(a);
}

static void aio_close(void *engine)
{
	struct aio *a = engine;

	io_destroy(a->context);
	aio_free(a);
}

static int aio_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	int rc = sp__library_load(SP__LIB_AIO, err);
	struct aio *a;

	if (rc)
		return rc;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	a->refused = sp__donering_new(opts->depth);
	a->blocks = calloc(opts->depth, sizeof(*a->blocks));
	a->free = calloc(opts->depth, sizeof(*a->free));
	a->batch = calloc(opts->depth, sizeof(*a->batch));
	a->events = calloc(opts->depth, sizeof(*a->events));
	rc = -ENOMEM;
	if (!a->refused || !a->blocks || !a->free || !a->batch || !a->events)
		goto fail;
	for (a->nfree = 0; a->nfree < opts->depth; a->nfree++)
		a->free[a->nfree] = &a->blocks[a->nfree];
	a->depth = opts->depth;
	rc = io_setup((int)opts->depth, &a->context);
	if (rc == 0) {
		*engine = a;
		return 0;
	}
	/* The kernel's memory for contexts is exhausted, not ours. */
	rc = rc == -ENOMEM ? SP_EUNSUP : rc;
fail:
	aio_free(a);
	return rc;
}

static void prepare(const struct aio *a, struct iocb *b, struct sp__request *r)
{
	char *at = (char *)r->data + r->moved;
	size_t rest = r->bytes - r->moved;
	long long offset = (long long)(r->offset + r->moved);

	if (r->op == SP__OP_READ)
		io_prep_pread(b, r->volume->fd, at, rest, offset);
	else
		io_prep_pwrite(b, r->volume->fd, at, rest, offset);
	if (r->prio) {
		b->aio_reqprio = (short)r->prio;
		b->u.c.flags |= IOCB_FLAG_IOPRIO;
	}
	if (a->signals)
		io_set_eventfd(b, a->event);
	b->data = r;
}

/* True if the kernel is short of a resource; the request itself is valid. */
static bool shortage(int rc)
{
	return rc == -EAGAIN || rc == -EINTR || rc == -ENOMEM;
}

static int aio_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	struct aio *a = engine;
	size_t i, ready, taken = 0;

	for (i = 0; i < n; i++) {
		a->batch[i] = a->free[--a->nfree];
		prepare(a, a->batch[i], reqs[i]);
	}
	for (ready = i; taken < ready;) {
		int rc = io_submit(a->context, (long)(ready - taken), a->batch + taken);

		if (rc > 0) {
			taken += (size_t)rc;
		} else if (shortage(rc) || rc == 0) {
			break;
		} else {
			reqs[taken]->result = rc;
			sp__donering_put(a->refused, reqs[taken]);
			a->free[a->nfree++] = a->batch[taken++];
		}
	}
	for (i = taken; i < ready; i++)
		a->free[a->nfree++] = a->batch[i];
	return taken ? (int)taken : -EAGAIN;
}

static int aio_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		    int64_t timeout_ns)
{
	struct timespec ts = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	struct aio *a = engine;
	size_t n = sp__donering_take(a->refused, done, max);
	size_t want = min > n ? min - n : 0;
	int rc;

	if (max > n + a->depth)
		max = n + a->depth;
	if (n == max || a->nfree == a->depth)
		return (int)n;
	if (want == 0)
		ts = (struct timespec){ 0 };
	rc = io_getevents(a->context, (long)want, (long)(max - n), a->events,
			  timeout_ns < 0 && want ? NULL : &ts);
	for (int i = 0; i < rc; i++) {
		struct io_event *e = &a->events[i];

		done[n] = e->data;
		done[n++]->result = (int32_t)(long)e->res;
		a->free[a->nfree++] = e->obj;
	}
	return n || rc == -EINTR ? (int)n : rc;
}

static int aio_signal(void *engine, int event)
{
	struct aio *a = engine;

	a->event = event;
	a->signals = true;
	return 0;
}

const struct sp__engine_ops sp__aio_engine = {
	.name = "libaio",
	.caps = SP__CAP_ASYNC | SP__CAP_PRIO | SP__CAP_MOVES | SP__CAP_AUTO,
	.open = aio_open,
	.close = aio_close,
	.submit = aio_submit,
	.reap = aio_reap,
	.signal = aio_signal,
};
