/* SPDX-License-Identifier: MIT */
/*
 * The runs' current pages compete by last key, as they will in the merge; the
 * winner is the page that finishes first, and its successor is the page needed
 * next.  A binary heap of runs, replaced at its root: T log n comparisons of
 * keys that are in memory anyway.  Sorting all T keys, as the paper puts it,
 * would cost T log T and a second array.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include "sort/consume.h"

struct race {
	unsigned *heap; /* run numbers, the first to finish at the root */
	uint64_t *page; /* current page of each run */
	unsigned size;
	sp__last_key_cmp *cmp;
	void *ctx;
};

static bool before(const struct race *r, unsigned a, unsigned b)
{
	int c = r->cmp(r->ctx, a, r->page[a], b, r->page[b]);

	return c < 0 || (c == 0 && a < b);
}

static void sift_down(struct race *r, unsigned at)
{
	unsigned run = r->heap[at], child;

	while ((child = 2 * at + 1) < r->size) {
		if (child + 1 < r->size && before(r, r->heap[child + 1], r->heap[child]))
			child++;
		if (before(r, run, r->heap[child]))
			break;
		r->heap[at] = r->heap[child];
		at = child;
	}
	r->heap[at] = run;
}

static void run_race(struct race *r, const uint64_t *run_pages, uint32_t *sequence)
{
	for (unsigned i = r->size / 2; i-- > 0;)
		sift_down(r, i);
	while (r->size) {
		unsigned run = r->heap[0];

		if (++r->page[run] < run_pages[run])
			*sequence++ = run;
		else
			r->heap[0] = r->heap[--r->size];
		if (r->size)
			sift_down(r, 0);
	}
}

int sp__consumption_build(unsigned runs, const uint64_t *run_pages, sp__last_key_cmp *cmp,
			  void *ctx, uint32_t *sequence)
{
	struct race r = { .cmp = cmp, .ctx = ctx };

	r.heap = malloc(runs * sizeof(*r.heap) + 1);
	r.page = calloc(runs + 1, sizeof(*r.page));
	if (!r.heap || !r.page) {
		free(r.heap);
		free(r.page);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < runs; i++)
		if (run_pages[i]) {
			r.heap[r.size++] = i;
			*sequence++ = i;
		}
	run_race(&r, run_pages, sequence);
	free(r.heap);
	free(r.page);
	return 0;
}
