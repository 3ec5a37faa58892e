/* SPDX-License-Identifier: MIT */
/*
 * What is to be read from, or written to, one volume: the runs of a walk become requests, in
 * their order.  Runs are taken from the walk some at a time, so that lanes can take turns.
 */
#ifndef SP__CUBE_FILE_LANE_H
#define SP__CUBE_FILE_LANE_H

#include "cube/mapping/fragments.h"

/* Cells that follow each other. */
struct sp__cellrun {
	uint64_t block, cells;
};

#define SP__REQUEST_RUNS 64
#define SP__CUBELANE_RUNS 1024

/* What a request may be. */
struct sp__cubelanerules {
	uint32_t cell_blocks;
	uint64_t gap_blocks;	 /* the longest gap that is read to save a request */
	uint64_t request_blocks; /* of the longest request, whole cells */
};

struct sp__cubelane {
	struct sp__fragwalk walk;
	bool walking;	      /* the walk may have more runs */
	bool ending;	      /* no other walk follows */
	bool rest;	      /* the first run is what is left of a longer one */
	unsigned first, n;    /* of the runs, those that are in no request yet */
	unsigned outstanding; /* requests */
	uint64_t last_end;    /* of the request before */
	uint64_t requests, bytes;
	struct sp__cellrun runs[SP__CUBELANE_RUNS];
};

/* The block after a run. */
static inline uint64_t sp__cellrun_end(const struct sp__cubelanerules *rules,
				       const struct sp__cellrun *run)
{
	return run->block + run->cells * rules->cell_blocks;
}

/* Whether runs can be added. */
static inline bool sp__cubelane_has_room(const struct sp__cubelane *l)
{
	return l->n - l->first <= SP__CUBELANE_RUNS / 2;
}
/* Adds a run that is of no walk. */
void sp__cubelane_add(struct sp__cubelane *l, uint64_t block, uint64_t cells);

/*
 * The runs of the next request, at most SP__REQUEST_RUNS: 0: there is none, or more runs must be
 * known first.
 */
unsigned sp__cubelane_next(struct sp__cubelane *l, const struct sp__cubelanerules *rules,
			   struct sp__cellrun *runs);

#endif
