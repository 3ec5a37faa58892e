/* SPDX-License-Identifier: MIT */
/*
 * Declares the internals of the read plan, shared with clustering (readplan_cluster.c).
 */
#pragma once

#include "sort/plan/readplan.h"

#define SP__NO_RUN UINT32_MAX

struct sp__run_reads {
	uint64_t pages;
	uint64_t asked; /* pages requested, consumed or not */
	uint64_t consumed;
	union {
		struct { /* fixed buffering */
			uint32_t own, batch, low;
			bool waiting;
		};
		struct {		   /* forecasting */
			uint64_t passed;   /* pages passed in the sequence */
			uint64_t clusters; /* equal clusters after the first page; 0: buffers */
		};
		uint32_t debt; /* clustering: pages taken out of later clusters */
	};
};

/* A planned cluster. */
struct sp__step {
	uint32_t run;
	uint32_t pages;
};

struct sp__readplan {
	enum sp_readahead strategy;
	unsigned runs, live; /* live: runs that have pages */
	unsigned buffers;
	struct sp__run_reads *run;
	uint64_t unread, demanded;
	uint32_t starving; /* last run whose last page was consumed, or SP__NO_RUN */
	unsigned largest;
	/* Fixed buffering: runs waiting to read, in FIFO order. */
	uint32_t *ring;
	unsigned ring_head, ring_count;
	/* Forecasting: the sequence, and the position of reading in it. */
	uint32_t *sequence;
	uint64_t pages, at;
	uint32_t buffer_pages; /* FORECAST: pages in a buffer */
	int64_t buffers_empty; /* whole buffers that are empty */
	/* Clustering: the list, and the first unfinished step. */
	struct sp__step *steps;
	uint64_t nsteps, head;
};

static inline uint64_t sp__unread(const struct sp__run_reads *r)
{
	return r->pages - r->asked;
}

static inline uint64_t sp__full(const struct sp__run_reads *r)
{
	return r->asked - r->consumed;
}

/* True if the merge cannot continue without the run's next page. */
static inline bool sp__starves(const struct sp__readplan *p, uint32_t run)
{
	return run != SP__NO_RUN && sp__full(&p->run[run]) == 0 && sp__unread(&p->run[run]) > 0;
}

/* Counts pages as requested; returns their number. */
unsigned sp__readplan_take(struct sp__readplan *p, uint32_t run, uint64_t pages);

/* Completes p, whose runs and numbers are set.  Returns 0 or -ENOMEM. */
int sp__cluster_plan(struct sp__readplan *p, const uint32_t *sequence);
/* Returns the run that is read next; there must be unread pages. */
uint32_t sp__cluster_turn(struct sp__readplan *p);
/* Does the work of sp__readplan_next() without serving starving runs first. */
unsigned sp__cluster_next(struct sp__readplan *p, unsigned free_pages, unsigned *run);
size_t sp__cluster_scratch(uint64_t pages, unsigned runs);
