/* SPDX-License-Identifier: MIT */
/*
 * A heap of frames.  Each frame knows its place, so any can be moved or taken out.
 */
#include "sim/pagecache_impl.h"

static bool before(void *frameheap, uint64_t a, uint64_t b)
{
	const struct sp__frameheap *h = frameheap;

	return h->before(h->pc, (uint32_t)a, (uint32_t)b);
}

static uint32_t *place_of(struct sp__frameheap *h, uint64_t f)
{
	return &h->pc->frame[f].place[h->which];
}

static void moved(void *frameheap, uint64_t f, size_t place)
{
	*place_of(frameheap, f) = (uint32_t)place;
}

void sp__frameheap_insert(struct sp__frameheap *h, uint32_t f)
{
	sp__heap_push(&h->frames, f, before, moved, h);
}

void sp__frameheap_remove(struct sp__frameheap *h, uint32_t f)
{
	(void)sp__heap_take(&h->frames, *place_of(h, f), before, moved, h);
}

void sp__frameheap_move(struct sp__frameheap *h, uint32_t f)
{
	sp__heap_settle(&h->frames, *place_of(h, f), f, before, moved, h);
}
