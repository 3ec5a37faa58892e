/* SPDX-License-Identifier: MIT */
/*
 * Run formation by replacement selection: the slots become
 *
 *	| slot 0: memory for records (replace.h)	| slot 1 | slot 2 |
 *
 * where slots 1 and 2 are filled with batches alternately: while one is being filled,
 * the background task sorts the other, outputs records to the run being written, and
 * stores the batch in their place.  The caller's thread handles small batches itself,
 * and one slot is enough.
 *
 * As long as everything fits in memory nothing is spilled, and the final merge merges
 * the strips in memory.
 */
#include <errno.h>
#include "base/err.h"
#include "sort/state.h"

static int begin(void *ctx)
{
	struct sp_sort *s = ctx;
	int rc = sp__runs_open_spill(s);

	s->stats.runs++;
	return rc < 0 ? rc : sp__runs_begin(s);
}

static int put(void *ctx, const char *rec, size_t bytes, const char *prev, size_t prev_bytes)
{
	struct sp_sort *s = ctx;
	int rc;

	if (s->env.device)
		sp__keep_pace(&s->env, bytes, &s->merging.pace,
			      sp__replace_strips(&s->forming.replace));
	if (s->opts.count) {
		rc = sp__counting_hold(&s->spilled.counting, rec, bytes, 1, &s->env.budget);
		return rc < 0 ? rc : sp__counting_put(&s->spilled.counting, &s->spilled.writer);
	}
	if (prev) {
		s->spilled.writer.prev = prev;
		s->spilled.writer.prev_bytes = prev_bytes;
	}
	return sp__runwriter_put(&s->spilled.writer, rec, bytes);
}

static int end(void *ctx, const char *prev, size_t prev_bytes)
{
	struct sp_sort *s = ctx;
	int rc;

	if (!s->opts.count) {
		s->spilled.writer.prev = prev;
		s->spilled.writer.prev_bytes = prev_bytes;
	}
	sp__charge_merge(&s->env, &s->merging.pace, sp__replace_strips(&s->forming.replace));
	rc = sp__runs_end(s);
	return rc < 0 ? rc : sp__finish_due(s);
}

int sp__select_open(struct sp_sort *s)
{
	struct sp__replace_sink sink = { s, begin, put, end };
	struct sp__slot *first = &s->forming.slots[0];
	size_t bytes = 0, each, batches;
	int rc;

	for (unsigned i = 0; i < s->forming.nslots; i++)
		bytes += s->forming.slots[i].bytes;
	for (unsigned i = 1; i < s->forming.nslots; i++) {
		sp__runbuf_release(&s->forming.slots[i].buf);
		s->forming.slots[i].state = SP__SLOT_GONE;
		s->forming.slots[i].bytes = 0;
	}
	s->forming.nslots = SP__SELECT_SLOTS;
	each = sp__replace_batch_bytes(bytes);
	batches = s->threads > 1 && each >= SP__INLINE_BYTES ? 2 : 1;
	bytes -= batches * each;
	for (unsigned i = 0; i < 2; i++)
		sp__slot_make(s, &s->forming.slots[1 + i], first->mem + bytes + i * each, each);
	if (batches == 1) {
		s->forming.slots[2].state = SP__SLOT_GONE;
		s->forming.slots[2].bytes = 0;
	}
	rc = sp__replace_open(&s->forming.replace, s->opts.keys, first->mem, bytes, &s->env.budget,
			      &sink, s->opts.unique && !s->opts.count);
	if (rc < 0)
		return sp__err(s->env.err, rc, "allocate", NULL, -1);
	s->forming.replacing = true;
	s->forming.filling = 1;
	s->forming.slots[1].state = SP__SLOT_FILLING;
	first->state = SP__SLOT_GONE;
	return 0;
}

/* All records are in runs: makes the slots one free region again. */
static void give_back(struct sp_sort *s)
{
	struct sp__slot *first = &s->forming.slots[0];

	first->bytes = (size_t)(s->forming.slots[1].mem - first->mem) + s->forming.slots[1].bytes +
		       s->forming.slots[2].bytes;
	first->state = SP__SLOT_EMPTY;
	s->forming.slots[1].state = s->forming.slots[2].state = SP__SLOT_GONE;
}

/* The background task: adds a batch, and after the last one outputs the rest. */
static void work(void *arg)
{
	struct sp_sort *s = arg;
	struct sp__slot *slot = s->forming.orders.sort;
	int rc = 0;

	if (slot) {
		sp__form_sort_slot(s, slot);
		rc = sp__replace_add(&s->forming.replace, &slot->buf);
	}
	if (!rc && s->forming.orders.last && s->spilled.store) {
		rc = sp__replace_drain(&s->forming.replace);
		give_back(s);
	} else if (s->forming.orders.last && s->stats.records) {
		s->stats.runs = 1;
	}
	if (rc == -ENOMEM)
		sp__err(s->env.err, rc, "allocate", NULL, -1);
	s->task_error = rc;
}

static void start_work(struct sp_sort *s, struct sp__slot *slot, bool last)
{
	sp__slots_hand_over(s, slot, false);
	s->forming.orders.last = last;
	if (s->threads < 2 || (slot && slot->buf.used < SP__INLINE_BYTES && !last))
		work(s);
	else
		sp__task_start(&s->task, work, s);
}

int sp__select_rotate(struct sp_sort *s)
{
	struct sp__slot *full = &s->forming.slots[s->forming.filling];
	int rc;

	rc = sp__form_settled(s);
	if (rc != SP_READY)
		return rc;
	if (full->state == SP__SLOT_FILLING) {
		start_work(s, full, false);
		rc = sp__form_settled(s);
		if (rc < 0)
			return rc;
	}
	return sp__slot_fill(s) ? SP_READY : SP_LATER;
}

void sp__select_end(struct sp_sort *s)
{
	struct sp__slot *last = &s->forming.slots[s->forming.filling];

	start_work(s, last->state == SP__SLOT_FILLING && last->buf.n ? last : NULL, true);
}
