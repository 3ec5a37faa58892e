/* SPDX-License-Identifier: MIT */
/*
 * Simulates a block device: time, queues, window.
 *
 * Algorithm.  Events have known times: the overhead of a request ends, a service ends.  Decisions
 * (which request is dispatched, which one a lane serves) are due when an event has changed the
 * state.  All events of a moment precede its decisions, so every request available at that moment
 * is known.  A request that the caller submits at that moment is available too, so advance()
 * returns with completions before it decides at the same moment.  Time passes only when no decision
 * is left.
 *
 * Overhead is spent before the scheduler, by each request separately.  Inside the window, a window
 * of one would serialise it, and requests in their overhead would occupy slots of the window.
 *
 * An indivisible batch is one request to the scheduler: its first part, with the others linked to
 * it.  When it is picked, the others follow before the scheduler picks again.  Each queue has its
 * own batch of the requests that are submitted together.
 */
#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "sim/blockdev_impl.h"

void sp__reqlist_push(struct sp__reqlist *l, struct sp__blockreq *r)
{
	r->next = NULL;
	if (l->head)
		l->tail->next = r;
	else
		l->head = r;
	l->tail = r;
}

struct sp__blockreq *sp__reqlist_pop(struct sp__reqlist *l)
{
	struct sp__blockreq *r = l->head;

	if (r)
		l->head = r->next;
	return r;
}

/* Counts one request more or less at a stage, from now_ns on. */
static void blockdev_count(struct sp__blockdev *bd, enum sp__depth which, int change)
{
	struct sp__depthcount *d = &bd->depths[which];

	d->ns[d->n < SP__DEPTH_MAX ? d->n : SP__DEPTH_MAX] += bd->now_ns - d->since_ns;
	d->since_ns = bd->now_ns;
	d->n += (unsigned)change;
}

/* Admits r to the scheduler; r and the rest of its batch take one slot each. */
static void admit(struct sp__bdqueue *q, struct sp__blockreq *r, uint8_t slot, uint64_t now_ns)
{
	struct sp__blockreq *part;

	for (part = r; part; part = part->part) {
		part->slot = slot;
		q->slots[slot].held++;
		q->held++;
	}
	sp__sched_add(&q->sched, r, now_ns);
}

/* True if r fits.  A batch larger than the limit is admitted alone. */
static bool fits(const struct sp__bdqueue *q, unsigned slot, unsigned limit,
		 const struct sp__blockreq *r)
{
	unsigned n = q->sched.params.npool ? q->held : q->slots[slot].held;

	if (!limit || !n)
		return true;
	for (; r && n <= limit; r = r->part)
		n++;
	return n <= limit;
}

/*
 * Returns the level whose waiting request is next in a pool: the oldest that has aged; else the
 * highest.
 */
static unsigned next_level(const struct sp__bdqueue *q, uint64_t now_ns, bool *aged)
{
	uint64_t oldest_ns = SP__NEVER;
	unsigned i, first = SP__SCHED_FIFOS_MAX, old = first;

	for (i = 0; i < SP__SCHED_FIFOS_MAX; i++) {
		const struct sp__blockreq *r = q->slots[i].waiting.head;

		if (r && first == SP__SCHED_FIFOS_MAX)
			first = i;
		if (r && r->ready_ns < oldest_ns) {
			oldest_ns = r->ready_ns;
			old = i;
		}
	}
	*aged = oldest_ns <= now_ns && now_ns - oldest_ns >= q->sched.params.aging_ns;
	return *aged ? old : first;
}

static void release(struct sp__bdqueue *q, unsigned slot, uint64_t now_ns)
{
	bool aged = false;
	struct sp__slots *s;

	q->slots[slot].held--;
	q->held--;
	for (;;) {
		if (q->sched.params.npool)
			slot = next_level(q, now_ns, &aged);
		s = &q->slots[slot];
		if (slot == SP__SCHED_FIFOS_MAX || !s->waiting.head ||
		    !fits(q, slot, q->slots[aged ? 0 : slot].limit, s->waiting.head))
			return;
		admit(q, sp__reqlist_pop(&s->waiting), (uint8_t)slot, now_ns);
	}
}

