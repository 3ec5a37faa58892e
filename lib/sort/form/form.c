/* SPDX-License-Identifier: MIT */
/*
 * Forms runs in one or two threads: by load, sort, store, or by replacement selection.
 *
 * Load, sort, store: the caller fills one slot while the background task sorts full slots.  If no
 * empty slot would be left, the task also stores the oldest ones.  With two slots, reading, sorting
 * and writing overlap.  If the input fits, or might fit, into memory, there are more slots, so that
 * runs are sorted while the input is read; storing then starts only when memory is short.
 *
 * Memory: the first touch of memory can cost more than temporary space; on a virtual machine up to
 * ten times as much, and not from the first slot on.  Both costs are measured while the sort runs.
 * Unused slots are withdrawn if touching them would cost more than storing, and return if storing
 * proves to cost more.
 *
 * Natural order: a slot that is already in order is not sorted.  A slot whose first record does not
 * precede the last stored record continues the run being written, so sorted input makes one run.
 *
 * Replacement selection: the slots become
 *
 *	| slot 0: memory for records (replace.h) | slot 1 | slot 2 |
 *
 * Slots 1 and 2 are filled with batches alternately.  While one is filled, the background task
 * sorts the other, outputs records to the run being written, and stores the batch in their place.
 * The caller's thread processes small batches itself; one slot is then enough.  While all records
 * fit in memory, no run is written, and the final merge merges the strips in memory.
 */
#include <stdlib.h>
#include "base/err.h"
#include "sort/form/forming.h"
#include "sort/plan/plan.h"

static int begin(void *ctx)
{
	struct sp__forming *forming = ctx;
	struct sp__spilled *spilled = forming->spilled;
	int rc = sp__runs_open_spill(spilled);

	forming->sort->stats.runs++;
	return rc < 0 ? rc : sp__runs_begin(spilled, 0);
}

static int put(void *ctx, const char *rec, size_t bytes, const char *prev, size_t prev_bytes)
{
	struct sp__forming *forming = ctx;

	if (forming->sort->env.device)
		sp__keep_pace(&forming->sort->env, bytes, &forming->pace,
			      sp__replace_strips(&forming->replace));
	return sp__runs_put(forming->spilled, rec, bytes, prev, prev_bytes);
}

static int end(void *ctx, const char *prev, size_t prev_bytes)
{
	struct sp__forming *forming = ctx;
	int rc;

	sp__runs_set_prev(forming->spilled, prev, prev_bytes);
	sp__charge_merge(&forming->sort->env, &forming->pace,
			 sp__replace_strips(&forming->replace));
	rc = sp__runs_end(forming->spilled);
	return rc < 0 ? rc : sp__form_merge_due(forming);
}

/* Divides the slots into memory for records and batches. */
static int select_open(struct sp__forming *forming)
{
	struct sp__replace_sink sink = { forming, begin, put, end };
	struct sp__slot *first = &forming->slots[0];
	size_t bytes = 0, each, batches;
	int rc;

	for (unsigned i = 0; i < forming->nslots; i++)
		bytes += forming->slots[i].bytes;
	for (unsigned i = 1; i < forming->nslots; i++) {
		sp__runbuf_release(&forming->slots[i].buf);
		forming->slots[i].state = SP__SLOT_GONE;
		forming->slots[i].bytes = 0;
	}
	forming->nslots = SP__SELECT_SLOTS;
	each = sp__replace_batch_bytes(bytes);
	batches = forming->sort->threads > 1 && each >= SP__INLINE_BYTES ? 2 : 1;
	bytes -= batches * each;
	for (unsigned i = 0; i < 2; i++)
		sp__slot_make(forming, &forming->slots[1 + i], first->mem + bytes + i * each, each);
	if (batches == 1) {
		forming->slots[2].state = SP__SLOT_GONE;
		forming->slots[2].bytes = 0;
	}
	rc = sp__replace_open(&forming->replace, forming->sort->opts.keys, first->mem, bytes,
			      &forming->sort->env.budget, &sink,
			      forming->sort->opts.unique && !forming->sort->opts.count);
	if (rc < 0)
		return sp__err(forming->sort->env.err, rc, "allocate", NULL, -1);
	forming->replacing = true;
	forming->spilled->uncut = true;
	forming->filling = 1;
	forming->slots[1].state = SP__SLOT_FILLING;
	first->state = SP__SLOT_GONE;
	return 0;
}

