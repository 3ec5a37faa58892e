/* SPDX-License-Identifier: MIT */
/*
 * Counts how many values of a group are in each bucket, in a hash table in the group's arena.
 *
 * A bucket is a number.  If there are more than SP__BUCKETS_MAX, buckets are joined as often as
 * necessary: b becomes b / 2, rounded towards 0.  So the counts depend neither on the order of the
 * values nor on how these were divided into partial groups.
 *
 * Memory: 16 bytes in the group, and 2 to 8192 entries of 8 bytes.  The memory that entries had
 * before they needed more stays unused until the arena is empty.
 *
 * Thread rule: one thread at a time per arena.
 */
#pragma once

#include "group/arena.h"
#include "group/code.h"

#define SP__BUCKETS_MAX 6144u
#define SP__BUCKET_END (1 << 19) /* buckets are between -this and this */
/* There are fewer than SP__BUCKETS_MAX after this many joins. */
#define SP__JOINS_MAX 7u

struct sp__group_counts {
	uint32_t at, room; /* the entries, in the arena; room 0: not there yet */
	uint32_t used;
	uint32_t joins;
};

/* An entry is a bucket, and how many values it has; 0: it is free. */
#define SP__TIMES_BITS 44

static inline uint64_t sp__entry_times(uint64_t entry)
{
	return entry & ((UINT64_C(1) << SP__TIMES_BITS) - 1);
}

static inline int32_t sp__entry_bucket(uint64_t entry)
{
	return (int32_t)(entry >> SP__TIMES_BITS) - SP__BUCKET_END;
}

/* Returns bytes of the arena that the next value can take. */
size_t sp__counts_growth(const struct sp__group_counts *c);
/* Counts a value; its bucket is the one without joins.  There must be memory for its growth. */
void sp__counts_add(struct sp__group_arena *a, struct sp__group_counts *c, int32_t bucket);
/* Returns how many values a bucket has; there are no joins. */
uint64_t sp__counts_of(const struct sp__group_arena *a, const struct sp__group_counts *c,
		       int32_t bucket);
/* Orders the entries by bucket and returns the first one; values can no longer be added. */
const uint64_t *sp__counts_sort(const struct sp__group_arena *a, const struct sp__group_counts *c);

/* Returns the most bytes of what sp__counts_put() writes. */
size_t sp__counts_written(const struct sp__group_counts *c);
/* Sorts and writes the entries; returns the end. */
char *sp__counts_put(const struct sp__group_arena *a, const struct sp__group_counts *c, char *to);
/*
 * Adds what was written elsewhere to the counts at this offset of what is at `at` of the arena,
 * which is extended as needed.  Returns 0 or -ENOMEM; damage makes `from` bad.
 */
SP_MUST_CHECK int sp__counts_take(struct sp__group_arena *a, uint32_t at, uint32_t offset,
				  struct sp__codes *from);
