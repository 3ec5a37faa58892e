/* SPDX-License-Identifier: MIT */
/*
 * A lane joins runs across short gaps and cuts long ones; what is not known yet is awaited; and
 * requests of many random runs have each cell once, in order.  Requests of several lanes move each
 * cell of two volumes, within the memory that they may have.
 */
#include <string.h>
#include "base/rng.h"
#include "cells/lanes.h"
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

#define BLOCK 512
#define VOLUME_BLOCKS 4000
#define LIMIT (64u << 10)

/* Moves cells: each begins with the number of its first block. */
struct mover {
	struct sp__runlanes lanes;
	uint64_t cells;
	bool right;
};

static void move(void *arg, const struct sp__lanerequest *q)
{
	struct mover *m = arg;
	uint8_t *data = q->r.data;

	m->right &= q->lane->outstanding <= m->lanes.opts.depth;
	for (unsigned i = 0; i < q->nruns; i++) {
		for (uint64_t k = 0; k < q->runs[i].cells; k++, m->cells++) {
			uint64_t block = q->runs[i].block + k * CELL, seen;
			uint8_t *cell = data + (block - q->runs[0].block) * BLOCK;

			if (q->r.op == SP__OP_WRITE)
				memcpy(cell, &block, sizeof(block));
			memcpy(&seen, cell, sizeof(seen));
			m->right &= seen == block;
		}
	}
}

/* All cells of both volumes, or, at random, each with a probability of one in two. */
static int pass(struct mover *m, enum sp__op op, bool all, uint64_t *given)
{
	struct sp__rng rng = { 5 };
	int rc = 0;

	m->cells = *given = 0;
	sp__runlanes_begin(&m->lanes, op, op == SP__OP_READ ? 4 : 0);
	for (uint64_t block = 0; !rc && block < 2 * VOLUME_BLOCKS; block += CELL) {
		if (!all && sp__rng_below(&rng, 2))
			continue;
		sp__runlane_add(&m->lanes.lanes[block / VOLUME_BLOCKS], block, 1);
		++*given;
		rc = sp__runlanes_feed(&m->lanes);
	}
	return rc ? rc : sp__runlanes_end(&m->lanes);
}

static void check_requests(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct mover m = { .right = true };
	const char *tmp = getenv("TMPDIR");
	const struct sp__runlanes_opts opts = { .volumes = 2,
						.depth = 100,
						.block_bytes = BLOCK,
						.cell_blocks = CELL,
						.request_bytes = 1 << 20,
						.limit_bytes = LIMIT,
						.move = move,
						.arg = &m,
						.name = "volumes",
						.err = &err };
	struct sp__volume *v[2] = { NULL, NULL };
	uint64_t given;
	int rc = sp__runlanes_open(&m.lanes, &opts);

	for (unsigned i = 0; !rc && i < 2; i++) {
		rc = sp__volume_temp(&v[i], tmp && *tmp ? tmp : "/tmp", SP__DIRECT_NEVER, &err);
		m.lanes.lanes[i].volume = v[i];
		m.lanes.lanes[i].begin_block = i * VOLUME_BLOCKS;
	}
	ok(!rc && m.lanes.opts.depth > 1 && m.lanes.opts.depth < 100 && m.lanes.pool_bytes <= LIMIT,
	   "the depth fits the memory for requests");
	rc = pass(&m, SP__OP_WRITE, true, &given);
	ok(!rc && m.right && m.cells == given, "two lanes write each cell once");
	rc = pass(&m, SP__OP_READ, false, &given);
	ok(!rc && m.right && m.cells == given && m.lanes.lanes[1].requests,
	   "requests with gaps read the right cells from the right volume");
	sp__runlane_add(&m.lanes.lanes[0], VOLUME_BLOCKS, 1);
	ok(sp__runlanes_end(&m.lanes) == SP_ECORRUPT, "a file that ends before is an error");
	sp__runlanes_close(&m.lanes);
	sp__volume_close(v[0]);
	sp__volume_close(v[1]);
}

int main(void)
{
	check_joins();
	check_cuts();
	check_source();
	check_requests();
	return done();
}
