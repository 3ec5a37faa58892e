/* SPDX-License-Identifier: MIT */
/*
 * Keeps numbers in a binary heap; the top one precedes all others.
 *
 * The caller owns the array, ensures its capacity, and passes the same order in every call.  If
 * `moved` is not NULL, it is called with the new index of each number that moves.  Functions that
 * are constants are inlined.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__heap {
	uint64_t *item;
	size_t n;
};

typedef bool sp__heap_before(void *ctx, uint64_t a, uint64_t b);
typedef void sp__heap_moved(void *ctx, uint64_t item, size_t place);

static inline void sp__heap_put(struct sp__heap *h, size_t place, uint64_t item,
				sp__heap_moved *moved, void *ctx)
{
	h->item[place] = item;
	if (moved)
		moved(ctx, item, place);
}

/* Fills the gap at index place: puts item where it belongs and moves others out of its way. */
static inline void sp__heap_settle(struct sp__heap *h, size_t place, uint64_t item,
				   sp__heap_before *before, sp__heap_moved *moved, void *ctx)
{
	size_t child;

	for (; place && before(ctx, item, h->item[(place - 1) / 2]); place = (place - 1) / 2)
		sp__heap_put(h, place, h->item[(place - 1) / 2], moved, ctx);
	for (; (child = 2 * place + 1) < h->n; place = child) {
		if (child + 1 < h->n && before(ctx, h->item[child + 1], h->item[child]))
			child++;
		if (!before(ctx, h->item[child], item))
			break;
		sp__heap_put(h, place, h->item[child], moved, ctx);
	}
	sp__heap_put(h, place, item, moved, ctx);
}

static inline void sp__heap_push(struct sp__heap *h, uint64_t item, sp__heap_before *before,
				 sp__heap_moved *moved, void *ctx)
{
	sp__heap_settle(h, h->n, item, before, moved, ctx);
	h->n++;
}

/* Removes and returns the item at index place. */
static inline uint64_t sp__heap_take(struct sp__heap *h, size_t place, sp__heap_before *before,
				     sp__heap_moved *moved, void *ctx)
{
	uint64_t item = h->item[place];

	if (place != --h->n)
		sp__heap_settle(h, place, h->item[h->n], before, moved, ctx);
	return item;
}
