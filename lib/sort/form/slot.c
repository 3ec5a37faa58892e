/* SPDX-License-Identifier: MIT */
/*
 * Moves slots through their states: empty, filled, handed over to the tasks of run formation,
 * stored as runs, and returned.
 */
#include "base/err.h"
#include "sort/form/forming.h"

void sp__form_sort_slot(struct sp__forming *forming, struct sp__slot *slot)
{
	struct sp__sort_shared *s = forming->sort;
	struct sp__runbuf *rb = &slot->buf;

	sp__runbuf_sort(rb);
	sp__charge_sorting(&s->env, rb->n);
	if (s->opts.unique && (!s->opts.count || rb->head))
		sp__runbuf_unique(rb);
	if (s->opts.top && !s->opts.count)
		sp__runbuf_cut(rb, s->opts.top);
	atomic_store_explicit(&slot->sorted, true, memory_order_release);
}

/* Records a checkpoint for the run added last, which has the records of this slot. */
static int note_formed(struct sp__spilled *spilled, struct sp__slot *slot)
{
	struct sp__checkpoint has = { .to = slot->end_bytes,
				      .read = sp__tally_since(slot->buf.added, &slot->noted.read),
				      .dropped = sp__tally_since(slot->buf.dropped,
								 &slot->noted.dropped) };

	slot->noted.read = slot->buf.added;
	slot->noted.dropped = slot->buf.dropped;
	return sp__resume_formed(spilled->resume, spilled->store, spilled->runs[spilled->nruns - 1],
				 spilled->nruns - 1, &has);
}

int sp__form_write(struct sp__forming *forming, struct sp__spilled *spilled, struct sp__slot *slot)
{
	struct sp__sort_shared *s = forming->sort;
	int rc;

	if (!atomic_load_explicit(&slot->sorted, memory_order_acquire))
		return sp__errf(spilled->err, SP_EBALANCE, "store", NULL, -1, "run is not sorted");
	rc = sp__runs_open_spill(spilled);
	if (!rc && !sp__runs_continues(spilled, &slot->buf)) {
		rc = sp__runs_end(spilled);
		if (!rc)
			rc = sp__runs_begin(spilled, slot->age);
	}
	if (rc < 0)
		return rc;
	sp__charge_work(&s->env, 0, 0, sp__runbuf_gives(&slot->buf));
	rc = sp__runs_put_all(spilled, &slot->buf);
	/* A run that later slots can continue is not a checkpoint. */
	if (!rc && spilled->resume)
		rc = sp__runs_end(spilled);
	if (!rc && spilled->resume)
		rc = note_formed(spilled, slot);
	return rc;
}

int sp__form_store(struct sp__forming *forming, struct sp__slot *slot)
{
	int rc = sp__form_write(forming, forming->spilled, slot);

	if (rc < 0)
		return rc;
	sp__slot_empty(forming, slot);
	return 0;
}

struct sp__freemem sp__free_region(const struct sp__forming *forming, bool with_write)
{
	struct sp__freemem best = { NULL, 0 }, now = { NULL, 0 };

	for (unsigned i = 0; i < forming->nslots; i++) {
		const struct sp__slot *slot = &forming->slots[i];

		if (slot->state == SP__SLOT_EMPTY) {
			if (!now.bytes)
				now.mem = slot->mem;
			now.bytes += slot->bytes;
		} else if (slot->state != SP__SLOT_GONE && slot->state != SP__SLOT_ANNEXED) {
			now.bytes = 0;
		}
		if (now.bytes > best.bytes)
			best = now;
	}
	/* Withdrawn slots are between the last slot and the spare memory. */
	if (!now.bytes || now.mem + now.bytes != forming->spare_mem)
		now = (struct sp__freemem){ forming->spare_mem, 0 };
	now.bytes += forming->spare_bytes + (with_write ? forming->spilled->write_bytes : 0);
	if (now.bytes > best.bytes)
		best = now;
	if (forming->sort->opts.merge_bytes && best.bytes > forming->sort->opts.merge_bytes)
		best.bytes = forming->sort->opts.merge_bytes;
	return best;
}

