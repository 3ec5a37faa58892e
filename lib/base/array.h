/* SPDX-License-Identifier: MIT */
/*
 * Grows arrays.  They are not charged to a budget.
 *
 * Each macro returns true, or false if there is no memory; the array is then unchanged. array is an
 * lvalue, NULL at first.
 */
#pragma once

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
