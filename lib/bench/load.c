/* SPDX-License-Identifier: MIT */
/*
 * Keeps requests outstanding: the loop of one load.
 *
 * Algorithm: each group has a fixed number of slots.  A round fills free slots (load_fill.c),
 * submits them as a batch, and waits for completions or for the next due time.  A page load is
 * notified of completions.
 *
 * Memory: nothing is allocated once the load is open.
 *
 * Threads: if each class has a thread, the lock of the bench is held while requests are prepared
 * and counted, never during system calls.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "bench/state.h"

#define PAGE_BYTES 4096
/* maximum delay until *stop is noticed while nothing completes */
#define LOOK_NS 50000000

static struct sp__bench_slot *slot_of(struct sp__request *r)
{
	return (struct sp__bench_slot *)(void *)r;
}

static void fill_random(char *data, size_t bytes, uint64_t seed)
{
	struct sp__rng rng = { seed };
	uint64_t *word = (uint64_t *)(void *)data;

	for (size_t i = 0; i < bytes / sizeof(*word); i++)
		word[i] = sp__rng_next(&rng);
}

static int open_slots(struct sp__load *l)
{
	unsigned tag = 0;

	l->slots = calloc(l->depth, sizeof(*l->slots));
	l->batch = calloc(l->depth, sizeof(l->batch[0]));
	if (!l->slots || !l->batch)
		return -ENOMEM;
	for (size_t g = 0; g < l->ngroups; g++) {
		struct sp__bench_group *group = &l->groups[g];

		for (unsigned i = 0; i < group->depth; i++, tag++) {
			struct sp__bench_slot *s = &l->slots[tag];

			s->req.tag = tag;
			s->req.data = l->pool ? l->pool + tag * l->slot_bytes : NULL;
			s->group = group;
			s->next = group->free;
			group->free = s;
		}
	}
	return 0;
}

static int open_pool(struct sp__load *l)
{
	for (size_t g = 0; g < l->ngroups; g++)
		for (size_t i = 0; i < l->groups[g].nclasses; i++)
			l->slot_bytes = sp__max(l->slot_bytes, l->groups[g].classes[i]->spec.bytes);
	for (size_t i = 0; l->bench->replay && i < l->bench->nfiles; i++)
		l->slot_bytes = sp__max(
			l->slot_bytes,
			sp__replay_bytes_max(l->bench->replay, l->bench->files[i].align_bytes));
	l->slot_bytes = (l->slot_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	l->pool_bytes = l->depth * l->slot_bytes;
	l->pool = sp__pages_alloc(l->pool_bytes, false);
	if (!l->pool)
		return -ENOMEM;
	fill_random(l->pool, l->pool_bytes, l->bench->opts.seed);
	return 0;
}

/* On a simulated machine, calls take no time, so a batch has no limit. */
static void choose_batches(struct sp__load *l)
{
	const struct sp_bench_opts *o = &l->bench->opts;
	bool simulated = l->bench->device != NULL;
	unsigned fewest = o->batch_min ? o->batch_min : 1;

	l->at_once = simulated ? l->depth : o->batch_submit ? o->batch_submit : 1;
	l->done_at_once = o->batch_max ? o->batch_max : simulated ? l->depth : fewest;
	l->done_at_once = sp__min(l->done_at_once, l->depth);
}

int sp__load_open(struct sp__load *l, struct sp_errinfo *err)
{
	struct sp_bench *b = l->bench;
	int fds[SP_BENCH_TARGETS_MAX], rc = 0;
	struct sp__queue_opts opts = {
		.engine = b->opts.engine, .depth = l->depth, .trace = b->trace, .bound = true
	};

	if (!b->device)
		rc = open_pool(l);
	if (rc == 0)
		rc = open_slots(l);
	if (rc)
		return sp__err(err, rc, "open", "", -1);
	choose_batches(l);
	if (b->device) {
		rc = sp__port_sim(&l->port, b->device, l->depth, b->trace);
		return rc ? sp__err(err, rc, "open", "", -1) : 0;
	}
	if (b->opts.fixed_buffers) {
		opts.pool = l->pool;
		opts.pool_bytes = l->pool_bytes;
	}
	for (size_t i = 0; i < b->nfiles; i++)
		fds[i] = b->files[i].volume->fd;
	opts.fds = fds;
	opts.nfds = b->opts.register_files ? (unsigned)b->nfiles : 0;
	rc = sp__port_queue(&l->port, &opts, err);
	/* the engine sync transfers the bytes in the call that submits */
	l->times_submissions = rc == 0 && b->opts.time_submissions && !b->threaded &&
			       strcmp(l->port->engine, "sync") != 0;
	return rc;
}

void sp__load_close(struct sp__load *l)
{
	if (l->port)
		l->port->ops->close(l->port);
	if (l->pool)
		sp__pages_free(l->pool, l->pool_bytes);
	free(l->slots);
	free(l->batch);
}

static void note(struct sp__load *l, struct sp__request *const *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct sp__bench_slot *s = slot_of(reqs[i]);

		if (!s->intended_ns)
			s->intended_ns = s->req.submit_ns;
		sp__meter_submitted(l->bench, s);
	}
}