int sp__form_merge_due(struct sp__forming *forming)
{
	struct sp__freemem spare = { forming->spare_mem, forming->spare_bytes };
	struct sp__spilled *spilled = forming->spilled;
	int rc;

	if (!sp__policy_eager(forming->sort->plan.policy))
		return sp__runs_relieve(spilled, 0, sp__free_region(forming, false));
	/* Merges need the write buffers, so the run being written cannot be continued later. */
	rc = sp__runs_end(spilled);
	return rc < 0 ? rc : sp__runs_reduce(spilled, false, spare);
}

/*
 * One slot is filled, one sorted, one stored; if there are more, they can be coalesced to halves.
 */
#define FEW_SLOTS 3
/* Smaller inputs are sorted without a table of records. */
#define REPEATS_BYTES (UINT64_C(1) << 20)

struct sp__slot *sp__slot_from(const struct sp__forming *forming, enum sp__slot_state state,
			       uint64_t age)
{
	struct sp__slot *best = NULL;

	for (unsigned i = 0; i < forming->nslots; i++)
		if (forming->slots[i].state == state && forming->slots[i].age >= age &&
		    (!best || forming->slots[i].age < best->age))
			best = &forming->slots[i];
	return best;
}

/* True if records with equal keys are identical and each is to be kept only once. */
static bool repeats(const struct sp__forming *forming)
{
	const struct sp__sort_shared *s = forming->sort;
	const struct sp__keyset *ks = sp__ks(s->opts.keys);

	return !s->opts.unique && !s->opts.count && !s->opts.top && !s->env.device &&
	       !forming->distinct && ks->whole && ks->form == SP__KEY_INPLACE &&
	       (!s->plan.input_bytes || s->plan.input_bytes >= REPEATS_BYTES);
}

/*
 * True if slots drop or count equal keys while they are filled.  Batches of replacement selection
 * are too small for that.
 */
static bool collapses(const struct sp__forming *forming)
{
	const struct sp__sort_shared *s = forming->sort;

	return (s->opts.unique || repeats(forming)) &&
	       (s->plan.formation == SP_FORM_LOAD || s->plan.in_memory);
}

/* Prepares the buffer of an empty slot, with all its memory. */
static void begin(struct sp__forming *forming, struct sp__slot *slot)
{
	slot->buf.repeats = repeats(forming);
	slot->buf.head = collapses(forming) && (forming->sort->opts.count || slot->buf.repeats)
				 ? SP__COUNT_HEAD
				 : 0;
	sp__runbuf_use(&slot->buf, slot->mem, slot->bytes);
	if (collapses(forming))
		sp__runbuf_collapse(&slot->buf);
}

void sp__slot_make(struct sp__forming *forming, struct sp__slot *slot, char *mem, size_t bytes)
{
	slot->mem = mem;
	slot->bytes = bytes;
	slot->state = SP__SLOT_EMPTY;
	sp__runbuf_init(&slot->buf, forming->sort->opts.keys);
	begin(forming, slot);
}

void sp__slot_empty(struct sp__forming *forming, struct sp__slot *slot)
{
	if (slot->giant) {
		sp__pages_free(slot->giant, slot->giant_bytes);
		sp__budget_credit(&forming->sort->env.budget, slot->giant_bytes);
		slot->giant = NULL;
	}
	slot->state = SP__SLOT_EMPTY;
	atomic_store(&slot->sorted, false);
	begin(forming, slot);
}

bool sp__slot_annex(struct sp__forming *forming, struct sp__slot *full)
{
	struct sp__slot *next = full + 1, *end = forming->slots + forming->nslots;

	while (next < end && next->state == SP__SLOT_ANNEXED)
		next++;
	if (full->giant || next == end || next->state != SP__SLOT_EMPTY ||
	    next->mem != full->mem + full->bytes || !sp__runbuf_extend(&full->buf, next->bytes))
		return false;
	full->bytes += next->bytes;
	next->state = SP__SLOT_ANNEXED;
	next->touched = true;
	return true;
}

void sp__slots_divide(struct sp__forming *forming)
{
	struct sp__slot *end = forming->slots + forming->nslots;

	for (struct sp__slot *slot = forming->slots; slot < end; slot++) {
		if (slot->state != SP__SLOT_EMPTY)
			continue;
		for (struct sp__slot *annexed = slot + 1;
		     annexed < end && annexed->state == SP__SLOT_ANNEXED; annexed++) {
			slot->bytes -= annexed->bytes;
			sp__slot_empty(forming, annexed);
		}
		begin(forming, slot);
	}
}

