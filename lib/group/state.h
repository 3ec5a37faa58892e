/* SPDX-License-Identifier: MIT */
/*
 * Groups in memory: groups and their texts in an arena, and what is kept of each argument.
 *
 * A group has a header, the parts that the spec has laid out, and its key.  A value of a
 * list is a group without parts: its key is that of its group, a tag, and the value.
 *
 * Thread rule: one thread at a time per arena.
 */
#pragma once

#include "group/arena.h"
#include "group/code.h"
#include "group/counts.h"
#include "group/moments.h"
#include "group/spec.h"
#include "rec/fields.h"

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

/*
 * Of the first `largest` records of a group that one table has seen: the beginnings of the codes by
 * which they are ordered, ascending.
 */
struct sp__group_firsts {
	uint32_t n;
	unsigned __int128 codes[];
};
#define SP__GROUP_FIRSTS 16u /* of more records per group none are kept */

/* Instead of the decimal places: the smallest or largest value is not a number but a text. */
#define SP__PLACES_OF_TEXT 255u

/* Returns bytes of the arena that a record can take beside new groups: for reals. */
size_t sp__group_reals_bytes(const struct sp__group_spec *s);
/* Returns bytes of the arena that a record of this group can take for counts. */
size_t sp__group_growth(const struct sp__group_spec *s, const struct sp__group_arena *a,
			uint32_t at);

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
