/* SPDX-License-Identifier: MIT */
/*
 * How fast temporary space is, as its requests show: t and s of Zhang & Larson.
 *
 * A write whose completion was there when it was looked for may have ended long before.  So only
 * those count that a thread had to wait for, from the end of the one before if that was waited for
 * too, or if nothing was outstanding when it was submitted.  What is left to the page cache tells
 * nothing of the device.
 *
 * The reads of a merge come too late to foretell it, so s is measured by a few small ones, two
 * outstanding at a time as by clustering and extended forecasting.  What 4096 bytes take is part of
 * it: t, in which requests of writes have theirs, may be more than such a read.
 */
#include <math.h>
#include "base/minmax.h"
#include "spill/store.h"

/* Looking at completions that have come takes less. */
#define WAITED_NS 10000
#define SEEKS 16
#define GOLDEN 0.6180339887498949

static bool reaches_device(const struct sp__volume *v)
{
	return v->direct || v->machine;
}

void sp__spill_time_reap(struct sp__spill *s, struct sp__request *const *done, size_t n,
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

/* Reads that wait for nothing but themselves. */
struct seeks {
	struct sp__io_owner owner;
	struct sp__request reqs[2];
	bool busy[2];
	int error;
};

static void completed(struct sp__io_owner *owner, struct sp__request *req)
{
	struct seeks *k = (void *)owner;

	k->busy[req - k->reqs] = false;
	if (req->result < 0)
		k->error = req->result;
}

static void await(struct sp__spill *s, struct seeks *k, unsigned i)
{
	/* After an error of the queue nothing is outstanding. */
	while (k->busy[i] && !s->broken)
		(void)!sp__spill_reap(s, 1);
	if (s->broken)
		k->error = s->broken;
}

/* Reads the first block of a unit of the run. */
static void seek_to(struct sp__spill *s, struct seeks *k, unsigned i, const struct sp__run *run,
		    uint64_t unit)
{
	struct sp__request *r = &k->reqs[i];

	r->op = SP__OP_READ;
	r->bytes = SP__SEEK_BYTES;
	sp__spill_locate(s, run, unit, r);
	k->error = sp__spill_submit(s, &k->owner, &r, 1);
	k->busy[i] = !k->error;
}

double sp__spill_seek_s(struct sp__spill *s, struct sp__run *const *runs, size_t n, void *mem)
{
	uint64_t begin = sp__volume_now_ns(s->opts.device);
	struct seeks k = { .owner.completed = completed };

	if (!n || s->opts.program || !reaches_device(s->files[runs[0]->file].volume))
		return -1;
	for (unsigned i = 0; i < SEEKS && !k.error; i++) {
		const struct sp__run *run = runs[i * n / SEEKS];

		await(s, &k, i % 2);
		k.reqs[i % 2].data = (char *)mem + i % 2 * SP__SEEK_BYTES;
		if (!k.error && run->units)
			seek_to(s, &k, i % 2, run,
				(uint64_t)(fmod(i * GOLDEN, 1) * (double)run->units));
	}
	for (unsigned i = 0; i < 2; i++)
		await(s, &k, i);
	return k.error ? -1 : (double)(sp__volume_now_ns(s->opts.device) - begin) * 1e-9 / SEEKS;
}
