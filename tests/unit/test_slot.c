/* SPDX-License-Identifier: MIT */
/*
 * Slots of run formation: which ones are handed to which task, over random states, and
 * that a slot which has not been sorted is never stored.
 */
#include <stdio.h>
#include "keysets.h"
#include "sort/state.h"
#include "tap.h"

static const char *const tmp[] = { "/tmp" };

static struct sp_sort *begin(const struct sp_keyset *ks, struct sp_errinfo *err)
{
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;
	struct sp_sort *s;

	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	o.format = (struct sp_recfmt){ .kind = SP_REC_LINE, .eol = '\n' };
	o.keys = ks;
	o.run.memory_bytes = 4 << 20;
	o.run.tmpdirs = tmp;
	o.run.ntmpdirs = 1;
	return sp_sort_new(&s, &o, err) ? NULL : s;
}

static void unsorted(const struct sp_keyset *ks)
{
	static const char lines[] = "b\na\n";
	struct sp_batch batch = { lines, sizeof(lines) - 1 };
	struct sp_errinfo err;
	struct sp_sort *s = begin(ks, &err);
	struct sp__slot *slot = s ? &s->forming.slots[s->forming.filling] : NULL;
	int rc;

	if (!ok(s && sp_sort_put(s, &batch) == SP_READY, "a slot takes two lines"))
		return;
	rc = sp__form_store(&s->forming, slot);
	ok(rc == SP_EBALANCE && err.code == SP_EBALANCE, "a slot that is not sorted is not stored");
	ok(!s->spilled.store && !s->spilled.nruns, "and nothing of it reaches temporary space");
	sp_sort_free(s);
}

/* Ages are positions: shuffled by the seed, as the slots would come to be filled. */
static void draw(struct sp__forming *f, struct sp__slot *slots, struct sp__rng *rng)
{
	static const enum sp__slot_state states[] = { SP__SLOT_EMPTY, SP__SLOT_SORTED,
						      SP__SLOT_SORTED, SP__SLOT_GONE };

	f->nslots = 2 + (unsigned)sp__rng_below(rng, 7);
	for (unsigned i = 0; i < f->nslots; i++) {
		slots[i].state = states[sp__rng_below(rng, 4)];
		slots[i].age = sp__rng_below(rng, 1000) * 16 + i;
	}
}

static unsigned count(const struct sp__forming *f, enum sp__slot_state state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < f->nslots; i++)
		n += f->slots[i].state == state;
	return n;
}

/* Is every slot that is to be stored older than every one that stays? */
static bool oldest_go(const struct sp__forming *f)
{
	for (unsigned i = 0; i < f->nslots; i++)
		for (unsigned k = 0; k < f->nslots; k++)
			if (f->slots[i].state == SP__SLOT_STORING &&
			    f->slots[k].state == SP__SLOT_SORTED &&
			    f->slots[i].age > f->slots[k].age)
				return false;
	return true;
}

static void handed_over(void)
{
	bool one_owner = true, oldest = true, some = true, back = true;

	for (uint64_t seed = 1; seed <= 20000; seed++) {
		struct sp__slot slots[9] = { 0 };
		struct sp__forming f = { .slots = slots };
		struct sp__rng rng = { sp__mix64(seed) };
		struct sp__slot *full;
		unsigned sorted;
		bool wanted = sp__rng_below(&rng, 2);

		draw(&f, slots, &rng);
		full = &slots[sp__rng_below(&rng, f.nslots)];
		full->state = SP__SLOT_FILLING;
		full->age = 100000;
		sorted = count(&f, SP__SLOT_SORTED);
		sp__slots_hand_over(&f, full, wanted);
		one_owner &= full->state == SP__SLOT_SORTING ||
			     (full->state == SP__SLOT_STORING && !count(&f, SP__SLOT_SORTED));
		oldest &= oldest_go(&f);
		some &= f.orders.stores == wanted && (count(&f, SP__SLOT_STORING) > 0) == wanted;
		some &= wanted || count(&f, SP__SLOT_SORTED) == sorted;
		sp__slots_take_back(&f);
		back &= !count(&f, SP__SLOT_SORTING) && !f.orders.sort;
	}
	ok(one_owner,
	   "a slot to be sorted is not handed to the storing task, unless all older ones are");
	ok(oldest, "the oldest slots are stored first");
	ok(some, "slots are handed over to be stored exactly when a free slot is wanted");
	ok(back, "after the tasks no slot is left with one");
}

int main(void)
{
	struct sp_keyset *ks = order_open(&orders[0]);

	unsorted(ks);
	handed_over();
	sp_keyset_free(ks);
	return done();
}
