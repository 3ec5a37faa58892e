/* SPDX-License-Identifier: MIT */
/*
 * Arrays that grow.  They are not charged to a budget.
 *
 * Each macro is true if there is room, and false if there is no memory: the array is then
 * as it was.  array is an lvalue, NULL at first.
 */
#ifndef SP__BASE_ARRAY_H
#define SP__BASE_ARRAY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Exactly n elements, n > 0. */
#define SP__ARRAY_RESIZE(array, n) sp__array_resize(&(array), n, sizeof(*(array)))

/* At least need elements, need > 0; cap, a size_t, counts those that there is room for. */
#define SP__ARRAY_GROW(array, cap, need)                                                           \
	((need) <= (cap) || sp__array_grow(&(array), &(cap), need, sizeof(*(array))))

/*
 * One more element than the n there are.  The room is a power of two and need not be kept,
 * so this must be the only way in which the array grows.
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

/* The room doubles, so that elements added one by one are copied twice at most. */
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

#endif
