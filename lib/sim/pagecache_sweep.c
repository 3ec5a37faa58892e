/* SPDX-License-Identifier: MIT */
/*
 * Dirty pages in the order of their places, going round: from the page that was
 * written last upward, and from the end on at the beginning.
 *
 * A heap by the distance ahead of the sweep, which wraps.  The sweep stands behind the page
 * that was the heap's first, so as it goes on all distances shrink alike and the heap
 * stays one.  Pages that were cleaned otherwise stay in it and are passed over; those that
 * became dirty again since are in it twice, and leave it together.
 */
#include <errno.h>
#include <stdlib.h>
#include "sim/pagecache_impl.h"

static uint64_t distance(const struct sp__sweep *s, uint64_t page)
{
	return page - s->at;
}

int sp__sweep_add(struct sp__sweep *s, uint64_t page)
{
	size_t i = s->n;

	if (s->n == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		uint64_t *pages = realloc(s->pages, cap * sizeof(*pages));

		if (!pages)
			return -ENOMEM;
		s->pages = pages;
		s->cap = cap;
	}
	s->n++;
	for (; i && distance(s, page) < distance(s, s->pages[(i - 1) / 2]); i = (i - 1) / 2)
		s->pages[i] = s->pages[(i - 1) / 2];
	s->pages[i] = page;
	return 0;
}

static uint64_t take(struct sp__sweep *s)
{
	uint64_t first = s->pages[0], last = s->pages[--s->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s->n) {
		if (child + 1 < s->n &&
		    distance(s, s->pages[child + 1]) < distance(s, s->pages[child]))
			child++;
		if (distance(s, last) <= distance(s, s->pages[child]))
			break;
		s->pages[i] = s->pages[child];
		i = child;
	}
	s->pages[i] = last;
	return first;
}

uint32_t sp__sweep_next(struct sp__pcache *pc)
{
	struct sp__sweep *s = &pc->sweep;
	uint64_t page;
	uint32_t i;

	do {
		page = take(s);
		while (s->n && s->pages[0] == page)
			take(s);
		s->at = page + 1;
		i = sp__pcache_find(pc, page);
	} while (i == SP__PCACHE_NONE || !pc->frame[i].dirty);
	return i;
}
