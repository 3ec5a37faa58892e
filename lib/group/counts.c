/* SPDX-License-Identifier: MIT */
/* Counts of values in buckets (counts.h). */
#include <stdlib.h>
#include "base/minmax.h"
#include "group/counts.h"

#define FIRST_ROOM 2u
#define TIMES_MAX ((UINT64_C(1) << SP__TIMES_BITS) - 1)
#define HEAD_CODES 16
#define ENTRY_CODES 10 /* bytes of an entry: a distance of 20 bits and a count of 44 */
/* A count of 1 and a distance of 0 are written as 3, which is not escaped. */
#define TIMES_STEP (SP__CODE_STEP - 1)
#define DISTANCE_STEP SP__CODE_STEP

static uint64_t *entries(const struct sp__group_arena *a, const struct sp__group_counts *c)
{
	return sp__arena_at(a, c->at);
}

static uint64_t entry_of(int32_t bucket, uint64_t times)
{
	return (uint64_t)(bucket + SP__BUCKET_END) << SP__TIMES_BITS | times;
}

static bool is_full(const struct sp__group_counts *c)
{
	return c->used + c->used / 4 >= c->room;
}

size_t sp__counts_growth(const struct sp__group_counts *c)
{
	return is_full(c) ? sp__max(FIRST_ROOM, 2 * c->room) * sizeof(uint64_t) : 0;
}

/* Rooms are powers of two of at most 20 bits, unless data is damaged. */
static uint32_t first_slot(uint64_t code)
{
	return (uint32_t)code * UINT32_C(0x9E3779B1) >> 12;
}

/*
 * Returns the entry that can count the values of `entry`, too, or a free one; NULL: there is
 * neither.  A count that would be too large has several entries.
 */
static uint64_t *find(uint64_t *e, uint32_t room, uint64_t entry)
{
	const uint64_t code = entry >> SP__TIMES_BITS;
	uint32_t i = first_slot(code);

	for (uint32_t passed = 0; passed < room; passed++, i++) {
		uint64_t *at = &e[i & (room - 1)];

		if (!*at || (*at >> SP__TIMES_BITS == code &&
			     sp__entry_times(*at) + sp__entry_times(entry) <= TIMES_MAX))
			return at;
	}
	return NULL;
}

/* Adds to the entry that find() has returned. */
static void add_to(struct sp__group_counts *c, uint64_t *at, uint64_t entry)
{
	c->used += !*at;
	*at = *at ? *at + sp__entry_times(entry) : entry;
}

static void grow(struct sp__group_arena *a, struct sp__group_counts *c)
{
	const uint64_t *from = entries(a, c);
	const uint32_t room = sp__max(FIRST_ROOM, 2 * c->room),
		       at = sp__arena_take(a, room * sizeof(*from));
	uint64_t *to = sp__arena_at(a, at);

	memset(to, 0, room * sizeof(*to));
	for (uint32_t i = 0; i < c->room; i++)
		if (from[i])
			*find(to, room, from[i]) = from[i];
	c->at = at;
	c->room = room;
}

/* Moves all entries to the start. */
static void compact(uint64_t *e, const struct sp__group_counts *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->room && n < c->used; i++)
		if (e[i])
			e[n++] = e[i];
}

static void join(struct sp__group_arena *a, struct sp__group_counts *c)
{
	uint64_t old[SP__BUCKETS_MAX], *e = entries(a, c);
	const uint32_t n = c->used; /* at most SP__BUCKETS_MAX: it is joined in time */

	compact(e, c);
	memcpy(old, e, n * sizeof(*e));
	memset(e, 0, c->room * sizeof(*e));
	c->used = 0;
	c->joins++;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t joined =
			entry_of(sp__entry_bucket(old[i]) / 2, sp__entry_times(old[i]));

		add_to(c, find(e, c->room, joined), joined);
	}
}