/* Notes the end of a submission: the last of its requests begins no later. */
static void note_sent(struct sp__load *l, struct sp__request *const *reqs, size_t n)
{
	uint64_t now_ns = sp__volume_now_ns(l->bench->device);

	for (size_t i = 0; i < n; i++)
		slot_of(reqs[i])->sent_ns = now_ns;
}

/*
 * Submits requests in one call.  The engine of threads does the I/O inside the call; there requests
 * are counted before it, and the lock is released.
 */
static int submit_some(struct sp__load *l, struct sp__request **reqs, size_t n)
{
	struct sp_bench *b = l->bench;
	int rc;

	if (b->threaded) {
		for (size_t i = 0; i < n; i++)
			reqs[i]->submit_ns = sp__volume_now_ns(l->bench->device);
		note(l, reqs, n);
		pthread_mutex_unlock(&b->lock);
	}
	rc = l->port->ops->submit(l->port, reqs, n);
	if (b->threaded)
		pthread_mutex_lock(&b->lock);
	if (rc < 0)
		return rc;
	if (l->times_submissions)
		note_sent(l, reqs, n);
	if (!b->threaded)
		note(l, reqs, n);
	l->outstanding += (unsigned)n;
	return 0;
}

static int submit(struct sp__load *l, size_t n)
{
	int rc = 0;

	for (size_t done = 0; done < n && rc == 0; done += l->at_once)
		rc = submit_some(l, l->batch + done, sp__min(n - done, l->at_once));
	return rc;
}

/* Returns the next time at which the load has work even if nothing completes. */
static uint64_t next_due(const struct sp__load *l, uint64_t now_ns)
{
	const struct sp_bench *b = l->bench;
	uint64_t due = b->device ? UINT64_MAX : now_ns + LOOK_NS;

	if (!b->meter.measuring)
		due = sp__min(due, b->meter.begin_ns + b->opts.ramp_ns);
	due = sp__min(due, sp__min(b->meter.tick_ns, b->meter.end_ns));
	due = sp__min(due, b->meter.round_ns);
	return sp__load_due(l, now_ns, due);
}

/* A request that was extended to the alignment can be cut short by the end of the file. */
static void settle_replayed(struct sp__request *r)
{
	if (r->op == SP__OP_READ && r->result > 0 && (uint32_t)r->result < r->bytes &&
	    r->offset + (uint32_t)r->result == r->volume->size_bytes)
		r->bytes = (uint32_t)r->result;
}

static int fail(const struct sp__request *r, struct sp_errinfo *err)
{
	const char *op = r->op == SP__OP_READ ? "read" : "write";

	if (r->result < 0)
		return sp__err(err, r->result, op, r->volume->name, (long long)r->offset);
	return sp__errf(err, SP_EFORMAT, op, r->volume->name, (long long)r->offset,
			"only %d of %u bytes were transferred", r->result, r->bytes);
}

/* Takes n completions.  Returns the first failure of a request, if it ends the run. */
static int take(struct sp__load *l, size_t n, struct sp_errinfo *err)
{
	struct sp_bench *b = l->bench;
	int rc = 0;

	for (size_t i = 0; i < n; i++) {
		struct sp__bench_slot *s = slot_of(l->batch[i]);

		if (b->replay)
			settle_replayed(&s->req);
		sp__meter_done(b, s);
		if ((uint32_t)s->req.result != s->req.bytes && !b->opts.keep_going && rc == 0)
			rc = fail(&s->req, err);
		if (s->group->feed)
			sp__pageload_done(&s->group->feed->load, s->page_class, &s->page,
					  s->req.done_ns);
		s->class = NULL;
		s->next = s->group->free;
		s->group->free = s;
	}
	l->outstanding -= (unsigned)n;
	return rc;
}

