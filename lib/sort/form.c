/* SPDX-License-Identifier: MIT */
/*
 * Run formation by load, sort, store.
 *
 * The caller fills one slot while the background task sorts the full ones and, as soon
 * as no empty slot would be left, stores the oldest of them.  With two slots reading,
 * sorting and writing overlap.  An input that fits, or may fit, gets more slots, so
 * that runs are sorted while it is read; storing then begins only when memory is short.
 *
 * Memory that is touched for the first time can cost more than temporary space, on a virtual
 * machine ten times as much, and not from the first slot on.  Both are measured as they are
 * used: slots that would be dearer than storing are given up, until storing proves dearer.
 *
 * Natural order: a slot that is already in order is not sorted, and a run whose first
 * record does not precede the last one stored continues the run being written: sorted
 * input makes one run.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "sort/plan/plan.h"
#include "sort/state.h"

/* Of the slots for input that fits in memory these stay free if records are as long as expected. */
#define SLOTS_LEFT 2
#define TOUCH_BYTES (8u << 20)
#define WEIGHED_BYTES (16u << 20) /* less says little of what follows */
#define TOUCHED_EACH 1.33	  /* bytes for each of a record, with its entry */
/* From this size huge pages pay: random access to records causes fewer TLB misses. */
#define HUGE_BYTES (16u << 20)

void sp__form_close(struct sp_sort *s)
{
	sp__runs_close(s);
	for (unsigned i = 0; s->forming.slots && i < s->forming.nslots; i++) {
		sp__runbuf_release(&s->forming.slots[i].buf);
		sp__pages_free(s->forming.slots[i].giant, s->forming.slots[i].giant_bytes);
	}
	sp__replace_close(&s->forming.replace);
	free(s->forming.slots);
	sp__pages_free(s->forming.arena, s->forming.arena ? s->forming.arena_bytes : 0);
}

void sp__form_sort_slot(struct sp_sort *s, struct sp__slot *slot)
{
	struct sp__runbuf *rb = &slot->buf;

	sp__runbuf_sort(rb);
	sp__charge_sorting(&s->env, rb->n);
	if (s->opts.unique && (!s->opts.count || rb->head))
		sp__runbuf_unique(rb);
	if (s->opts.top && !s->opts.count)
		sp__runbuf_cut(rb, s->opts.top);
	atomic_store_explicit(&slot->sorted, true, memory_order_release);
}

/*
 * The slot to be filled next, if it has never been used and will surely be filled.
 * First touches of memory can cost as much as reading its contents from a drive, so the
 * task does half of them.
 */
static struct sp__slot *slot_ahead(struct sp_sort *s)
{
	struct sp__slot *now = &s->forming.slots[s->forming.filling],
			*next = sp__slot_oldest(s, SP__SLOT_EMPTY);

	if (s->threads < 2 || !next || next->touched || next->bytes < TOUCH_BYTES ||
	    s->plan.input_bytes <
		    s->stats.input_bytes + sp__min(now->bytes, s->forming.enough_bytes))
		return NULL;
	next->touched = true;
	return next;
}

/* Records will lie in the lower part of a slot, entries at its end. */
static void touch(struct sp_sort *s, struct sp__slot *slot)
{
	size_t used = sp__min(slot->bytes / 4 * 3, s->forming.enough_bytes);
	size_t half = used / 2 & ~(size_t)4095;
	uint64_t begin = sp__env_now_ns(&s->env);

	sp__pages_touch(slot->mem + half, half);
	s->forming.touching = (struct sp__cost){ sp__env_now_ns(&s->env) - begin, half };
}

/* Stores all slots that the task owns for storing. */
static int store_handed(struct sp_sort *s)
{
	struct sp__cost cost = { sp__env_now_ns(&s->env), 0 };
	struct sp__slot *slot;
	int rc = 0;

	while (!rc && (slot = sp__slot_oldest(s, SP__SLOT_STORING))) {
		cost.bytes += sp__runbuf_gives(&slot->buf);
		rc = sp__runs_store(s, slot);
	}
	cost.ns = sp__env_now_ns(&s->env) - cost.ns;
	if (cost.bytes)
		s->forming.storing = cost;
	return rc;
}

/* The background task. */
static void work(void *arg)
{
	struct sp_sort *s = arg;

	if (s->forming.orders.touch)
		touch(s, s->forming.orders.touch);
	if (s->forming.orders.sort && !s->forming.orders.beside)
		sp__form_sort_slot(s, s->forming.orders.sort);
	s->task_error = store_handed(s);
	if (!s->task_error)
		s->task_error = sp__finish_due(s);
}

/* Only sorts, while the background task stores. */
static void sort_beside(void *arg)
{
	struct sp_sort *s = arg;

	sp__form_sort_slot(s, s->forming.orders.sort);
}

