/* SPDX-License-Identifier: MIT */
/*
 * Allocates blocks of record memory (replace.h).
 *
 * A free block is sought in the list of the wanted size, then in the next larger list that is not
 * empty, and then, for the minimum, in the list of the largest blocks.  At most LOOK blocks of a
 * list are examined.
 */
#include <string.h>
#include "base/array.h"
#include "sort/select/replace.h"

/* Blocks of a list that are examined for one that is large enough. */
#define LOOK 8
#define FREE 1u

struct tag {
	uint32_t size;	 /* units << 1 | FREE; 0 << 1: end tag */
	uint32_t before; /* units of the preceding block; 0: first block */
	/* Of free blocks only: neighbours in their list, units + 1. */
	uint32_t next, prev;
};

static struct tag *tag_at(const struct sp__recmem *rm, size_t unit)
{
	return (void *)(rm->base + unit * SP__RECMEM_UNIT);
}

static size_t unit_of(const struct sp__recmem *rm, const struct tag *t)
{
	return (size_t)((const char *)t - rm->base) / SP__RECMEM_UNIT;
}

static size_t units_for(size_t bytes)
{
	return (bytes + 8 + SP__RECMEM_UNIT - 1) / SP__RECMEM_UNIT;
}

static unsigned bin_of(size_t units)
{
	unsigned log;

	if (units < 4)
		return (unsigned)units;
	log = 63 - (unsigned)__builtin_clzll(units);
	return (log - 1) * 4 + (unsigned)(units >> (log - 2) & 3);
}

static void list_add(struct sp__recmem *rm, struct tag *t)
{
	size_t units = t->size >> 1;
	unsigned b = bin_of(units);
	uint32_t me = (uint32_t)unit_of(rm, t) + 1;

	t->size |= FREE;
	t->prev = 0;
	t->next = rm->bin[b];
	if (t->next)
		tag_at(rm, t->next - 1)->prev = me;
	rm->bin[b] = me;
	sp__bits_add(rm->map, b);
	rm->free_bytes += units * SP__RECMEM_UNIT;
}

static void list_remove(struct sp__recmem *rm, struct tag *t)
{
	size_t units = t->size >> 1;
	unsigned b = bin_of(units);

	t->size &= ~FREE;
	if (t->next)
		tag_at(rm, t->next - 1)->prev = t->prev;
	if (t->prev)
		tag_at(rm, t->prev - 1)->next = t->next;
	else
		rm->bin[b] = t->next;
	if (!rm->bin[b])
		sp__bits_drop(rm->map, b);
	rm->free_bytes -= units * SP__RECMEM_UNIT;
}

/* Frees a block, and merges it with the next one if that is free. */
static void release(struct sp__recmem *rm, struct tag *t)
{
	struct tag *after = tag_at(rm, unit_of(rm, t) + (t->size >> 1));

	if (after->size & FREE) {
		list_remove(rm, after);
		t->size += after->size;
		after = tag_at(rm, unit_of(rm, t) + (t->size >> 1));
	}
	after->before = t->size >> 1;
	list_add(rm, t);
}

void sp__recmem_init(struct sp__recmem *rm, void *mem, size_t bytes)
{
	struct tag *first;

	*rm = (struct sp__recmem){ .base = mem };
	if (bytes > SP__RECMEM_MAX)
		bytes = SP__RECMEM_MAX;
	if (bytes < 2 * SP__RECMEM_UNIT)
		return;
	rm->units = bytes / SP__RECMEM_UNIT - 1;
	first = tag_at(rm, 0);
	first->size = (uint32_t)(rm->units << 1);
	first->before = 0;
	tag_at(rm, rm->units)->size = 0;
	release(rm, first);
}

/* Returns the first list from bin b on that is not empty; BINS: none. */
static unsigned from_bin(const struct sp__recmem *rm, unsigned b)
{
	for (; b < SP__RECMEM_BINS; b = (b / 64 + 1) * 64) {
		uint64_t map = rm->map[b / 64] >> b % 64;

		if (map)
			return b + (unsigned)__builtin_ctzll(map);
	}
	return SP__RECMEM_BINS;
}

/* Returns the last list that is not empty; BINS: none. */
static unsigned last_bin(const struct sp__recmem *rm)
{
	for (int w = SP__RECMEM_BINS / 64 - 1; w >= 0; w--)
		if (rm->map[w])
			return (unsigned)w * 64 + 63 - (unsigned)__builtin_clzll(rm->map[w]);
	return SP__RECMEM_BINS;
}

static struct tag *look_in(const struct sp__recmem *rm, unsigned b, size_t units)
{
	uint32_t at = b < SP__RECMEM_BINS ? rm->bin[b] : 0;

	for (int i = 0; at && i < LOOK; i++, at = tag_at(rm, at - 1)->next)
		if (tag_at(rm, at - 1)->size >> 1 >= units)
			return tag_at(rm, at - 1);
	return NULL;
}

static struct tag *find(const struct sp__recmem *rm, size_t min, size_t max)
{
	struct tag *t = look_in(rm, bin_of(max), max);

	if (!t)
		t = look_in(rm, from_bin(rm, bin_of(max) + 1), max);
	return t ? t : look_in(rm, last_bin(rm), min);
}

/* Shortens a block in use; the rest becomes free. */
static void cut(struct sp__recmem *rm, struct tag *t, size_t units)
{
	size_t rest = (t->size >> 1) - units;
	struct tag *tail = tag_at(rm, unit_of(rm, t) + units);

	if (!rest)
		return;
	t->size = (uint32_t)(units << 1);
	tail->size = (uint32_t)(rest << 1);
	tail->before = (uint32_t)units;
	release(rm, tail);
}

void *sp__recmem_take(struct sp__recmem *rm, size_t min, size_t max, size_t *got)
{
	struct tag *t = NULL;

	if (min <= rm->units * SP__RECMEM_UNIT)
		t = find(rm, units_for(min), units_for(max));
	if (!t)
		return NULL;
	list_remove(rm, t);
	if (t->size >> 1 > units_for(max))
		cut(rm, t, units_for(max));
	*got = (size_t)(t->size >> 1) * SP__RECMEM_UNIT - 8;
	return (char *)t + 8;
}

void sp__recmem_trim(struct sp__recmem *rm, void *p, size_t bytes)
{
	cut(rm, (void *)((char *)p - 8), units_for(bytes));
}

void sp__recmem_release(struct sp__recmem *rm, void *p)
{
	struct tag *t = (void *)((char *)p - 8);

	if (t->before) {
		struct tag *before = tag_at(rm, unit_of(rm, t) - t->before);

		if (before->size & FREE) {
			list_remove(rm, before);
			before->size += t->size;
			t = before;
		}
	}
	release(rm, t);
}
