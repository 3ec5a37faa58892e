/* SPDX-License-Identifier: MIT */
/*
 * A lane makes requests of the runs of cells that are to be read from, or written to, one volume.
 *
 * A cell is a fixed number of blocks; a run is consecutive cells.  A run that begins a short gap
 * after the one before is joined to it, gap and all: passing over a few blocks takes less time
 * than a request of its own.  A run that is longer than a request is cut, and the rest of it is a
 * request of its own.  Requests keep the order of the runs.
 *
 * Runs come from a source that fills the lane when few are left, or are added by the owner.  The
 * owner keeps a lane for each volume and takes requests from all of them alternately, as many as
 * are to be outstanding on each (cube/file/transfer.c is an example).
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <spindle/batch.h>

struct sp__cellrun {
	uint64_t block, cells;
};

#define SP__REQUEST_RUNS 64   /* the most of a request */
#define SP__RUNLANE_RUNS 1024 /* the most that a lane knows */

/* The limits of a request, in blocks. */
struct sp__runlane_rules {
	uint32_t cell_blocks;
	uint64_t gap_blocks;	 /* the longest gap that is part of a request */
	uint64_t request_blocks; /* of the longest request, whole cells */
};

/* Zero to begin, with fill and source if there is a source. */
struct sp__runlane {
	/* Adds runs until the lane is full: true; or until there are none: false. */
	bool (*fill)(void *source, struct sp__runlane *l);
	void *source;
	bool filling;	      /* the owner's: the source may have runs; reset when it has none */
	bool ending;	      /* the owner's: no run follows those known */
	unsigned outstanding; /* the owner's: requests */
	uint64_t last_end;    /* the owner's: of the request before */
	uint64_t requests, bytes; /* the owner's */
	bool rest;		  /* the first run is the rest of a longer one */
	unsigned first, n;	  /* runs[first .. n) are in no request yet */
	struct sp__cellrun runs[SP__RUNLANE_RUNS];
};

/* Returns the block after a run. */
static inline uint64_t sp__cellrun_end(const struct sp__runlane_rules *rules,
				       const struct sp__cellrun *run)
{
	return run->block + run->cells * rules->cell_blocks;
}

/* True if the owner may add runs: at least half of the lane is free. */
static inline bool sp__runlane_free(const struct sp__runlane *l)
{
	return l->n - l->first <= SP__RUNLANE_RUNS / 2;
}

/* Adds a run; for a source, false if the lane is full then. */
bool sp__runlane_add(struct sp__runlane *l, uint64_t block, uint64_t cells);

/*
 * Takes the *n runs of the next request, 1 to SP__REQUEST_RUNS, in the order of their blocks.
 * Returns SP_READY; SP_LATER if the next run must be known first, which might join; or SP_END if
 * the lane is ending and empty.
 */
int sp__runlane_next(struct sp__runlane *l, const struct sp__runlane_rules *rules,
		     struct sp__cellrun runs[SP__REQUEST_RUNS], unsigned *n);
