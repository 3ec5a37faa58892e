/* SPDX-License-Identifier: MIT */
/*
 * Submits requests of several users to one queue, and notifies each user of its own.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "cells/requests.h"

/* Does not wait if no request is outstanding: the users find that out. */
static int until(void *requests, int64_t timeout_ns)
{
	struct sp__requests *r = requests;
	int rc = sp__requests_flush(r);

	if (rc)
		return rc;
	return sp__queue_outstanding(r->queue) ? sp__queue_wait(r->queue, timeout_ns) : 1;
}

static int descriptor(void *requests)
{
	return sp__queue_fd(((struct sp__requests *)requests)->queue);
}

int sp__requests_open(struct sp__requests *r, const struct sp__queue_opts *opts,
		      struct sp_errinfo *err)
{
	static const struct sp__wait_ops ops = { until, descriptor };

	*r = (struct sp__requests){ .wait = { .ops = &ops, .source = r }, .err = err };
	return sp__queue_open(&r->queue, opts, err);
}

void sp__requests_close(struct sp__requests *r)
{
	sp__waits_withdraw(&r->wait);
	sp__queue_close(r->queue);
	free(r->added);
	*r = (struct sp__requests){ 0 };
}

static const char *op_of(const struct sp__request *req)
{
	return req->op == SP__OP_READ ? "read" : "write";
}

int sp__requests_add(struct sp__requests *r, struct sp__request *request)
{
	if (!SP__ARRAY_GROW(r->added, r->capacity, r->nadded + 1))
		return sp__err(r->err, -ENOMEM, op_of(request), request->volume->name, -1);
	r->added[r->nadded++] = request;
	return 0;
}

int sp__requests_flush(struct sp__requests *r)
{
	size_t n = r->nadded;

	r->nadded = 0;
	if (n && !r->error) {
		r->error = sp__queue_submit(r->queue, r->added, n);
		if (r->error)
			(void)sp__err(r->err, r->error, op_of(r->added[0]),
				      r->added[0]->volume->name, (long long)r->added[0]->offset);
	}
	return r->error;
}

int sp__requests_collect(struct sp__requests *r)
{
	int n = sp__requests_flush(r) ?: SP__QUEUE_COMPLETE_MAX;

	while (n == SP__QUEUE_COMPLETE_MAX && sp__queue_outstanding(r->queue))
		n = sp__queue_complete(r->queue, 0, 0);
	if (n < 0 && !r->error)
		r->error = sp__err(r->err, n, "wait", NULL, -1);
	return r->error;
}

void sp__requests_later(struct sp__requests *r, struct sp__waits *waits)
{
	sp__waits_add(waits, &r->wait);
}

static uint64_t align_down(const struct sp__volume *v, uint64_t offset)
{
	return offset / v->align_bytes * v->align_bytes;
}

char *sp__request_aim(struct sp__request *r, struct sp__io_owner *owner, struct sp__volume *v,
		      uint64_t offset, size_t bytes, void *data)
{
	uint64_t begin = align_down(v, offset);

	*r = (struct sp__request){ .volume = v, .offset = begin, .data = data, .owner = owner };
	r->bytes = (uint32_t)(align_down(v, offset + bytes + v->align_bytes - 1) - begin);
	return (char *)data + (offset - begin);
}

size_t sp__request_capacity(const struct sp__volume *v, size_t bytes)
{
	return (size_t)align_down(v, bytes + 2 * (size_t)v->align_bytes - 2);
}

int sp__request_result(const struct sp__request *r, const char *at, size_t bytes)
{
	size_t before = (size_t)(at - (const char *)r->data);

	if (r->result < 0)
		return r->result;
	return (size_t)r->result < before + bytes ? SP_ECORRUPT : 0;
}
