/* SPDX-License-Identifier: MIT */
/*
 * Forms runs by replacement selection.
 *
 * Memory: the slots become
 *
 *	| slot 0: memory for records (replace.h) | slot 1 | slot 2 |
 *
 * Algorithm: slots 1 and 2 are filled with batches alternately.  While one is filled, the
 * background task sorts the other, outputs records to the run being written, and stores the batch
 * in their place.  The caller's thread processes small batches itself; one slot is then enough.
 *
 * While all records fit in memory, no run is written, and the final merge merges the strips in
 * memory.
 */
#include "base/err.h"
#include "sort/form/forming.h"

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

int sp__select_open(struct sp__forming *forming)
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
static void work(void *arg)
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

static void start_work(struct sp__forming *forming, struct sp__slot *slot, bool last)
{
	sp__slots_hand_over(forming, slot, false);
	forming->orders.last = last;
	if (forming->sort->threads < 2 || (slot && slot->buf.used < SP__INLINE_BYTES && !last))
		work(forming);
	else
		sp__task_start(&forming->task, work, forming);
}

int sp__select_rotate(struct sp__forming *forming)
{
	struct sp__slot *full = &forming->slots[forming->filling];
	int rc;

	rc = sp__form_settled(forming);
	if (rc != SP_READY)
		return rc;
	if (full->state == SP__SLOT_FILLING) {
		start_work(forming, full, false);
		rc = sp__form_settled(forming);
		if (rc < 0)
			return rc;
	}
	return sp__slot_fill(forming) ? SP_READY : SP_LATER;
}

void sp__select_end(struct sp__forming *forming)
{
	struct sp__slot *last = &forming->slots[forming->filling];

	start_work(forming, last->state == SP__SLOT_FILLING && last->buf.n ? last : NULL, true);
}
