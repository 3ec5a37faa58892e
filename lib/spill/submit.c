/* SPDX-License-Identifier: MIT */
/*
 * Submits, gathers and reaps the store's requests.
 */
#include "base/array.h"
#include "base/err.h"
#include "spill/store.h"

static void charge(struct sp__spill *s, struct sp__io_owner *owner, struct sp__request *req)
{
	req->owner = owner;
	if (req->op == SP__OP_READ)
		s->read_bytes += req->bytes;
	else
		s->write_bytes += req->bytes;
}

static int submit(struct sp__spill *s, struct sp__request **reqs, size_t n)
{
	int rc;

	if (s->broken)
		return s->broken;
	rc = sp__queue_submit(s->queue, reqs, n);
	if (rc < 0)
		return sp__err(s->opts.err, rc, reqs[0]->op == SP__OP_READ ? "read" : "write",
			       reqs[0]->volume->name, (long long)reqs[0]->offset);
	s->outstanding += n;
	return 0;
}

int sp__spill_submit(struct sp__spill *s, struct sp__io_owner *owner, struct sp__request **reqs,
		     size_t n)
{
	for (size_t i = 0; i < n; i++)
		charge(s, owner, reqs[i]);
	return submit(s, reqs, n);
}

int sp__spill_check_read(const struct sp__spill *s, const struct sp__request *read)
{
	if (read->result < 0)
		return sp__err(s->opts.err, read->result, "read", read->volume->name,
			       (long long)read->offset);
	if ((uint32_t)read->result == read->bytes)
		return 0;
	return sp__errf(s->opts.err, SP_ECORRUPT, "read", read->volume->name,
			(long long)read->offset, "temporary file ends early");
}

/*
 * Gives up the queue: outstanding requests do not notify their owners any more.  Closing the queue
 * while requests and buffers still exist ends its use of them.
 */
static int break_queue(struct sp__spill *s, int rc)
{
	s->broken = rc;
	sp__spill_counters(s, &s->past);
	sp__queue_close(s->queue);
	s->queue = NULL;
	s->nwaiting = 0;
	return rc;
}

/* Submits the gathered writes to the idle device. */
static int submit_waiting(struct sp__spill *s)
{
	size_t n = s->nwaiting;
	int rc;

	s->nwaiting = 0;
	rc = sp__place_order(s->place, s->waiting, n);
	if (rc < 0)
		return break_queue(s, sp__err(s->opts.err, rc, "allocate", NULL, -1));
	for (size_t i = 0; i < n; i++)
		s->batch[i] = s->waiting[i].what;
	rc = submit(s, s->batch, n);
	return rc < 0 ? break_queue(s, rc) : 0;
}

void sp__spill_gather(struct sp__spill *s, size_t n)
{
	s->gather = s->place ? n : 0;
}

static int grow_waiting(struct sp__spill *s)
{
	size_t cap = s->waiting_cap ? 2 * s->waiting_cap : 256;

	if (!SP__ARRAY_RESIZE(s->waiting, cap) || !SP__ARRAY_RESIZE(s->batch, cap))
		return -ENOMEM;
	s->waiting_cap = cap;
	return 0;
}

int sp__spill_put_off(struct sp__spill *s, struct sp__io_owner *owner, struct sp__request *req,
		      uint64_t unit)
{
	if (s->broken)
		return s->broken;
	if (s->nwaiting == s->waiting_cap && grow_waiting(s) < 0)
		return sp__err(s->opts.err, -ENOMEM, "allocate", NULL, -1);
	charge(s, owner, req);
	s->waiting[s->nwaiting++] = (struct sp__stop){ unit, req };
	return s->outstanding || s->nwaiting < s->gather ? 0 : submit_waiting(s);
}

int sp__spill_reap(struct sp__spill *s, size_t min)
{
	struct sp__request *done[64];
	uint64_t begin;
	int n = s->broken;

	if (!n && min && s->nwaiting && !s->outstanding)
		n = submit_waiting(s);
	if (n < 0)
		return n;
	begin = sp__volume_now_ns(s->opts.device);
	n = sp__queue_reap(s->queue, done, 64, min < 64 ? min : 64, min ? -1 : 0);
	if (n < 0)
		return break_queue(s, sp__err(s->opts.err, n, "wait for", s->opts.dirs[0], -1));
	s->outstanding -= (size_t)n;
	sp__spill_time_reap(s, done, (size_t)n, sp__volume_now_ns(s->opts.device) - begin);
	sp__io_notify(done, n);
	if (!s->outstanding && s->nwaiting && s->nwaiting >= s->gather && submit_waiting(s) < 0)
		return s->broken;
	return n;
}

int sp__spill_wait(struct sp__spill *s, int64_t timeout_ns)
{
	int rc = s->broken;

	if (!rc && s->nwaiting && !s->outstanding)
		rc = submit_waiting(s);
	return rc < 0 ? rc : sp__queue_wait(s->queue, timeout_ns);
}
