/* SPDX-License-Identifier: MIT */
/*
 * A run that begins a short gap after the one before is joined to it, gap and all.  A run that
 * is longer than a request is cut, and what is left of it is a request of its own.  Whether a
 * run is joined depends on the next one, so the last run that is known waits for it.
 */
#include <string.h>
#include "cube/file/lane.h"

static int keep_run(void *arg, uint64_t block, uint64_t cells)
{
	struct sp__cubelane *l = arg;

	l->runs[l->n++] = (struct sp__cellrun){ block, cells };
	return l->n == SP__CUBELANE_RUNS;
}

static void compact(struct sp__cubelane *l)
{
	memmove(l->runs, l->runs + l->first, (l->n - l->first) * sizeof(*l->runs));
	l->n -= l->first;
	l->first = 0;
}

/* More runs of the walk, if few are left. */
static void refill(struct sp__cubelane *l)
{
	if (!l->walking || !sp__cubelane_has_room(l))
		return;
	compact(l);
	l->walking = sp__fragwalk_runs(&l->walk, keep_run, l);
}

void sp__cubelane_add(struct sp__cubelane *l, uint64_t block, uint64_t cells)
{
	if (l->n == SP__CUBELANE_RUNS)
		compact(l);
	(void)keep_run(l, block, cells);
}

/* Runs that continue the first one become part of it; false: it is the last one known. */
static bool merge(struct sp__cubelane *l, const struct sp__cubelanerules *rules)
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

unsigned sp__cubelane_next(struct sp__cubelane *l, const struct sp__cubelanerules *rules,
			   struct sp__cellrun *runs)
{
	uint64_t most = rules->request_blocks / rules->cell_blocks;
	const struct sp__cellrun *first, *next;
	bool known;
	unsigned n = 1;

	do {
		refill(l);
		known = merge(l, rules);
	} while (!known && l->walking);
	if (l->first == l->n)
		return 0;
	first = next = &l->runs[l->first];
	if (first->cells > most) {
		runs[0] = (struct sp__cellrun){ first->block, most };
		l->runs[l->first].block += most * rules->cell_blocks;
		l->runs[l->first].cells -= most;
		l->rest = true;
		return 1;
	}
	for (; !l->rest && l->first + n < l->n && n < SP__REQUEST_RUNS; n++) {
		uint64_t end = sp__cellrun_end(rules, next++);

		if (next->block < end || next->block - end > rules->gap_blocks ||
		    sp__cellrun_end(rules, next) - first->block > rules->request_blocks)
			break;
	}
	known = l->ending || l->first + n < l->n || n == SP__REQUEST_RUNS;
	if (!known)
		return 0;
	memcpy(runs, first, n * sizeof(*runs));
	l->first += n;
	l->rest = false;
	return n;
}
