/* SPDX-License-Identifier: MIT */
/*
 * Moves requests through the stages of the simulated block device (arrival at the scheduler,
 * dispatch, completion) and counts them there.
 */
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

void sp__blockdev_count(struct sp__blockdev *bd, enum sp__depth which, int change)
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

void sp__blockdev_arrive(struct sp__blockdev *bd, struct sp__blockreq *r)
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

void sp__blockdev_complete(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	struct sp__bdqueue *q = &bd->queues[r->queue];
	struct sp__blockreq *member, *next;
	bool hit = !r->missed;

	q->inside--;
	sp__blockdev_count(bd, SP__DEPTH_DEVICE, -1);
	sp__sched_done(&q->sched, r);
	release(q, r->slot, bd->now_ns);
	bd->stats.hits += hit;
	for (member = r; member; member = next) {
		next = member->merged;
		member->dispatch_ns = r->dispatch_ns;
		member->done_ns = bd->now_ns;
		member->hit = hit;
		sp__blockdev_count(bd, SP__DEPTH_TOTAL, -1);
		sp__reqlist_push(&bd->done, member);
	}
}

void sp__blockdev_dispatch(struct sp__blockdev *bd, struct sp__blockreq *r)
{
	struct sp__bdqueue *q = &bd->queues[r->queue];
	struct sp__blockreq *member;
	uint64_t blocks = r->end - r->start;

	r->dispatch_ns = bd->now_ns;
	r->split = r->start;
	for (member = r; member; member = member->merged)
		sp__blockdev_count(bd, SP__DEPTH_QUEUED, -1);
	q->inside++;
	sp__blockdev_count(bd, SP__DEPTH_DEVICE, 1);
	bd->stats.dispatched++;
	bd->stats.dispatched_reads += !r->write;
	if (r->write)
		bd->stats.write_blocks += blocks;
	else
		bd->stats.read_blocks += blocks;
	sp__sched_dispatched(&q->sched, r);
	sp__reqlist_push(&bd->splitting, r);
}
