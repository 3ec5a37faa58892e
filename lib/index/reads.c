/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "index/reads.h"

#define REAP_MAX 64

/* Without reads there is nothing to wait for: their users find that out. */
static int until(void *reads, int64_t timeout_ns)
{
	struct sp__reads *r = reads;
	int rc = sp__reads_flush(r);

	if (rc)
		return rc;
	return sp__queue_outstanding(r->queue) ? sp__queue_wait(r->queue, timeout_ns) : 1;
}

static int descriptor(void *reads)
{
	return sp__queue_fd(((struct sp__reads *)reads)->queue);
}

int sp__reads_open(struct sp__reads *r, const struct sp__queue_opts *opts, struct sp_errinfo *err)
{
	static const struct sp__wait_ops ops = { until, descriptor };

	*r = (struct sp__reads){ .wait = { .ops = &ops, .source = r }, .err = err };
	return sp__queue_open(&r->queue, opts, err);
}

void sp__reads_close(struct sp__reads *r)
{
	sp__waits_withdraw(&r->wait);
	sp__queue_close(r->queue);
	free(r->added);
	*r = (struct sp__reads){ 0 };
}

int sp__reads_add(struct sp__reads *r, struct sp__read *read)
{
	if (!SP__ARRAY_GROW(r->added, r->room, r->nadded + 1))
		return sp__err(r->err, -ENOMEM, "read", read->req.volume->name, -1);
	read->req.op = SP__OP_READ;
	r->added[r->nadded++] = &read->req;
	return 0;
}

int sp__reads_flush(struct sp__reads *r)
{
	size_t n = r->nadded;

	r->nadded = 0;
	if (n && !r->error) {
		r->error = sp__queue_submit(r->queue, r->added, n);
		if (r->error)
			(void)sp__err(r->err, r->error, "read", r->added[0]->volume->name,
				      (long long)r->added[0]->offset);
	}
	return r->error;
}

int sp__reads_collect(struct sp__reads *r)
{
	struct sp__request *done[REAP_MAX];
	int n = sp__reads_flush(r);

	if (!n && sp__queue_outstanding(r->queue))
		n = sp__queue_reap(r->queue, done, REAP_MAX, 0, 0);
	for (int i = 0; i < n; i++) {
		struct sp__read *read = (struct sp__read *)(void *)done[i];

		read->done(read);
	}
	if (n < 0 && !r->error)
		r->error = sp__err(r->err, n, "read", NULL, -1);
	return r->error;
}

void sp__reads_later(struct sp__reads *r, struct sp__waits *waits)
{
	sp__waits_add(waits, &r->wait);
}

static uint64_t align_down(const struct sp__volume *v, uint64_t offset)
{
	return offset / v->align_bytes * v->align_bytes;
}

char *sp__read_aim(struct sp__read *read, struct sp__volume *v, uint64_t offset, size_t bytes,
		   void *data)
{
	uint64_t begin = align_down(v, offset);

	read->req = (struct sp__request){ .volume = v, .offset = begin, .data = data };
	read->req.bytes = (uint32_t)(align_down(v, offset + bytes + v->align_bytes - 1) - begin);
	return (char *)data + (offset - begin);
}

size_t sp__read_free(const struct sp__volume *v, size_t bytes)
{
	return (size_t)align_down(v, bytes + 2 * (size_t)v->align_bytes - 2);
}

int sp__read_result(const struct sp__read *read, const char *at, size_t bytes)
{
	size_t before = (size_t)(at - (const char *)read->req.data);

	if (read->req.result < 0)
		return read->req.result;
	return (size_t)read->req.result < before + bytes ? SP_ECORRUPT : 0;
}