/* Called when all records are in runs: makes the slots one free region. */
static void join_slots(struct sp__forming *forming)
{
	struct sp__slot *first = &forming->slots[0];

	first->bytes = (size_t)(forming->slots[1].mem - first->mem) + forming->slots[1].bytes +
		       forming->slots[2].bytes;
	first->state = SP__SLOT_EMPTY;
	forming->slots[1].state = forming->slots[2].state = SP__SLOT_GONE;
}

/* Body of the background task: adds a batch; after the last one, outputs the remaining records. */
static void select_batch(void *arg)
{
	struct sp__forming *forming = arg;
	struct sp__sort_shared *s = forming->sort;
	struct sp__slot *slot = forming->orders.sort;
	int rc = 0;

	if (slot) {
		sp__form_sort_slot(forming, slot);
		rc = sp__replace_add(&forming->replace, &slot->buf);
	}
	if (!rc && forming->orders.last && forming->spilled->store) {
		rc = sp__replace_drain(&forming->replace);
		join_slots(forming);
	} else if (forming->orders.last && s->stats.records) {
		s->stats.runs = 1;
	}
	if (rc == -ENOMEM)
		sp__err(s->env.err, rc, "allocate", NULL, -1);
	forming->task_error = rc;
}

static void start_selecting(struct sp__forming *forming, struct sp__slot *slot, bool last)
{
	sp__slots_hand_over(forming, slot, false);
	forming->orders.last = last;
	if (forming->sort->threads < 2 || (slot && slot->buf.used < SP__INLINE_BYTES && !last))
		select_batch(forming);
	else
		sp__task_start(&forming->task, select_batch, forming);
}

/* Replacement selection: hands over the full batch. */
static int select_rotate(struct sp__forming *forming)
{
	struct sp__slot *full = &forming->slots[forming->filling];
	int rc;

	rc = sp__form_settled(forming);
	if (rc != SP_READY)
		return rc;
	if (full->state == SP__SLOT_FILLING) {
		start_selecting(forming, full, false);
		rc = sp__form_settled(forming);
		if (rc < 0)
			return rc;
	}
	return sp__slot_fill(forming) ? SP_READY : SP_LATER;
}

static void select_end(struct sp__forming *forming)
{
	struct sp__slot *last = &forming->slots[forming->filling];

	start_selecting(forming, last->state == SP__SLOT_FILLING && last->buf.n ? last : NULL,
			true);
}

/* Slots for input that fits in memory that stay free if records have their expected length. */
#define SLOTS_LEFT 2
#define TOUCH_BYTES (8u << 20)
#define WEIGHED_BYTES (16u << 20) /* less does not show the cost of later memory */
#define TOUCHED_EACH 1.33	  /* bytes touched for each byte of a record, with its entry */
/* From this size on, huge pages pay: random access to records causes fewer TLB misses. */
#define HUGE_BYTES (16u << 20)

void sp__form_close(struct sp__forming *forming)
{
	for (unsigned i = 0; forming->slots && i < forming->nslots; i++) {
		sp__runbuf_release(&forming->slots[i].buf);
		sp__pages_free(forming->slots[i].giant, forming->slots[i].giant_bytes);
	}
	sp__replace_close(&forming->replace);
	free(forming->slots);
	sp__pages_free(forming->arena, forming->arena ? forming->arena_bytes : 0);
}

/*
 * Returns the slot to be filled next, if it has never been used and will certainly be filled; else
 * NULL.  The first touch of a slot can cost as much as reading its contents from a drive, so the
 * task touches half of it.
 */