/*
 * Hands over a slot to be sorted (or NULL) and, with make_room, others to be stored.
 * Both run in parallel unless the slot to be sorted must be stored too.
 */
static void start_work(struct sp_sort *s, struct sp__slot *to_sort, bool make_room)
{
	struct sp__orders *o = &s->forming.orders;

	sp__slots_hand_over(s, to_sort, make_room);
	o->touch = slot_ahead(s);
	if (!o->sort && !o->stores && !o->touch)
		return;
	if (s->threads < 2 || (o->sort && o->sort->buf.used < SP__INLINE_BYTES && !o->stores)) {
		work(s);
		return;
	}
	o->beside = o->sort && o->sort->state == SP__SLOT_SORTING && o->stores;
	if (o->beside)
		sp__task_start(&s->forming.sorting, sort_beside, s);
	sp__task_start(&s->task, work, s);
}

int sp__form_open(struct sp_sort *s)
{
	size_t each = s->plan.run_bytes & ~(size_t)4095, slots = each * s->plan.run_buffers;
	struct sp__forming *f = &s->forming;
	char *at;

	f->nslots = s->plan.run_buffers;
	f->patient = s->plan.in_memory || (!s->plan.input_bytes && !s->opts.run_bytes);
	f->enough_bytes = s->plan.in_memory && s->plan.input_bytes >= HUGE_BYTES
				  ? s->plan.input_bytes / (f->nslots - SLOTS_LEFT)
				  : SIZE_MAX;
	f->slots = calloc(f->nslots + SP__SELECT_SLOTS, sizeof(*f->slots));
	if (sp__policy_eager(s->plan.policy))
		f->spare_bytes = s->plan.merge_bytes & ~(size_t)4095;
	else if (s->plan.merge_bytes > slots)
		f->spare_bytes = (s->plan.merge_bytes - slots) & ~(size_t)4095;
	f->arena_bytes = slots + f->spare_bytes + s->spilled.write_bytes +
			 SP__RING_BUFFERS * s->output.buffer_bytes;
	at = f->arena = sp__pages_alloc(f->arena_bytes, s->plan.input_bytes >= HUGE_BYTES);
	if (!f->slots || !f->arena)
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&s->env.budget, f->arena_bytes);
	for (unsigned i = 0; i < f->nslots; i++, at += each)
		sp__slot_make(s, &f->slots[i], at, each);
	f->spare_mem = at;
	at += f->spare_bytes;
	s->spilled.write_mem = at;
	at += s->spilled.write_bytes;
	sp__ring_use(&s->output.ring, at, s->output.buffer_bytes);
	f->slots[0].state = SP__SLOT_FILLING;
	if (s->plan.formation == SP_FORM_REPLACEMENT && !s->plan.in_memory)
		return sp__select_open(s);
	f->slots[0].touched = true;
	start_work(s, NULL, false);
	return 0;
}

int sp__form_join(struct sp_sort *s)
{
	sp__task_join(&s->forming.sorting);
	sp__task_join(&s->task);
	sp__slots_take_back(s);
	return s->task_error;
}

int sp__form_settled(struct sp_sort *s)
{
	int rc;

	if (!sp__task_done(&s->forming.sorting) || !sp__task_done(&s->task))
		return SP_LATER;
	rc = sp__form_join(s);
	return rc < 0 ? rc : SP_READY;
}

/* Is the slot full enough, and another one free? */
static bool has_enough(struct sp_sort *s, const struct sp__slot *slot)
{
	return s->forming.patient && slot->buf.record_bytes >= s->forming.enough_bytes &&
	       sp__slot_oldest(s, SP__SLOT_EMPTY);
}

static double seconds_per_mib(const struct sp__cost *c)
{
	return (double)c->ns * 1e-9 / ((double)c->bytes / (1 << 20));
}

/* Is keeping a record dearer than storing and reading it?  No task is running. */
static void weigh_memory(struct sp_sort *s)
{
	const struct sp__forming *f = &s->forming;
	double touching, storing;

	if (f->touching.bytes < WEIGHED_BYTES)
		return;
	touching = seconds_per_mib(&f->touching) * TOUCHED_EACH;
	storing = f->storing.bytes ? seconds_per_mib(&f->storing) : SP__DEVICE_TRANSFER_S_PER_MIB;
	storing = 2 * storing + SP__PLAN_MERGE_S_PER_MIB;
	if (f->patient && touching > storing)
		sp__slots_give_up(s);
	else if (f->given_up && touching < storing)
		sp__slots_reclaim(s);
}

/*
 * The slot being filled is full, or there is none: hands it over and finds another, unless it
 * gets more memory.
 * While the input may still fit (s->forming.patient) nothing is stored before the last
 * slot is full; later whenever no slot would be left.
 */