/* True if all slots of this half are empty or being stored. */
static bool half_is_free(const struct sp__forming *forming, unsigned half)
{
	unsigned each = forming->nslots / 2;

	for (unsigned i = half * each; i < (half + 1) * each; i++)
		if (forming->slots[i].state != SP__SLOT_EMPTY &&
		    forming->slots[i].state != SP__SLOT_STORING &&
		    forming->slots[i].state != SP__SLOT_GONE)
			return false;
	return true;
}

void sp__slots_hand_over(struct sp__forming *forming, struct sp__slot *full, bool storing)
{
	struct sp__slot *slot;

	forming->orders = (struct sp__orders){ .sort = full };
	if (full)
		full->state = SP__SLOT_SORTING;
	if (!storing)
		return;
	do {
		slot = sp__slot_oldest(forming, SP__SLOT_SORTED);
		if (!slot && !(slot = sp__slot_oldest(forming, SP__SLOT_SORTING)))
			break;
		slot->state = SP__SLOT_STORING;
		forming->orders.stores = true;
	} while (forming->nslots > FEW_SLOTS && !half_is_free(forming, 0) &&
		 !half_is_free(forming, 1));
}

void sp__slots_take_back(struct sp__forming *forming)
{
	struct sp__slot *slot = forming->orders.sort;

	forming->orders = (struct sp__orders){ 0 };
	if (!slot || slot->state != SP__SLOT_SORTING)
		return;
	slot->state = SP__SLOT_SORTED;
	/* Replacement selection has moved the slot's records into its own memory. */
	if (forming->replacing)
		sp__slot_empty(forming, slot);
}

void sp__slots_coalesce(struct sp__forming *forming)
{
	unsigned each = forming->nslots / 2;

	for (unsigned half = 0; half < 2 && each > 1; half++) {
		struct sp__slot *first = &forming->slots[half * each];

		if (first[1].state == SP__SLOT_GONE || !half_is_free(forming, half))
			continue;
		for (unsigned i = 1; i < each; i++) {
			first->bytes += first[i].bytes;
			first[i].bytes = 0;
			first[i].state = SP__SLOT_GONE;
		}
		begin(forming, first);
	}
}

void sp__slots_withdraw(struct sp__forming *forming)
{
	for (; forming->nslots > FEW_SLOTS; forming->nslots--, forming->withdrawn++) {
		const struct sp__slot *last = &forming->slots[forming->nslots - 1];

		if (last->state != SP__SLOT_EMPTY || last->touched)
			break;
	}
}

void sp__slots_return(struct sp__forming *forming)
{
	forming->nslots += forming->withdrawn;
	forming->withdrawn = 0;
	forming->patient = true;
}

struct sp__slot *sp__slot_fill(struct sp__forming *forming)
{
	struct sp__slot *next = sp__slot_oldest(forming, SP__SLOT_EMPTY);

	if (next) {
		sp__slot_begin(forming, next, next->age);
		forming->filling = (unsigned)(next - forming->slots);
	}
	return next;
}

void sp__slot_begin(struct sp__forming *forming, struct sp__slot *slot, uint64_t age)
{
	begin(forming, slot);
	slot->state = SP__SLOT_FILLING;
	slot->age = age;
}

int sp__slot_make_giant(struct sp__forming *forming, struct sp__slot *slot, const char *data,
			size_t bytes, struct sp_errinfo *err)
{
	struct sp__sort_shared *s = forming->sort;
	const char *end = sp__rec_end(&s->opts.format, data, bytes);
	size_t need = sp__runbuf_need(&slot->buf, (size_t)(end - data));

	slot->giant_bytes = (need + 4095) & ~(size_t)4095;
	if (slot->giant_bytes < SP__REF_OFFSET_MAX)
		slot->giant = sp__pages_alloc(slot->giant_bytes, false);
	if (!slot->giant)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&s->env.budget, slot->giant_bytes);
	sp__runbuf_use(&slot->buf, slot->giant, slot->giant_bytes);
	return 0;
}

bool sp__slots_giant(const struct sp__forming *forming)
{
	for (unsigned i = 0; i < forming->nslots; i++)
		if (forming->slots[i].state == SP__SLOT_SORTED && forming->slots[i].giant)
			return true;
	return false;
}
