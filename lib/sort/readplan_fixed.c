/* SPDX-License-Identifier: MIT */
/*
 * Fixed buffering (Zhang & Larson 1998, section 3.1): each run owns `own` pages
 * for the whole merge, reads them full at first, and then `batch` pages
 * whenever no more than `low` are full.
 *
 * Runs that have reached that point wait in a ring in FIFO order.  They own at most b
 * pages in total, so the head of the ring always fits, unless the caller holds pages
 * back; then it waits, and only a starving run overtakes it.
 *
 * Equal buffering deals b pages as floor(b / n) and ceil(b / n).  Its clusters
 * then average slightly less than b / n - 1, since short ones are read more often:
 * by 4 % between 2 and 3 pages, less above.  No assignment of b pages can
 * do better, by the inequality of means.
 */
#include <errno.h>
#include <stdlib.h>
#include "sort/readplan_impl.h"

static void deal(struct sp__run_reads *r, const struct sp__readplan *p, unsigned index)
{
	unsigned b = p->buffers, n = p->live, half = b / (2 * n);

	r->own = r->batch = 1;
	r->low = 0;
	if (p->strategy == SP_READ_EQUAL) {
		r->own = b / n + (index < b % n);
		r->batch = r->own > 1 ? r->own - 1 : 1;
		r->low = r->own > 1;
	} else if (p->strategy == SP_READ_DOUBLE && half > 0) {
		r->own = 2 * half;
		r->batch = r->low = half;
	} else if (p->strategy == SP_READ_DOUBLE && index < b - n) {
		/* Single pages, and a second one for read-ahead as long as there are any. */
		r->own = 2;
		r->low = 1;
	}
}

int sp__fixed_plan(struct sp__readplan *p)
{
	unsigned index = 0;

	p->ring = malloc(p->runs * sizeof(*p->ring));
	if (!p->ring)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->runs; i++) {
		struct sp__run_reads *r = &p->run[i];

		if (!r->pages)
			continue;
		deal(r, p, index++);
		r->waiting = true;
		p->ring[p->ring_count++] = i;
		if (p->largest < r->own)
			p->largest = r->own;
	}
	return 0;
}

static uint64_t wish(const struct sp__run_reads *r)
{
	uint64_t want = r->asked ? r->batch : r->own;

	return want < sp__unread(r) ? want : sp__unread(r);
}

unsigned sp__fixed_next(struct sp__readplan *p, unsigned free_pages, unsigned *run)
{
	while (p->ring_count) {
		struct sp__run_reads *r = &p->run[p->ring[p->ring_head]];
		bool due = sp__unread(r) && sp__full(r) <= r->low;

		if (due && wish(r) > free_pages)
			return 0;
		*run = p->ring[p->ring_head];
		p->ring_head = (p->ring_head + 1) % p->runs;
		p->ring_count--;
		r->waiting = false;
		if (due)
			return sp__readplan_take(p, *run, wish(r));
	}
	return 0;
}

/* The run's place in the ring is left; next() finds it satisfied. */
unsigned sp__fixed_feed(struct sp__readplan *p, uint32_t run, unsigned free_pages)
{
	uint64_t want = wish(&p->run[run]);

	return sp__readplan_take(p, run, want < free_pages ? want : free_pages);
}

void sp__fixed_consumed(struct sp__readplan *p, uint32_t run)
{
	struct sp__run_reads *r = &p->run[run];

	if (r->waiting || !sp__unread(r) || sp__full(r) > r->low)
		return;
	r->waiting = true;
	p->ring[(p->ring_head + p->ring_count++) % p->runs] = run;
}