static int rotate(struct sp_sort *s)
{
	struct sp__slot *full = &s->forming.slots[s->forming.filling], *next;
	bool store;
	int rc;

	rc = sp__form_settled(s);
	if (rc != SP_READY)
		return rc;
	sp__slots_divide(s);
	if (full->state == SP__SLOT_FILLING) {
		if (!has_enough(s, full) && sp__slot_annex(s, full))
			return SP_READY;
		if (!s->forming.next_age && s->plan.input_bytes < HUGE_BYTES)
			sp__pages_huge(s->forming.arena, s->forming.arena_bytes);
		full->age = s->forming.next_age++;
		full->end_bytes = s->stats.input_bytes;
		s->stats.runs++;
		/* One long record says nothing of the others. */
		s->forming.distinct |= !full->giant && !sp__runbuf_collapses(&full->buf);
	} else {
		full = NULL;
	}
	weigh_memory(s);
	if (s->spilled.store)
		sp__slots_coalesce(s);
	next = sp__slot_fill(s);
	if (!next)
		s->forming.patient = false;
	store = !s->forming.patient && !sp__slot_oldest(s, SP__SLOT_EMPTY);
	if (full || store)
		start_work(s, full, store);
	if (next)
		return SP_READY;
	return sp__task_done(&s->task) ? rotate(s) : SP_LATER;
}

/*
 * A record larger than a whole slot gets separate memory.  Only one at a time: others
 * are stored first, at once, since their cost dominates.
 */
static int make_giant(struct sp_sort *s, struct sp__slot *slot, const char *data, size_t bytes)
{
	const char *end = sp__rec_end(&s->opts.format, data, bytes);
	size_t need = sp__runbuf_need(&slot->buf, (size_t)(end - data));
	struct sp__slot *oldest;
	int rc = sp__form_join(s);

	s->forming.patient = false;
	while (!rc && sp__slots_giant(s) && (oldest = sp__slot_oldest(s, SP__SLOT_SORTED)))
		rc = sp__runs_store(s, oldest);
	if (rc < 0)
		return rc;
	sp__slot_empty(s, slot);
	slot->state = SP__SLOT_FILLING;
	slot->giant_bytes = (need + 4095) & ~(size_t)4095;
	if (slot->giant_bytes < SP__REF_OFFSET_MAX)
		slot->giant = sp__pages_alloc(slot->giant_bytes, false);
	if (!slot->giant)
		return sp__err(s->env.err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&s->env.budget, slot->giant_bytes);
	sp__runbuf_use(&slot->buf, slot->giant, slot->giant_bytes);
	return 0;
}

static int take(struct sp_sort *s, struct sp__slot *slot, const char *data, size_t bytes)
{
	uint64_t before = slot->buf.added.records, records;
	uint64_t dropped = slot->buf.dropped.bytes;
	size_t took = 0;
	int rc = sp__runbuf_add(&slot->buf, data, bytes, &took);

	if (rc < 0)
		return sp__err(s->env.err, rc, "allocate", NULL, -1);
	records = slot->buf.added.records - before;
	s->forming.taken += took;
	s->stats.records += records;
	s->stats.input_bytes += took;
	sp__charge_work(&s->env, records, sp__runbuf_collapses(&slot->buf),
			took - (slot->buf.dropped.bytes - dropped));
	return 0;
}

int sp__form_put(struct sp_sort *s, const struct sp_batch *batch)
{
	while (s->forming.taken < batch->bytes) {
		struct sp__slot *slot = &s->forming.slots[s->forming.filling];
		const char *data = batch->data + s->forming.taken;
		size_t left = batch->bytes - s->forming.taken;
		int rc;

		if (slot->state == SP__SLOT_FILLING && !(slot->giant && slot->buf.n) &&
		    !has_enough(s, slot)) {
			rc = take(s, slot, data, left);
			if (rc < 0)
				return rc;
			if (s->forming.taken == batch->bytes)
				break;
			if (!slot->buf.n) {
				rc = make_giant(s, slot, data, left);
				if (rc < 0)
					return rc;
				continue;
			}
		}
		rc = s->forming.replacing ? sp__select_rotate(s) : rotate(s);
		if (rc != SP_READY)
			return rc;
	}
	s->forming.taken = 0;
	return SP_READY;
}

void sp__form_end(struct sp_sort *s)
{
	struct sp__slot *last = &s->forming.slots[s->forming.filling];

	if (s->forming.replacing) {
		sp__select_end(s);
		return;
	}
	if (last->state != SP__SLOT_FILLING)
		return;
	if (!last->buf.n) {
		last->state = SP__SLOT_EMPTY;
		return;
	}
	last->age = s->forming.next_age++;
	last->end_bytes = s->stats.input_bytes;
	s->stats.runs++;
	start_work(s, last, false);
}
