/* SPDX-License-Identifier: MIT */
/*
 * Arrays of elements, numbers, bits, and heaps.
 *
 * They are not charged to a budget.  Each macro that grows one returns true, or false if there is
 * no memory; the array is then unchanged. array is an lvalue, NULL at first.
 */
#pragma once

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Resizes to exactly n elements, n > 0. */
#define SP__ARRAY_RESIZE(array, n) sp__array_resize(&(array), n, sizeof(*(array)))

/* Grows to at least need elements, need > 0. cap, a size_t, is the capacity in elements. */
#define SP__ARRAY_GROW(array, cap, need)                                                           \
	((need) <= (cap) || sp__array_grow(&(array), &(cap), need, sizeof(*(array))))

/*
 * Grows from n to n + 1 elements.  The capacity is a power of two and is not stored, so the array
 * must grow only by this macro.
 */
#define SP__ARRAY_GROW_BY_ONE(array, n)                                                            \
	(((n) & ((n)-1)) || SP__ARRAY_RESIZE(array, (n) ? 2 * (n) : 1))

static inline bool sp__array_resize(void *array, size_t n, size_t element_bytes)
{
	void *old, *more;

	memcpy(&old, array, sizeof(old));
	more = reallocarray(old, n, element_bytes);
	if (more)
		memcpy(array, &more, sizeof(more));
	return more;
}

/* Doubles the capacity, so that elements added one by one are copied at most twice. */
static inline bool sp__array_grow(void *array, size_t *cap, size_t need, size_t element_bytes)
{
	size_t room = *cap ? *cap : 16;

	while (room < need && room <= SIZE_MAX / 2)
		room *= 2;
	if (room < need || !sp__array_resize(array, room, element_bytes))
		return false;
	*cap = room;
	return true;
}

/* A set of small numbers: one bit each, in words of 64 bits. */

/* Words of a set of numbers below n. */
#define SP__BITS_WORDS(n) (((n) + 63) / 64)

static inline bool sp__bits_has(const uint64_t *set, uint64_t n)
{
	return set[n / 64] >> n % 64 & 1;
}

static inline void sp__bits_add(uint64_t *set, uint64_t n)
{
	set[n / 64] |= UINT64_C(1) << n % 64;
}

static inline void sp__bits_drop(uint64_t *set, uint64_t n)
{
	set[n / 64] &= ~(UINT64_C(1) << n % 64);
}

static inline int sp__doubles_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Sorts in ascending order. */
static inline void sp__doubles_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), sp__doubles_compare);
}

/*
 * A binary heap of numbers; the top one precedes all others.
 *
 * The caller owns the array, ensures its capacity, and passes the same order in every call.  If
 * `moved` is not NULL, it is called with the new index of each number that moves.  Functions that
 * are constants are inlined.
 */

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
