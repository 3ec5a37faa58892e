/* SPDX-License-Identifier: MIT */
/*
 * Computes the consumption sequence.
 *
 * Algorithm: the current pages of the runs compete by last key, as in the merge.  The winner is the
 * page that finishes first, and its successor is the page needed next.  A binary heap of runs,
 * replaced at its root, takes T log n comparisons of keys that are in memory anyway.
 *
 * Rejected: sorting all T keys, as in the paper; it takes T log T comparisons and a second array.
 */
#include <errno.h>
#include <stdlib.h>
#include "base/heap.h"
#include "sort/plan/consume.h"

struct race {
	struct sp__heap runs; /* the run whose page finishes first on top */
	uint64_t *page;	      /* current page of each run */
	sp__last_key_cmp *cmp;
	void *ctx;
};

static bool before(void *race, uint64_t a, uint64_t b)
{
	const struct race *r = race;
	int c = r->cmp(r->ctx, (unsigned)a, r->page[a], (unsigned)b, r->page[b]);

	return c < 0 || (c == 0 && a < b);
}

static void run_race(struct race *r, const uint64_t *run_pages, uint32_t *sequence)
{
	while (r->runs.n) {
		uint64_t run = r->runs.item[0];

		if (++r->page[run] < run_pages[run]) {
			*sequence++ = (uint32_t)run;
			sp__heap_settle(&r->runs, 0, run, before, NULL, r);
		} else {
			(void)sp__heap_take(&r->runs, 0, before, NULL, r);
		}
	}
}

int sp__consumption_build(unsigned runs, const uint64_t *run_pages, sp__last_key_cmp *cmp,
			  void *ctx, uint32_t *sequence)
{
	struct race r = { .runs.item = malloc(runs * sizeof(*r.runs.item) + 1),
			  .page = calloc(runs + 1, sizeof(*r.page)),
			  .cmp = cmp,
			  .ctx = ctx };
	int rc = r.runs.item && r.page ? 0 : -ENOMEM;

	for (unsigned i = 0; !rc && i < runs; i++)
		if (run_pages[i]) {
			sp__heap_push(&r.runs, i, before, NULL, &r);
			*sequence++ = i;
		}
	run_race(&r, run_pages, sequence);
	free(r.runs.item);
	free(r.page);
	return rc;
}