/* Ends the overhead of r: merges it, admits it, or lets it wait for a slot. */
static void blockdev_arrive(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	struct sp__bdqueue *q = &bd->queues[r->queue];
	uint8_t slot = q->sched.ops->limit ? (uint8_t)sp__sched_fifo(&q->sched, r) : 0;
	struct sp__slots *s = &q->slots[slot];
	struct sp__blockreq *absorbed;

	if (bd->merge && !r->batch && sp__sched_merge(&q->sched, r, &absorbed)) {
		bd->stats.merges += absorbed ? 2 : 1;
		if (absorbed)
			release(q, absorbed->slot, bd->now_ns);
		return;
	}
	if (!s->waiting.head && fits(q, slot, s->limit, r))
		admit(q, r, slot, bd->now_ns);
	else
		sp__reqlist_push(&s->waiting, r);
}

/* Appends r and the requests merged into it to the list of completed requests. */
static void blockdev_complete(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	struct sp__bdqueue *q = &bd->queues[r->queue];
	struct sp__blockreq *member, *next;
	bool hit = !r->missed;

	q->inside--;
	blockdev_count(bd, SP__DEPTH_DEVICE, -1);
	sp__sched_done(&q->sched, r);
	release(q, r->slot, bd->now_ns);
	bd->stats.hits += hit;
	for (member = r; member; member = next) {
		next = member->merged;
		member->dispatch_ns = r->dispatch_ns;
		member->done_ns = bd->now_ns;
		member->hit = hit;
		blockdev_count(bd, SP__DEPTH_TOTAL, -1);
		sp__reqlist_push(&bd->done, member);
	}
}

static void blockdev_dispatch(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	struct sp__bdqueue *q = &bd->queues[r->queue];
	struct sp__blockreq *member;
	uint64_t blocks = r->end - r->start;

	r->dispatch_ns = bd->now_ns;
	r->split = r->start;
	for (member = r; member; member = member->merged)
		blockdev_count(bd, SP__DEPTH_QUEUED, -1);
	q->inside++;
	blockdev_count(bd, SP__DEPTH_DEVICE, 1);
	bd->stats.dispatched++;
	bd->stats.dispatched_reads += !r->write;
	if (r->write)
		bd->stats.write_blocks += blocks;
	else
		bd->stats.read_blocks += blocks;
	sp__sched_dispatched(&q->sched, r);
	sp__reqlist_push(&bd->splitting, r);
}

static int open_queue(struct sp__bdqueue *q, const struct sp__model *m,
		      const struct sp__blockdev_opts *opts, struct sp_errinfo *err)
{
	int rc = sp__sched_open(&q->sched, opts->sched ? opts->sched : "noop", err);
	unsigned i;

	if (rc)
		return rc;
	q->sched.sorted |= opts->merge;
	q->sched.merge_blocks_max =
		opts->merge_blocks_max ? opts->merge_blocks_max : (1u << 20) / m->block_bytes;
	for (i = 0; i < SP__SCHED_FIFOS_MAX; i++)
		q->slots[i].limit = q->sched.ops->limit ? q->sched.ops->limit(&q->sched, i)
							: opts->requests_max;
	return 0;
}

static int setup(struct sp__blockdev *bd, const struct sp__model *m,
		 const struct sp__blockdev_opts *opts, struct sp_errinfo *err)
{
	unsigned held = opts->window ? opts->window : m->window, i;
	int rc = 0;

	bd->queues = calloc(m->queues, sizeof(*bd->queues));
	if (!bd->queues)
		return -ENOMEM;
	for (i = 0; rc == 0 && i < m->queues; i++)
		rc = open_queue(&bd->queues[i], m, opts, err);
	if (rc)
		return rc;
	bd->merge = opts->merge;
	bd->divide = opts->divide;
	bd->held = m->drives > 1 ? held : UINT_MAX;
	bd->window = held * (m->drives / m->queues);
	bd->policy = opts->policy < 0 ? m->window_policy : (enum sp__window_policy)opts->policy;
	bd->age_ns = opts->age_ns ? opts->age_ns : m->window_age_ns;
	if (!bd->age_ns)
		bd->age_ns = SP__NEVER;
	rc = sp__device_open(&bd->dev, m);
	return rc ? rc : sp__lanes_open(bd);
}

