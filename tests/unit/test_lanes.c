/* SPDX-License-Identifier: MIT */
/*
 * A lane joins runs across short gaps and cuts long ones; what is not known yet is awaited; and
 * requests of many random runs have each cell once, in order.
 */
#include <string.h>
#include "base/rng.h"
#include "datafile/lanes.h"
#include "tap.h"

#define CELL 2
static const struct sp__runlane_rules rules = { CELL, 4, 20 };
static struct sp__runlane lane;
static struct sp__cellrun runs[SP__REQUEST_RUNS];
static unsigned n;

static int next(void)
{
	return sp__runlane_next(&lane, &rules, runs, &n);
}

static bool is(unsigned i, uint64_t block, uint64_t cells)
{
	return runs[i].block == block && runs[i].cells == cells;
}

static void check_joins(void)
{
	memset(&lane, 0, sizeof(lane));
	ok(next() == SP_LATER, "an empty lane waits for runs");
	sp__runlane_add(&lane, 0, 2);
	ok(next() == SP_LATER, "a run waits for the next one");
	sp__runlane_add(&lane, 4, 1);
	sp__runlane_add(&lane, 10, 1);
	ok(next() == SP_LATER, "so do runs that are joined");
	sp__runlane_add(&lane, 17, 1);
	ok(next() == SP_READY && n == 2 && is(0, 0, 3) && is(1, 10, 1),
	   "runs that follow each other are one, and a gap of 4 is joined, one of 5 is not");
	sp__runlane_add(&lane, 5, 1);
	ok(next() == SP_READY && n == 1 && is(0, 17, 1), "a run that goes back is not joined");
	lane.ending = true;
	ok(next() == SP_READY && n == 1 && is(0, 5, 1) && next() == SP_END,
	   "at the end the last run is a request");
}

static void check_cuts(void)
{
	memset(&lane, 0, sizeof(lane));
	lane.ending = true;
	sp__runlane_add(&lane, 100, 23);
	sp__runlane_add(&lane, 148, 1);
	ok(next() == SP_READY && n == 1 && is(0, 100, 10) && next() == SP_READY && n == 1 &&
		   is(0, 120, 10),
	   "a long run is cut at the largest request");
	ok(next() == SP_READY && n == 1 && is(0, 140, 3) && next() == SP_READY && is(0, 148, 1),
	   "its rest is a request of its own");
	sp__runlane_add(&lane, 200, 5);
	sp__runlane_add(&lane, 212, 4);
	sp__runlane_add(&lane, 221, 1);
	ok(next() == SP_READY && n == 2 && next() == SP_READY && n == 1 && is(0, 221, 1),
	   "runs are joined up to the largest request");
	for (unsigned i = 0; i <= SP__REQUEST_RUNS; i++)
		sp__runlane_add(&lane, 1000 + i, 0);
	ok(next() == SP_READY && n <= SP__REQUEST_RUNS, "a request has a limit of runs");
}

struct source {
	struct sp__rng rng;
	uint64_t block, cells, left;
};

/* Random runs, most of them near the one before. */
static bool fill(void *source, struct sp__runlane *l)
{
	struct source *s = source;

	while (s->left) {
		uint64_t cells = 1 + sp__rng_below(&s->rng, 15);

		s->block += sp__rng_below(&s->rng, 10);
		s->cells += cells;
		s->left--;
		if (!sp__runlane_add(l, s->block, cells)) {
			s->block += cells * CELL;
			return true;
		}
		s->block += cells * CELL;
	}
	return false;
}

static void check_source(void)
{
	struct source s = { .rng = { 7 }, .left = 10000 };
	uint64_t end = 0, cells = 0, joined = 0;
	bool right = true;
	int rc;

	memset(&lane, 0, sizeof(lane));
	lane.fill = fill;
	lane.source = &s;
	lane.filling = lane.ending = true;
	while ((rc = next()) == SP_READY) {
		right &= sp__cellrun_end(&rules, &runs[n - 1]) - runs[0].block <=
			 rules.request_blocks;
		joined += n > 1;
		for (unsigned i = 0; i < n; i++) {
			right &= runs[i].block >= end &&
				 (!i || runs[i].block - end <= rules.gap_blocks);
			end = sp__cellrun_end(&rules, &runs[i]);
			cells += runs[i].cells;
		}
	}
	ok(rc == SP_END && right && cells == s.cells && !s.left && joined,
	   "the runs of a source are requests within the rules, each cell once");
}

int main(void)
{
	check_joins();
	check_cuts();
	check_source();
	return done();
}
