/* SPDX-License-Identifier: MIT */
/*
 * Allocates counted memory: budgets, growing buffers, and pages mapped from the system.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/mem.h"

/* Larger blocks are mapped: malloc() can copy them to grow them, and keep them once freed. */
#define MAPPED_BYTES (1u << 20)
#define KEPT_BYTES (1u << 20)
#define HUGE_BYTES (2u << 20)

void sp__budget_init(struct sp__budget *b, uint64_t limit_bytes)
{
	b->limit_bytes = limit_bytes;
	atomic_store(&b->used_bytes, 0);
	atomic_store(&b->peak_bytes, 0);
	atomic_store(&b->overrun_bytes, 0);
}

static void raise_to(_Atomic uint64_t *mark, uint64_t value)
{
	uint64_t seen = atomic_load(mark);

	while (seen < value && !atomic_compare_exchange_weak(mark, &seen, value))
		;
}

void sp__budget_charge(struct sp__budget *b, uint64_t bytes)
{
	uint64_t used = atomic_fetch_add(&b->used_bytes, bytes) + bytes;

	raise_to(&b->peak_bytes, used);
	if (used > b->limit_bytes)
		raise_to(&b->overrun_bytes, used - b->limit_bytes);
}

void sp__budget_credit(struct sp__budget *b, uint64_t bytes)
{
	atomic_fetch_sub(&b->used_bytes, bytes);
}

void *sp__block_resize(void *p, size_t from, size_t to)
{
	void *q;

	if (from >= MAPPED_BYTES && to) {
		q = mremap(p, from, to, MREMAP_MAYMOVE);
		return q == MAP_FAILED ? NULL : q;
	}
	if (from >= MAPPED_BYTES) {
		sp__pages_free(p, from);
		return NULL;
	}
	if (!to) {
		free(p);
		return NULL;
	}
	if (to < MAPPED_BYTES)
		return realloc(p, to);
	q = sp__pages_alloc(to, false);
	if (!q)
		return NULL;
	if (from)
		memcpy(q, p, from);
	free(p);
	return q;
}

int sp__bytes_reserve(struct sp__bytes *b, size_t bytes, struct sp__budget *budget)
{
	size_t want = b->capacity ? b->capacity : 256;
	char *p;

	if (bytes <= b->capacity)
		return 0;
	while (want < bytes)
		want += want / 2;
	p = sp__block_resize(b->data, b->capacity, want);
	if (!p)
		return -ENOMEM;
	if (budget)
		sp__budget_charge(budget, want - b->capacity);
	b->data = p;
	b->capacity = want;
	return 0;
}

int sp__bytes_set(struct sp__bytes *b, const char *data, size_t bytes, struct sp__budget *budget)
{
	sp__bytes_empty(b, budget);
	return sp__bytes_append(b, data, bytes, budget);
}

int sp__bytes_append(struct sp__bytes *b, const char *data, size_t bytes, struct sp__budget *budget)
{
	if (sp__bytes_reserve(b, b->bytes + bytes, budget) < 0)
		return -ENOMEM;
	if (bytes)
		memcpy(b->data + b->bytes, data, bytes);
	b->bytes += bytes;
	return 0;
}

void sp__bytes_empty(struct sp__bytes *b, struct sp__budget *budget)
{
	b->bytes = 0;
	if (b->capacity > KEPT_BYTES)
		sp__bytes_release(b, budget);
}

void sp__bytes_release(struct sp__bytes *b, struct sp__budget *budget)
{
	if (budget)
		sp__budget_credit(budget, b->capacity);
	(void)sp__block_resize(b->data, b->capacity, 0);
	*b = (struct sp__bytes){ 0 };
}

static char *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* The memory ends where a huge page ends: the system only makes whole ones. */
static char *map_aligned(size_t bytes)
{
	size_t all = (bytes + 4095) & ~(size_t)4095, after;
	char *p = map(all + HUGE_BYTES);

	if (!p)
		return map(bytes);
	after = ((uintptr_t)p + all) % HUGE_BYTES;
	munmap(p, HUGE_BYTES - after);
	p += HUGE_BYTES - after;
	if (after)
		munmap(p + all, after);
	return p;
}

void *sp__pages_alloc(size_t bytes, bool huge)
{
	char *p = huge && bytes >= HUGE_BYTES ? map_aligned(bytes) : map(bytes);

	if (p && huge)
		sp__pages_huge(p, bytes);
	return p;
}

size_t sp__pages_whole(size_t bytes)
{
	return bytes < HUGE_BYTES / 2 ? bytes
				      : (bytes + HUGE_BYTES - 1) & ~(size_t)(HUGE_BYTES - 1);
}

void sp__pages_huge(void *p, size_t bytes)
{
	madvise(p, bytes, MADV_HUGEPAGE);
}

void sp__pages_touch(void *p, size_t bytes)
{
	madvise(p, bytes, MADV_POPULATE_WRITE);
}

void sp__pages_free(void *p, size_t bytes)
{
	if (p)
		munmap(p, bytes);
}

void sp__pages_drop(void *p, size_t bytes)
{
	madvise(p, bytes, MADV_DONTNEED);
}
