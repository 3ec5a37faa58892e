/* SPDX-License-Identifier: MIT */
/*
 * Submits, gathers and reaps the store's requests, and measures the speed of temporary space from
 * them: t and s of Zhang & Larson.
 *
 * A write whose completion was already there when a thread reaped it can have ended long before.
 * So only writes that a thread had to wait for count, from the end of the write before, if that was
 * waited for too, or if nothing was outstanding at submission.  Writes left to the page cache do
 * not show the speed of the device.
 *
 * The reads of a merge come too late to predict it, so at most 16 reads of each kind are made
 * before, two outstanding at a time as by clustering and extended forecasting.  Reads of 4096 bytes
 * at scattered offsets measure s, which includes the transfer of their bytes.  Larger consecutive
 * reads measure t of reading: flash reads in a quarter of the time that small writes take.  The
 * first of them only moves the arm there.
 */
#include <math.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "spill/store.h"

/* Waits shorter than this found completions that were already there. */
#define WAITED_NS 10000
#define SEEKS 16
#define READS 16
#define MIN_READS 4
#define GOLDEN 0.6180339887498949

static bool reaches_device(const struct sp__volume *v)
{
	return v->direct || v->machine;
}

/* Records that requests have been reaped in a wait of this duration. */
static void spill_time_reap(struct sp__spill *s, struct sp__request *const *done, size_t n,
			    uint64_t took_ns)
{
	struct sp__spill_timing *t = &s->timing;
	uint64_t begin = UINT64_MAX, end = 0, bytes = 0;
	bool waited = took_ns >= WAITED_NS, measured = true;

	if (!n)
		return;
	for (size_t i = 0; i < n; i++) {
		begin = sp__min(begin, done[i]->submit_ns);
		end = sp__max(end, done[i]->done_ns);
		bytes += done[i]->bytes;
		measured &= done[i]->op == SP__OP_WRITE && reaches_device(done[i]->volume);
	}
	if (waited && measured && (t->exact || begin >= t->last_ns)) {
		t->ns += end - sp__max(begin, t->last_ns);
		t->bytes += bytes;
	}
	t->exact = waited;
	t->last_ns = end;
}

double sp__spill_write_s(const struct sp__spill *s)
{
	return s->timing.bytes ? (double)s->timing.ns * 1e-9 / (double)s->timing.bytes : 0;
}

/* The reads that measure the device, two outstanding at a time. */
struct reads {
	struct sp__io_owner owner;
	struct sp__request reqs[2];
	bool busy[2];
	int error;
};

static void completed(struct sp__io_owner *owner, struct sp__request *req)
{
	struct reads *k = (void *)owner;

	k->busy[req - k->reqs] = false;
	if (req->result < 0)
		k->error = req->result;
}

static void await(struct sp__spill *s, struct reads *k, unsigned i)
{
	/* After an error of the queue nothing is outstanding. */
	while (k->busy[i] && !s->broken)
		(void)!sp__spill_reap(s, 1);
	if (s->broken)
		k->error = s->broken;
}

static void await_all(struct sp__spill *s, struct reads *k)
{
	for (unsigned i = 0; i < 2; i++)
		await(s, k, i);
}

/* Reads bytes from a unit of the run on. */
static void read_at(struct sp__spill *s, struct reads *k, unsigned i, const struct sp__run *run,
		    uint64_t unit, uint32_t bytes)
{
	struct sp__request *r = &k->reqs[i];

	r->op = SP__OP_READ;
	r->bytes = bytes;
	sp__spill_locate(s, run, unit, r);
	k->error = sp__spill_submit(s, &k->owner, &r, 1);
	k->busy[i] = !k->error;
}

static bool measurable(const struct sp__spill *s, const struct sp__run *run)
{
	return !s->opts.program && reaches_device(s->files[run->file].volume);
}

double sp__spill_seek_s(struct sp__spill *s, struct sp__run *const *runs, size_t n, void *mem)
{
	uint64_t begin = sp__volume_now_ns(s->opts.device);
	struct reads k = { .owner.completed = completed };

	if (!n || !measurable(s, runs[0]))
		return -1;
	for (unsigned i = 0; i < SEEKS && !k.error; i++) {
		const struct sp__run *run = runs[i * n / SEEKS];

		await(s, &k, i % 2);
		k.reqs[i % 2].data = (char *)mem + i % 2 * SP__SEEK_BYTES;
		if (!k.error && run->units)
			read_at(s, &k, i % 2, run,
				(uint64_t)(fmod(i * GOLDEN, 1) * (double)run->units),
				SP__SEEK_BYTES);
	}
	await_all(s, &k);
	return k.error ? -1 : (double)(sp__volume_now_ns(s->opts.device) - begin) * 1e-9 / SEEKS;
}

size_t sp__spill_read_memory(const struct sp__spill *s)
{
	return 2 * (size_t)sp__max(s->unit_bytes, SP__READ_BYTES);
}

double sp__spill_read_s(struct sp__spill *s, const struct sp__run *run, void *mem)
{
	uint32_t most = sp__max(SP__READ_BYTES / s->unit_bytes, 1u), units;
	uint64_t at = 0, begin = 0, bytes = 0;
	struct reads k = { .owner.completed = completed };
	unsigned n = 0;

	if (!measurable(s, run))
		return 0;
	for (; n < READS && at < run->units && !k.error; n++, at += units) {
		await(s, &k, n % 2);
		if (n == 2) {
			begin = sp__volume_now_ns(s->opts.device);
			/* The two reads can have been merged into one. */
			bytes = k.busy[1] ? bytes : 0;
		}
		units = sp__spill_piece(s, run, at, most);
		bytes += n ? (uint64_t)units * s->unit_bytes : 0;
		k.reqs[n % 2].data = (char *)mem + n % 2 * sp__spill_read_memory(s) / 2;
		if (!k.error)
			read_at(s, &k, n % 2, run, at, units * s->unit_bytes);
	}
	await_all(s, &k);
	if (k.error || n < MIN_READS)
		return 0;
	return (double)(sp__volume_now_ns(s->opts.device) - begin) * 1e-9 / (double)bytes;
}

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
	spill_time_reap(s, done, (size_t)n, sp__volume_now_ns(s->opts.device) - begin);
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
