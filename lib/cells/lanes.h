/* SPDX-License-Identifier: MIT */
/*
 * Lanes make requests of runs of cells, and keep requests of every volume outstanding.
 *
 * A cell is a fixed number of blocks; a run is consecutive cells.  Blocks of all volumes are
 * numbered in one address space.  Each volume has a lane, which takes runs and makes requests of
 * them: a run that begins a short gap after the one before is joined to it, gap and all, since
 * passing over a few blocks takes less time than a request of its own.  A run that is longer than a
 * request is cut, and the rest of it is a request of its own.  Requests keep the order of the runs.
 *
 * Runs come from a source that fills the lane when few are left, or are added by the caller.  All
 * lanes submit until each has `depth` requests outstanding; they continue whenever a request has
 * completed.
 *
 *	sp__runlanes_open(), then for each pass:
 *	sp__runlanes_begin()
 *	add runs, or set filling, and call sp__runlanes_feed(); any number of times
 *	sp__runlanes_end()
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include <spindle/batch.h>
#include "io/queue.h"

struct sp__cellrun {
	uint64_t block, cells;
};

#define SP__REQUEST_RUNS 64   /* maximum of a request */
#define SP__RUNLANE_RUNS 1024 /* maximum that a lane knows */

/* The limits of a request, in blocks. */
struct sp__runlane_rules {
	uint32_t cell_blocks;
	uint64_t gap_blocks;	 /* the longest gap that is part of a request */
	uint64_t request_blocks; /* size of the longest request, in whole cells */
};

/* Zero to begin, with fill and source if there is a source. */
struct sp__runlane {
	/* Adds runs until the lane is full: true; or until there are none: false. */
	bool (*fill)(void *source, struct sp__runlane *l);
	void *source;
	bool filling;	   /* set by the caller: the source may have runs; reset when it has none */
	bool ending;	   /* no run follows those known */
	bool rest;	   /* the first run is the rest of a longer one */
	unsigned first, n; /* runs[first .. n) are in no request yet */
	struct sp__volume *volume;
	uint64_t begin_block; /* the number of the first block of the volume */
	uint64_t last_end;    /* end of the request before this one */
	uint64_t requests, bytes;
	unsigned outstanding; /* requests */
	struct sp__cellrun runs[SP__RUNLANE_RUNS];
};

/* A request, and the runs of cells in it; between them are gaps. */
struct sp__lanerequest {
	struct sp__request r;
	struct sp__runlane *lane;
	unsigned nruns;
	struct sp__cellrun runs[SP__REQUEST_RUNS];
};

struct sp__runlanes_opts {
	unsigned volumes;
	unsigned depth; /* requests outstanding on each volume, at most: memory can lower it */
	uint32_t block_bytes, cell_blocks;
	uint64_t request_bytes;	     /* maximum of a request; at least a cell is read */
	uint64_t limit_bytes;	     /* memory for requests */
	struct sp__queue_opts queue; /* engine, trace, device; the rest is set here */
	/* Fills the cells of a request before it is written; takes those of one that was read. */
	void (*move)(void *arg, const struct sp__lanerequest *q);
	void *arg;
	const char *name; /* name of the dataset, in messages */
	struct sp_errinfo *err;
};

struct sp__runlanes {
	struct sp__io_owner owner; /* receives the completions of all requests */
	struct sp__runlanes_opts opts;
	enum sp__op op;
	struct sp__runlane_rules rules;
	struct sp__runlane *lanes; /* opts.volumes; the caller sets source, volume, begin_block */
	struct sp__queue *queue;
	int error;	       /* error of the first request that failed */
	uint64_t seeks;	       /* requests that do not begin where the one before ended */
	uint64_t memory_bytes; /* in use, for the caller to charge */
	uint8_t *pool;
	size_t pool_bytes;
	unsigned nrequests, nfree;
	struct sp__lanerequest *requests, **free;
};

/* Returns the block after a run. */
static inline uint64_t sp__cellrun_end(const struct sp__runlane_rules *rules,
				       const struct sp__cellrun *run)
{
	return run->block + run->cells * rules->cell_blocks;
}

/* True if runs may be added: at least half of the lane is free. */
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

/* Lowers depth and request_bytes to what the memory permits. */
void sp__runlanes_sizes(struct sp__runlanes_opts *o);
/*
 * Allocates lanes and requests and opens the queue.  Returns 0, -ENOMEM or an error of the queue.
 * After an error, too, the lanes are to be closed.
 */
SP_MUST_CHECK int sp__runlanes_open(struct sp__runlanes *l, const struct sp__runlanes_opts *opts);
/* Begins a pass of reads or writes: lanes are empty and await runs. */
void sp__runlanes_begin(struct sp__runlanes *l, enum sp__op op, uint64_t gap_blocks);
/*
 * Submits requests until no source has runs and each lane is at least half free.  Returns 0, the
 * error of a request, or SP_ECORRUPT if a file ends before.
 */
SP_MUST_CHECK int sp__runlanes_feed(struct sp__runlanes *l);
/* Submits all runs that are left, and waits for all requests.  Errors as sp__runlanes_feed(). */
SP_MUST_CHECK int sp__runlanes_end(struct sp__runlanes *l);
/* Waits for outstanding requests, which are not moved, and frees all.  Zero is accepted. */
void sp__runlanes_close(struct sp__runlanes *l);
