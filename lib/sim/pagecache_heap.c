/* SPDX-License-Identifier: MIT */
/*
 * A heap of frames.  Each frame knows its place, so any can be moved or taken out.
 */
#include <errno.h>
#include <stdlib.h>
#include "sim/pagecache_impl.h"

int sp__frameheap_grow(struct sp__frameheap *h, uint32_t cap)
{
	uint32_t *frame = realloc(h->frame, cap * sizeof(*frame));

	if (!frame)
		return -ENOMEM;
	h->frame = frame;
	return 0;
}

static void put(struct sp__pcache *pc, struct sp__frameheap *h, uint32_t place, uint32_t f)
{
	h->frame[place] = f;
	pc->frame[f].place[h->which] = place;
}

/* Puts f where it belongs, the hole being at place. */
static void settle(struct sp__pcache *pc, struct sp__frameheap *h, uint32_t place, uint32_t f)
{
	uint32_t child;

	while (place && h->before(pc, f, h->frame[(place - 1) / 2])) {
		put(pc, h, place, h->frame[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	while ((child = 2 * place + 1) < h->n) {
		if (child + 1 < h->n && h->before(pc, h->frame[child + 1], h->frame[child]))
			child++;
		if (!h->before(pc, h->frame[child], f))
			break;
		put(pc, h, place, h->frame[child]);
		place = child;
	}
	put(pc, h, place, f);
}

void sp__frameheap_insert(struct sp__pcache *pc, struct sp__frameheap *h, uint32_t f)
{
	settle(pc, h, h->n, f);
	h->n++;
}

void sp__frameheap_remove(struct sp__pcache *pc, struct sp__frameheap *h, uint32_t f)
{
	uint32_t last = h->frame[--h->n];

	if (last != f)
		settle(pc, h, pc->frame[f].place[h->which], last);
}

void sp__frameheap_move(struct sp__pcache *pc, struct sp__frameheap *h, uint32_t f)
{
	settle(pc, h, pc->frame[f].place[h->which], f);
}
