/* SPDX-License-Identifier: MIT */
/*
 * Stores sorted slots as runs, and performs merges that are due during run formation.
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
