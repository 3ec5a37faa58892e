/* SPDX-License-Identifier: MIT */
/*
 * Dirty pages in the order of their places, going round: from the page that was
 * written last upward, and from the end on at the beginning.
 *
 * The dirty frames are in a heap by their distance ahead of the sweep, which wraps.  The
 * sweep moves only past the heap's first page once that is out, so all distances shrink
 * alike and the heap stays one.
 */
#include "sim/pagecache_impl.h"

static uint64_t distance(const struct sp__pcache *pc, uint32_t f)
{
	return pc->frame[f].page - pc->sweep_at;
}

static void put(struct sp__pcache *pc, uint32_t place, uint32_t f)
{
	pc->sweep[place] = f;
	pc->frame[f].sweep_place = place;
}

/* Puts f where it belongs, the hole being at place, in a heap of n. */
static void settle(struct sp__pcache *pc, uint32_t place, uint32_t f, uint32_t n)
{
	uint64_t mine = distance(pc, f);
	uint32_t child;

	while (place && mine < distance(pc, pc->sweep[(place - 1) / 2])) {
		put(pc, place, pc->sweep[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	while ((child = 2 * place + 1) < n) {
		if (child + 1 < n &&
		    distance(pc, pc->sweep[child + 1]) < distance(pc, pc->sweep[child]))
			child++;
		if (mine < distance(pc, pc->sweep[child]))
			break;
		put(pc, place, pc->sweep[child]);
		place = child;
	}
	put(pc, place, f);
}

void sp__sweep_insert(struct sp__pcache *pc, uint32_t f)
{
	settle(pc, pc->ndirty - 1, f, pc->ndirty - 1);
}

void sp__sweep_remove(struct sp__pcache *pc, uint32_t f)
{
	uint32_t last = pc->sweep[pc->ndirty];

	if (last != f)
		settle(pc, pc->frame[f].sweep_place, last, pc->ndirty);
}