static struct sp__slot *slot_ahead(struct sp__forming *forming)
{
	const struct sp__sort_shared *s = forming->sort;
	struct sp__slot *now = &forming->slots[forming->filling],
			*next = sp__slot_oldest(forming, SP__SLOT_EMPTY);

	if (s->threads < 2 || !next || next->touched || next->bytes < TOUCH_BYTES ||
	    s->plan.input_bytes < s->stats.input_bytes + sp__min(now->bytes, forming->enough_bytes))
		return NULL;
	next->touched = true;
	return next;
}

/* Touches memory of a slot.  Records will be in the lower part of a slot, entries at its end. */
static void touch(struct sp__forming *forming, struct sp__slot *slot)
{
	struct sp__sort_shared *s = forming->sort;
	size_t used = sp__min(slot->bytes / 4 * 3, forming->enough_bytes);
	size_t half = used / 2 & ~(size_t)4095;
	uint64_t begin = sp__env_now_ns(&s->env);

	sp__pages_touch(slot->mem + half, half);
	forming->touching = (struct sp__cost){ sp__env_now_ns(&s->env) - begin, half };
}

/* Stores all slots that the task owns for storing. */
static int store_handed(struct sp__forming *forming)
{
	struct sp__sort_shared *s = forming->sort;
	struct sp__cost cost = { sp__env_now_ns(&s->env), 0 };
	struct sp__slot *slot;
	int rc = 0;

	while (!rc && (slot = sp__slot_oldest(forming, SP__SLOT_STORING))) {
		cost.bytes += sp__runbuf_gives(&slot->buf);
		rc = sp__form_store(forming, slot);
	}
	cost.ns = sp__env_now_ns(&s->env) - cost.ns;
	if (cost.bytes)
		forming->storing = cost;
	return rc;
}

/* Body of the background task. */
static void work(void *arg)
{
	struct sp__forming *forming = arg;

	if (forming->orders.touch)
		touch(forming, forming->orders.touch);
	if (forming->orders.sort && !forming->orders.beside)
		sp__form_sort_slot(forming, forming->orders.sort);
	forming->task_error = store_handed(forming);
	if (!forming->task_error)
		forming->task_error = sp__form_merge_due(forming);
}

/* Body of the second task, which sorts while the background task stores. */
static void sort_beside(void *arg)
{
	struct sp__forming *forming = arg;

	sp__form_sort_slot(forming, forming->orders.sort);
}

/*
 * Hands over a slot to be sorted (NULL: none) and, if storing is set, the oldest ones to be stored.
 * Both run in parallel, unless the slot to be sorted must also be stored.
 */
static void start_work(struct sp__forming *forming, struct sp__slot *to_sort, bool storing)
{
	struct sp__orders *o = &forming->orders;

	sp__slots_hand_over(forming, to_sort, storing);
	o->touch = slot_ahead(forming);
	if (!o->sort && !o->stores && !o->touch)
		return;
	if (forming->sort->threads < 2 ||
	    (o->sort && o->sort->buf.used < SP__INLINE_BYTES && !o->stores)) {
		work(forming);
		return;
	}
	o->beside = o->sort && o->sort->state == SP__SLOT_SORTING && o->stores;
	if (o->beside)
		sp__task_start(&forming->sorting, sort_beside, forming);
	sp__task_start(&forming->task, work, forming);
}

