/* SPDX-License-Identifier: MIT */
/*
 * Groups in memory: an arena of groups and their texts, and what is kept of each argument.
 *
 * A group is at an offset of its arena, in units of SP__ARENA_UNIT bytes, so an arena can move when
 * it grows.  A group has a header, the parts that the spec has laid out, and its key.  A value of a
 * list is a group without parts: its key is that of its group, a tag, and the value.
 *
 * Thread rule: one thread at a time per arena.
 */
#pragma once

#include "group/code.h"
#include "group/moments.h"
#include "group/spec.h"
#include "rec/fields.h"

#define SP__ARENA_UNIT 16u

struct sp__group_arena {
	char *data;
	size_t used, capacity; /* bytes */
	size_t first;	       /* capacity before it was extended */
};

struct sp__grouped {
	uint64_t records;
	uint32_t key_bytes;
	uint32_t tag;	 /* 0: a group; else that of a value */
	uint32_t before; /* the group that was made before; 0: none */
};

struct sp__group_sum {
	sp__int128 units;
	uint32_t places; /* the most of the numbers */
	uint32_t reals;	 /* struct sp__exactsum of the numbers that are not exact; 0: none */
};

/* A text of a group; the smallest or largest value: the code of a number, or a text. */
struct sp__group_text {
	uint32_t at, bytes, room; /* room 0: no text */
	uint32_t places;	  /* decimal places of the number */
	uint64_t position;
};

/* Distance of the texts of keys. */
#define SP__GROUP_TEXT_STEP                                                                        \
	((uint32_t)((sizeof(struct sp__group_text) + SP__ARENA_UNIT - 1) & ~(SP__ARENA_UNIT - 1)))

/* Instead of the decimal places: the smallest or largest value is not a number but a text. */
#define SP__PLACES_OF_TEXT 255u

/* Maps an arena of so many bytes, which becomes resident as it is used.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__arena_open(struct sp__group_arena *a, size_t bytes);
void sp__arena_close(struct sp__group_arena *a);
/* Gives back what an empty arena was extended by, if there is memory for a new one. */
void sp__arena_shrink(struct sp__group_arena *a);
/* Removes all groups. */
void sp__arena_empty(struct sp__group_arena *a);
/* Maps more, if an empty arena is too small for one group.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__arena_extend(struct sp__group_arena *a, size_t bytes);
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

/* Returns bytes of the arena that a record can take beside new groups: for reals. */
size_t sp__group_reals_bytes(const struct sp__group_spec *s);

/* Makes a group of no records.  Its key: of this many bytes. */
uint32_t sp__group_new(const struct sp__group_spec *s, struct sp__group_arena *a, const char *key,
		       size_t key_bytes, uint32_t tag);
/* Returns the key of a group. */
static inline const char *sp__group_key(const struct sp__group_spec *s, const struct sp__grouped *g)
{
	return (const char *)g + (g->tag ? sizeof(*g) : s->state_bytes);
}

/* A value of an argument in a record. */
struct sp__group_value {
	struct sp__slice text;	  /* p NULL: no value */
	struct sp__amount number; /* with SP__KEEP_OF_NUMBERS */
};

/* Adds the values of a record, by argument; second: of pairs.  `at` is the group. */
void sp__group_add(const struct sp__group_spec *s, struct sp__group_arena *a, uint32_t at,
		   const struct sp__group_value *values, const struct sp__group_value *second,
		   uint64_t position);
/* Keeps the texts of keys, columns[key->column], if they are the first ones. */
void sp__group_add_keys(const struct sp__group_spec *s, struct sp__group_arena *a, uint32_t at,
			const struct sp__slice *columns, uint64_t position);

/* Returns the most bytes of what sp__group_write() writes. */
size_t sp__group_written(const struct sp__group_spec *s, const struct sp__group_arena *a,
			 uint32_t at);
/* Writes what is kept of a group, not escaped; returns the end. */
char *sp__group_write(const struct sp__group_spec *s, const struct sp__group_arena *a, uint32_t at,
		      char *to);
/*
 * Adds what was written of the same group elsewhere; the arena is extended as needed.  Returns 0;
 * SP_ECORRUPT; or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_merge(const struct sp__group_spec *s, struct sp__group_arena *a,
				  uint32_t at, struct sp__codes *from);

/* Returns a member of a group's state. */
static inline void *sp__group_part(const struct sp__group_arena *a, uint32_t at, uint32_t offset)
{
	return (char *)sp__arena_at(a, at) + offset;
}