/* Adds to a bucket that has this many joins. */
static void add(struct sp__group_arena *a, struct sp__group_counts *c, int32_t bucket,
		unsigned joins, uint64_t times)
{
	for (;;) {
		const uint64_t entry = entry_of(bucket / (1 << (c->joins - joins)), times);
		uint64_t *at = find(entries(a, c), c->room, entry);

		const bool many = c->used >= SP__BUCKETS_MAX && c->joins < SP__JOINS_MAX;

		if (at && (*at || (!many && !is_full(c)))) {
			add_to(c, at, entry);
			return;
		}
		if (many)
			join(a, c);
		else
			grow(a, c);
	}
}

void sp__counts_add(struct sp__group_arena *a, struct sp__group_counts *c, int32_t bucket)
{
	add(a, c, bucket, 0, 1);
}

uint64_t sp__counts_of(const struct sp__group_arena *a, const struct sp__group_counts *c,
		       int32_t bucket)
{
	const uint64_t *e = entries(a, c), code = entry_of(bucket, 0) >> SP__TIMES_BITS;
	uint32_t i = first_slot(code);
	uint64_t times = 0;

	for (uint32_t passed = 0; passed < c->room && e[i & (c->room - 1)]; passed++, i++)
		if (e[i & (c->room - 1)] >> SP__TIMES_BITS == code)
			times += sp__entry_times(e[i & (c->room - 1)]);
	return times;
}

static int order(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return SP__ORDER(x, y);
}

const uint64_t *sp__counts_sort(const struct sp__group_arena *a, const struct sp__group_counts *c)
{
	uint64_t *e = entries(a, c);

	compact(e, c);
	if (c->used > 1)
		qsort(e, c->used, sizeof(*e), order);
	return e;
}

/* Partial groups as bytes. */

size_t sp__counts_written(const struct sp__group_counts *c)
{
	return HEAD_CODES + (size_t)c->used * ENTRY_CODES;
}

char *sp__counts_put(const struct sp__group_arena *a, const struct sp__group_counts *c, char *to)
{
	const uint64_t *e = sp__counts_sort(a, c);
	uint64_t last = 0;

	to = sp__code_put(to, c->used);
	to = sp__code_put(to, c->joins);
	for (uint32_t i = 0; i < c->used; i++) {
		const uint64_t bucket = e[i] >> SP__TIMES_BITS;

		to = sp__code_put(to, bucket - last + DISTANCE_STEP);
		to = sp__code_put(to, sp__entry_times(e[i]) + TIMES_STEP);
		last = bucket;
	}
	return to;
}

static struct sp__group_counts *counts_at(const struct sp__group_arena *a, uint32_t at,
					  uint32_t offset)
{
	return (void *)((char *)sp__arena_at(a, at) + offset);
}

int sp__counts_take(struct sp__group_arena *a, uint32_t at, uint32_t offset, struct sp__codes *from)
{
	const uint64_t n = (uint64_t)sp__code_take(from);
	const uint64_t joins = (uint64_t)sp__code_take(from);
	struct sp__group_counts *c = counts_at(a, at, offset);
	uint64_t bucket = 0;

	if (joins > SP__JOINS_MAX) {
		from->bad = true;
		return 0;
	}
	while (c->joins < joins)
		join(a, c);
	for (uint64_t i = 0; i < n && !from->bad; i++) {
		const uint64_t distance = (uint64_t)sp__code_take(from) - DISTANCE_STEP;
		const uint64_t times = (uint64_t)sp__code_take(from) - TIMES_STEP;

		bucket += distance;
		if (distance >= 2 * SP__BUCKET_END || bucket >= 2 * SP__BUCKET_END || !times ||
		    times > TIMES_MAX) {
			from->bad = true;
			return 0;
		}
		if (sp__arena_need(a, sp__counts_growth(c)))
			return -ENOMEM;
		c = counts_at(a, at, offset);
		add(a, c, (int32_t)bucket - SP__BUCKET_END, (unsigned)joins, times);
	}
	return 0;
}