int sp__blockdev_open(struct sp__blockdev **out, const struct sp__model *m,
		      const struct sp__blockdev_opts *opts, struct sp_errinfo *err)
{
	struct sp__blockdev *bd = calloc(1, sizeof(*bd));
	int rc = bd ? setup(bd, m, opts, err) : -ENOMEM;

	*out = NULL;
	if (rc) {
		sp__blockdev_close(bd);
		return sp__err(err, rc, "sim", "", -1);
	}
	*out = bd;
	return 0;
}

void sp__blockdev_close(struct sp__blockdev *bd)
{
	if (!bd)
		return;
	sp__lanes_close(bd);
	if (bd->dev.model)
		sp__device_close(&bd->dev);
	free(bd->queues);
	free(bd);
}

static void decide(struct sp__blockdev *bd)
{
	struct sp__bdqueue *q = bd->queues, *end = q + bd->dev.model->queues;
	struct sp__blockreq *r;

	bd->pending = false;
	for (; q < end; q++) {
		while (q->inside < bd->window) {
			r = q->rest ? q->rest : sp__sched_next(&q->sched, bd->now_ns);
			if (!r)
				break;
			q->rest = r->part;
			blockdev_dispatch(bd, r);
		}
	}
	sp__lanes_start(bd);
}

/* True if a request could be dispatched now. */
static bool waits(const struct sp__blockdev *bd)
{
	const struct sp__bdqueue *q = bd->queues, *end = q + bd->dev.model->queues;

	while (q < end && (q->inside >= bd->window || !(q->rest || q->sched.n)))
		q++;
	return q < end;
}

static struct sp__reqlist *overhead_ends(struct sp__blockdev *bd)
{
	struct sp__blockreq *a = bd->overhead[0].head, *b = bd->overhead[1].head;

	if (!a || (b && b->ready_ns < a->ready_ns) ||
	    (b && b->ready_ns == a->ready_ns && b->seq < a->seq))
		return &bd->overhead[1];
	return &bd->overhead[0];
}

static uint64_t next_event(const struct sp__blockdev *bd)
{
	uint64_t t = bd->lanes_next_ns;
	int i;

	for (i = 0; i < 2; i++)
		if (bd->overhead[i].head && bd->overhead[i].head->ready_ns < t)
			t = bd->overhead[i].head->ready_ns;
	return t;
}

/* Processes all events of the present moment. */
static void events(struct sp__blockdev *bd)
{
	struct sp__reqlist *l;

	if (bd->lanes_next_ns == bd->now_ns) {
		struct sp__blockreq *r = sp__lanes_finish(bd), *next;

		for (; r; r = next) {
			next = r->next;
			blockdev_complete(bd, r);
		}
	}
	for (l = overhead_ends(bd); l->head && l->head->ready_ns == bd->now_ns;
	     l = overhead_ends(bd))
		blockdev_arrive(bd, sp__reqlist_pop(l));
	bd->pending = sp__lanes_ready(bd) || waits(bd);
}

/*
 * Runs until until_ns. hold: does not decide at until_ns while the caller has not seen a
 * completion.
 */
static void run(struct sp__blockdev *bd, uint64_t until_ns, bool hold)
{
	uint64_t t;

	for (;;) {
		t = next_event(bd);
		if (bd->pending && t > bd->now_ns) {
			if (hold && bd->now_ns == until_ns && bd->done.head)
				return;
			decide(bd);
		} else if (t > until_ns || t == SP__NEVER) {
			return;
		} else {
			bd->now_ns = t;
			events(bd);
		}
	}
}

static void prepare(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	const struct sp__model *m = bd->dev.model;

	assert(r->blocks && r->lbn + r->blocks <= m->blocks);
	r->submit_ns = bd->now_ns;
	r->missed = r->batch = false;
	r->slot = 0;
	r->subreqs = 0;
	r->seq = ++bd->seq;
	r->queue = m->ops->queue ? (uint16_t)m->ops->queue(m, r->lbn) : 0;
	r->ready_ns = bd->now_ns + m->overhead_ns[r->write];
	r->start = r->lbn;
	r->end = r->lbn + r->blocks;
	r->merged = r->part = NULL;
	r->last = r;
	bd->stats.requests++;
	blockdev_count(bd, SP__DEPTH_QUEUED, 1);
	blockdev_count(bd, SP__DEPTH_TOTAL, 1);
}