int sp__form_open(struct sp__forming *forming, size_t output_bytes)
{
	struct sp__spilled *spilled = forming->spilled;
	const struct sp_sort_plan *plan = &forming->sort->plan;
	size_t each = plan->run_bytes & ~(size_t)4095, slots = each * plan->run_buffers;
	const bool huge = plan->input_bytes >= HUGE_BYTES;
	char *at;

	forming->nslots = plan->run_buffers;
	forming->patient =
		plan->in_memory || (!plan->input_bytes && !forming->sort->opts.run_bytes);
	forming->enough_bytes = plan->in_memory && huge
					? plan->input_bytes / (forming->nslots - SLOTS_LEFT)
					: SIZE_MAX;
	forming->slots = calloc(forming->nslots + SP__SELECT_SLOTS, sizeof(*forming->slots));
	forming->spare_bytes = plan->merge_bytes;
	if (!sp__policy_eager(plan->policy))
		forming->spare_bytes -= sp__min(plan->merge_bytes, slots);
	forming->spare_bytes &= ~(size_t)4095;
	forming->arena_bytes = slots + forming->spare_bytes + spilled->write_bytes + output_bytes;
	at = forming->arena = sp__pages_alloc(forming->arena_bytes, huge);
	if (!forming->slots || !forming->arena)
		return sp__err(forming->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&forming->sort->env.budget, forming->arena_bytes);
	for (unsigned i = 0; i < forming->nslots; i++, at += each)
		sp__slot_make(forming, &forming->slots[i], at, each);
	forming->spare_mem = at;
	at += forming->spare_bytes;
	spilled->write_mem = at;
	at += spilled->write_bytes;
	forming->output_mem = at;
	forming->slots[0].state = SP__SLOT_FILLING;
	if (plan->formation == SP_FORM_REPLACEMENT && !plan->in_memory)
		return select_open(forming);
	forming->slots[0].touched = true;
	start_work(forming, NULL, false);
	return 0;
}

bool sp__form_idle(struct sp__forming *forming)
{
	return sp__task_done(&forming->sorting) && sp__task_done(&forming->task);
}

void sp__form_stop(struct sp__forming *forming)
{
	sp__task_join(&forming->sorting);
	sp__task_join(&forming->task);
}

int sp__form_join(struct sp__forming *forming)
{
	sp__form_stop(forming);
	sp__slots_take_back(forming);
	return forming->task_error;
}

int sp__form_settled(struct sp__forming *forming)
{
	int rc;

	if (!sp__form_idle(forming))
		return SP_LATER;
	rc = sp__form_join(forming);
	return rc < 0 ? rc : SP_READY;
}

/* True if the slot has its share of the records and another slot is empty. */
static bool has_enough(struct sp__forming *forming, const struct sp__slot *slot)
{
	return forming->patient && slot->buf.record_bytes >= forming->enough_bytes &&
	       sp__slot_oldest(forming, SP__SLOT_EMPTY);
}

static double seconds_per_mib(const struct sp__cost *c)
{
	return (double)c->ns * 1e-9 / ((double)c->bytes / (1 << 20));
}

/*
 * Compares the cost of memory with that of storing and reading, while no task is running.
 * Withdraws unused slots, or returns them.
 */
static void weigh_memory(struct sp__forming *forming)
{
	double touching, storing;

	if (forming->touching.bytes < WEIGHED_BYTES)
		return;
	touching = seconds_per_mib(&forming->touching) * TOUCHED_EACH;
	storing = forming->storing.bytes ? seconds_per_mib(&forming->storing)
					 : SP__DEVICE_TRANSFER_S_PER_MIB;
	storing = 2 * storing + SP__PLAN_MERGE_S_PER_MIB;
	if (forming->patient && touching > storing)
		sp__slots_withdraw(forming);
	else if (forming->withdrawn && touching < storing)
		sp__slots_return(forming);
}

/*
 * Called if the slot being filled is full, or if there is none.  Extends the slot, or hands it over
 * and takes the next one.  While the input might still fit (forming->patient), nothing is stored
 * before the last slot is full; later, slots are stored whenever no slot would be left.
 */