static void lock(struct sp_bench *b)
{
	if (b->threaded)
		pthread_mutex_lock(&b->lock);
}

static void unlock(struct sp_bench *b)
{
	if (b->threaded)
		pthread_mutex_unlock(&b->lock);
}

/* True if all requests of this class (-1: of all classes) are issued. */
static bool all_issued(const struct sp_bench *b, int class)
{
	if (b->opts.total_bytes && b->meter.measuring && b->issued_bytes >= b->opts.total_bytes)
		return true;
	if (!b->replay && class >= 0)
		return sp__load_issued(&b->loads[class]);
	if (!b->replay) {
		for (size_t i = 0; i < b->nloads; i++)
			if (!sp__load_issued(&b->loads[i]))
				return false;
		return true;
	}
	if (class >= 0 || !b->threaded)
		return sp__replay_due(b->replay, class) == UINT64_MAX;
	for (size_t i = 0; i < b->nclasses; i++)
		if (sp__replay_due(b->replay, (int)i) != UINT64_MAX)
			return false;
	return true;
}

/* True if a page load of the load has ended. */
static bool feed_finished(const struct sp__load *l)
{
	for (size_t i = 0; i < l->ngroups; i++)
		if (l->groups[i].feed && l->groups[i].feed->load.over)
			return true;
	return false;
}

/* True if the load has ended.  Called under the lock. */
static bool over(struct sp__load *l, uint64_t now_ns)
{
	struct sp_bench *b = l->bench;

	if (b->opts.stop && *b->opts.stop)
		b->stopped = true;
	if (now_ns >= b->meter.end_ns || b->stopped || feed_finished(l)) {
		sp__meter_end(b, now_ns);
		return true;
	}
	if (!all_issued(b, -1))
		return b->threaded && all_issued(b, sp__load_class(l)) && l->outstanding == 0;
	if (b->meter.depth.n == 0)
		sp__meter_end(b, now_ns);
	return l->outstanding == 0;
}

static size_t least(const struct sp__load *l)
{
	unsigned min = l->bench->opts.batch_min ? l->bench->opts.batch_min : 1;

	return sp__min(min, l->outstanding);
}

/*
 * Takes completions.  Returns 0, an error of the queue, or the error of a request that ends the
 * run.
 */
static int reap(struct sp__load *l, size_t min, uint64_t until_ns, uint64_t *now_ns,
		struct sp_errinfo *err)
{
	int n = l->port->ops->reap(l->port, l->batch, l->done_at_once, min, until_ns), rc;

	if (n < 0)
		return sp__err(err, n, "reap", "", -1);
	*now_ns = n ? l->batch[n - 1]->done_ns : sp__volume_now_ns(l->bench->device);
	lock(l->bench);
	rc = take(l, (size_t)n, err);
	if (rc) {
		l->bench->stopped = true;
		sp__meter_end(l->bench, *now_ns);
	}
	unlock(l->bench);
	return rc;
}

static void drain(struct sp__load *l)
{
	while (l->outstanding) {
		int n = l->port->ops->reap(l->port, l->batch, l->depth, l->outstanding, UINT64_MAX);

		if (n < 0)
			return;
		lock(l->bench);
		(void)take(l, (size_t)n, NULL);
		unlock(l->bench);
	}
}

int sp__load_run(struct sp__load *l, struct sp_errinfo *err)
{
	struct sp_bench *b = l->bench;
	uint64_t now_ns = sp__volume_now_ns(l->bench->device), due = 0;
	bool end = false;
	int rc = 0;

	for (size_t i = 0; i < l->ngroups; i++)
		l->groups[i].next_ns = (double)now_ns;
	while (rc == 0) {
		lock(b);
		sp__meter_clock(b, now_ns);
		end = over(l, now_ns);
		if (!end)
			rc = submit(l, sp__load_fill(l, now_ns));
		due = next_due(l, now_ns);
		unlock(b);
		if (rc)
			sp__err(err, rc, "submit", "", -1);
		if (end || rc)
			break;
		rc = reap(l, least(l), due, &now_ns, err);
	}
	drain(l);
	return rc;
}
