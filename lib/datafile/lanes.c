/* SPDX-License-Identifier: MIT */
/*
 * Joins and cuts runs of cells.
 *
 * A run that begins a short gap after the one before is joined to it, gap and all.  A run that
 * is longer than a request is cut, and what is left of it is a request of its own.  Whether a
 * run is joined depends on the next one, so the last run that is known waits for it.
 */
#include <string.h>
#include "datafile/lanes.h"

static void compact(struct sp__runlane *l)
{
	memmove(l->runs, l->runs + l->first, (l->n - l->first) * sizeof(*l->runs));
	l->n -= l->first;
	l->first = 0;
}

/* Gets more runs from the source, if few are left. */
static void refill(struct sp__runlane *l)
{
	if (!l->filling || !sp__runlane_free(l))
		return;
	compact(l);
	l->filling = l->fill(l->source, l);
}

bool sp__runlane_add(struct sp__runlane *l, uint64_t block, uint64_t cells)
{
	if (l->n == SP__RUNLANE_RUNS)
		compact(l);
	l->runs[l->n++] = (struct sp__cellrun){ block, cells };
	return l->n < SP__RUNLANE_RUNS;
}

/* Merges runs that continue the first one into it.  False: it is the last one known. */
static bool merge(struct sp__runlane *l, const struct sp__runlane_rules *rules)
{
	while (l->first + 1 < l->n) {
		struct sp__cellrun *run = &l->runs[l->first], *next = run + 1;

		if (next->block != sp__cellrun_end(rules, run))
			return true;
		next->block = run->block;
		next->cells += run->cells;
		l->first++;
	}
	return false;
}

int sp__runlane_next(struct sp__runlane *l, const struct sp__runlane_rules *rules,
		     struct sp__cellrun runs[SP__REQUEST_RUNS], unsigned *count)
{
	uint64_t max = rules->request_blocks / rules->cell_blocks;
	const struct sp__cellrun *first, *next;
	bool known;
	unsigned n = 1;

	do {
		refill(l);
		known = merge(l, rules);
	} while (!known && l->filling);
	if (l->first == l->n)
		return l->ending ? SP_END : SP_LATER;
	first = next = &l->runs[l->first];
	if (first->cells > max) {
		runs[0] = (struct sp__cellrun){ first->block, max };
		l->runs[l->first].block += max * rules->cell_blocks;
		l->runs[l->first].cells -= max;
		l->rest = true;
		*count = 1;
		return SP_READY;
	}
	for (; !l->rest && l->first + n < l->n && n < SP__REQUEST_RUNS; n++) {
		uint64_t end = sp__cellrun_end(rules, next++);

		if (next->block < end || next->block - end > rules->gap_blocks ||
		    sp__cellrun_end(rules, next) - first->block > rules->request_blocks)
			break;
	}
	known = l->ending || l->first + n < l->n || n == SP__REQUEST_RUNS;
	if (!known)
		return SP_LATER;
	memcpy(runs, first, n * sizeof(*runs));
	l->first += n;
	l->rest = false;
	*count = n;
	return SP_READY;
}