static int rotate(struct sp__forming *forming)
{
	struct sp__sort_shared *s = forming->sort;
	struct sp__slot *full = &forming->slots[forming->filling], *next;
	bool store;
	int rc;

	rc = sp__form_settled(forming);
	if (rc != SP_READY)
		return rc;
	sp__slots_divide(forming);
	if (full->state == SP__SLOT_FILLING) {
		if (!has_enough(forming, full) && sp__slot_annex(forming, full))
			return SP_READY;
		if (!forming->next_age && s->plan.input_bytes < HUGE_BYTES)
			sp__pages_huge(forming->arena, forming->arena_bytes);
		full->age = forming->next_age++;
		full->end_bytes = s->stats.input_bytes;
		s->stats.runs++;
		/* A single long record says nothing about the others. */
		forming->distinct |= !full->giant && !sp__runbuf_collapses(&full->buf);
	} else {
		full = NULL;
	}
	weigh_memory(forming);
	if (forming->spilled->store)
		sp__slots_coalesce(forming);
	next = sp__slot_fill(forming);
	if (!next)
		forming->patient = false;
	store = !forming->patient && !sp__slot_oldest(forming, SP__SLOT_EMPTY);
	if (full || store)
		start_work(forming, full, store);
	if (next)
		return SP_READY;
	return sp__task_done(&forming->task) ? rotate(forming) : SP_LATER;
}

/*
 * Gives a record that is larger than a whole slot memory of its own.  Only one such record is in
 * memory: others are stored immediately before it, since storing them takes longer than waiting.
 */
static int make_giant(struct sp__forming *forming, struct sp__slot *slot, const char *data,
		      size_t bytes)
{
	struct sp__slot *oldest;
	int rc = sp__form_join(forming);

	forming->patient = false;
	while (!rc && sp__slots_giant(forming) &&
	       (oldest = sp__slot_oldest(forming, SP__SLOT_SORTED)))
		rc = sp__form_store(forming, oldest);
	if (rc < 0)
		return rc;
	sp__slot_empty(forming, slot);
	slot->state = SP__SLOT_FILLING;
	return sp__slot_make_giant(forming, slot, data, bytes, forming->sort->env.err);
}

static int take(struct sp__forming *forming, struct sp__slot *slot, const char *data, size_t bytes)
{
	struct sp__sort_shared *s = forming->sort;
	uint64_t before = slot->buf.added.records, records;
	uint64_t dropped = slot->buf.dropped.bytes;
	size_t took = 0;
	int rc = sp__runbuf_add(&slot->buf, data, bytes, &took);

	if (rc < 0 && rc != SP_EFORMAT)
		return sp__err(s->env.err, rc, "allocate", NULL, -1);
	records = slot->buf.added.records - before;
	forming->taken += took;
	s->stats.records += records;
	s->stats.input_bytes += took;
	sp__charge_work(&s->env, records, sp__runbuf_collapses(&slot->buf),
			took - (slot->buf.dropped.bytes - dropped));
	return rc;
}

int sp__form_put(struct sp__forming *forming, const struct sp_batch *batch)
{
	while (forming->taken < batch->bytes) {
		struct sp__slot *slot = &forming->slots[forming->filling];
		const char *data = batch->data + forming->taken;
		size_t left = batch->bytes - forming->taken;
		int rc;

		if (slot->state == SP__SLOT_FILLING && !(slot->giant && slot->buf.n) &&
		    !has_enough(forming, slot)) {
			rc = take(forming, slot, data, left);
			if (rc < 0)
				return rc;
			if (forming->taken == batch->bytes)
				break;
			if (!slot->buf.n) {
				rc = make_giant(forming, slot, data, left);
				if (rc < 0)
					return rc;
				continue;
			}
		}
		rc = forming->replacing ? select_rotate(forming) : rotate(forming);
		if (rc != SP_READY)
			return rc;
	}
	forming->taken = 0;
	return SP_READY;
}

void sp__form_end(struct sp__forming *forming)
{
	struct sp__sort_shared *s = forming->sort;
	struct sp__slot *last = &forming->slots[forming->filling];

	if (forming->replacing) {
		select_end(forming);
		return;
	}
	if (last->state != SP__SLOT_FILLING)
		return;
	if (!last->buf.n) {
		last->state = SP__SLOT_EMPTY;
		return;
	}
	last->age = forming->next_age++;
	last->end_bytes = s->stats.input_bytes;
	s->stats.runs++;
	start_work(forming, last, false);
}