static void into_overhead(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	bool write = r->ready_ns - r->submit_ns == bd->dev.model->overhead_ns[1];

	sp__reqlist_push(&bd->overhead[write], r);
}

/* Appends r to the batch of its queue; consecutive parts that are adjacent become one. */
static void into_batch(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	struct sp__bdqueue *q = &bd->queues[r->queue];
	struct sp__blockreq *tail = q->tail;

	r->batch = true;
	if (!q->batch) {
		q->batch = q->tail = r;
		return;
	}
	q->batch->ready_ns = sp__max(q->batch->ready_ns, r->ready_ns);
	if (bd->merge && (tail->end == r->start || r->end == tail->start) &&
	    sp__sched_alike(&q->sched, tail, r)) {
		sp__blockreq_join(tail, r);
		bd->stats.merges++;
	} else {
		tail->part = r;
		q->tail = r;
	}
}

static void submit_batch(struct sp__blockdev *bd, struct sp__blockreq **reqs, size_t n)
{
	struct sp__bdqueue *q = bd->queues, *end = q + bd->dev.model->queues;
	size_t i;

	for (i = 0; i < n; i++)
		into_batch(bd, reqs[i]);
	for (; q < end; q++) {
		if (q->batch)
			into_overhead(bd, q->batch);
		q->batch = NULL;
	}
}

/* Advances to now_ns: everything before this moment has happened. */
static void come_to(struct sp__blockdev *bd, uint64_t now_ns)
{
	assert(now_ns >= bd->now_ns);
	if (now_ns > bd->now_ns) {
		run(bd, now_ns - 1, false);
		bd->now_ns = now_ns;
	}
}

void sp__blockdev_submit(struct sp__blockdev *bd, uint64_t now_ns, struct sp__blockreq **reqs,
			 size_t n, bool indivisible)
{
	size_t i;

	come_to(bd, now_ns);
	for (i = 0; i < n; i++)
		prepare(bd, reqs[i]);
	if (indivisible && n > 1 && !bd->divide) {
		submit_batch(bd, reqs, n);
		return;
	}
	for (i = 0; i < n; i++)
		into_overhead(bd, reqs[i]);
}

void sp__blockdev_submit_continuation(struct sp__blockdev *bd, uint64_t now_ns, uint64_t since_ns,
				      struct sp__blockreq *r)
{
	struct sp__reqlist *l = &bd->overhead[r->write];
	struct sp__blockreq **at = &l->head;

	come_to(bd, now_ns);
	prepare(bd, r);
	r->ready_ns = since_ns + bd->dev.model->overhead_ns[r->write];
	r->ready_ns = sp__max(r->ready_ns, now_ns);
	while (*at && (*at)->ready_ns <= r->ready_ns)
		at = &(*at)->next;
	r->next = *at;
	*at = r;
	if (!r->next)
		l->tail = r;
}

uint64_t sp__blockdev_next_ns(const struct sp__blockdev *bd)
{
	if (bd->done.head)
		return bd->done.head->done_ns;
	return bd->pending ? bd->now_ns : next_event(bd);
}

struct sp__blockreq *sp__blockdev_advance(struct sp__blockdev *bd, uint64_t until_ns)
{
	struct sp__blockreq *done;

	until_ns = sp__max(until_ns, bd->now_ns);
	run(bd, until_ns, true);
	if (until_ns != SP__NEVER)
		bd->now_ns = until_ns;
	done = bd->done.head;
	bd->done.head = NULL;
	return done;
}

uint64_t sp__blockdev_flushed_ns(struct sp__blockdev *bd)
{
	return sp__device_drain(&bd->dev, bd->now_ns);
}

void sp__blockdev_stats(const struct sp__blockdev *bd, struct sp__blockdev_stats *s)
{
	*s = bd->stats;
	if (bd->nbusy)
		s->busy_ns += bd->now_ns - bd->busy_since_ns;
}

void sp__blockdev_depths(const struct sp__blockdev *bd, enum sp__depth which,
			 uint64_t ns[SP__DEPTH_MAX + 1])
{
	const struct sp__depthcount *d = &bd->depths[which];

	memcpy(ns, d->ns, sizeof(d->ns));
	ns[d->n < SP__DEPTH_MAX ? d->n : SP__DEPTH_MAX] += bd->now_ns - d->since_ns;
}
