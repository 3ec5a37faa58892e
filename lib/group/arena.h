/* SPDX-License-Identifier: MIT */
/*
 * Memory of the groups of a table: an array that grows at its end and is emptied as a whole.
 *
 * An address is an offset in units of SP__ARENA_UNIT bytes, so an arena can move when it grows.
 *
 * Thread rule: one thread at a time per arena.
 */
#pragma once

#include <errno.h>
#include <spindle/error.h>
#include "base/mem.h"

#define SP__ARENA_UNIT 16u

struct sp__group_arena {
	char *data;
	size_t used, capacity; /* bytes */
	size_t first;	       /* capacity before it was extended */
};

/* Maps an arena of so many bytes, which becomes resident as it is used.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__arena_open(struct sp__group_arena *a, size_t bytes);
void sp__arena_close(struct sp__group_arena *a);
/* Gives back what an empty arena was extended by, if there is memory for a new one. */
void sp__arena_shrink(struct sp__group_arena *a);
/* Removes all groups. */
void sp__arena_empty(struct sp__group_arena *a);
/* Maps an arena that has this capacity, or twice the old one.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__arena_extend(struct sp__group_arena *a, size_t bytes);

static inline bool sp__arena_has(const struct sp__group_arena *a, size_t bytes)
{
	return a->used + bytes + (size_t)2 * SP__ARENA_UNIT <= a->capacity;
}

/* Extends the arena if it has not this many bytes more.  0 or -ENOMEM. */
SP_MUST_CHECK static inline int sp__arena_need(struct sp__group_arena *a, size_t bytes)
{
	return sp__arena_has(a, bytes)
		       ? 0
		       : sp__arena_extend(a, a->used + bytes + (size_t)2 * SP__ARENA_UNIT);
}

/* Takes memory, which is not zeroed.  There must be enough. */
static inline uint32_t sp__arena_take(struct sp__group_arena *a, size_t bytes)
{
	const uint32_t at = (uint32_t)(a->used / SP__ARENA_UNIT);

	a->used += (bytes + SP__ARENA_UNIT - 1) & ~(size_t)(SP__ARENA_UNIT - 1);
	return at;
}

static inline void *sp__arena_at(const struct sp__group_arena *a, uint32_t at)
{
	return a->data + (size_t)at * SP__ARENA_UNIT;
}
