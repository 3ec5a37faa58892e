/* SPDX-License-Identifier: MIT */
/*
 * The loads of spindle/policy.h: which pages are asked for, and when.
 *
 * A load knows nothing of files, engines or clocks.  Whoever runs it tells it
 * the time and what has been done, takes out what is to be submitted, and comes
 * back when something is done or at due_ns.  Pages are numbered from 0.
 *
 * No allocation after opening.  One thread.
 */
#ifndef SP__BENCH_PAGELOAD_H
#define SP__BENCH_PAGELOAD_H

#include <stddef.h>
#include <spindle/policy.h>
#include "base/rng.h"

/* In the order in which they are submitted when not all of them can be. */
enum sp__pageclass { SP__PAGE_URGENT, SP__PAGE_READ, SP__PAGE_WRITE, SP__PAGE_CLASSES };

struct sp__pagereq {
	uint32_t page;
	uint32_t cookie; /* the load's */
};

/* First in, first out. */
struct sp__pagequeue {
	struct sp__pagereq *reqs;
	size_t size, head, n;
};

/* A query that goes through the table, and the extents that it has asked for. */
struct sp__pagescan {
	/* Pages are counted on over all passes. */
	uint64_t at;	 /* is worked on next */
	uint64_t asked;	 /* what is before it has been asked for, */
	uint64_t wanted; /* and what is before this should be */
	uint64_t end;	 /* of the last pass; UINT64_MAX: there is none */
	uint64_t busy_ns;
	uint64_t ahead;	      /* pages */
	uint64_t *arrived_ns; /* of page p the one at p % ahead; 0: it has not */
};

struct sp__pageclient {
	uint64_t busy_ns;
	unsigned left;	      /* pages of the query that have not been in a batch yet */
	unsigned n, at;	      /* of the batch: pages, the next one */
	uint64_t *arrived_ns; /* of the batch; 0: it has not */
};

/* The buffer of an update; what a page of the table is to it. */
enum sp__pagestate {
	SP__PAGE_OUT,
	SP__PAGE_COMING,  /* is being read */
	SP__PAGE_HERE,	  /* the query will work on it */
	SP__PAGE_DIRTY,	  /* was worked on */
	SP__PAGE_LEAVING, /* is being written */
	SP__PAGE_KEPT,	  /* the same, and the query will work on it */
	SP__PAGE_CLEAN,	  /* has been written and can be replaced */
};

struct sp__pageset {
	uint32_t *pages;
	size_t n;
};

struct sp__pagebuffer {
	size_t frames, empty;
	uint8_t *state; /* of each page of the table */
	struct sp__pageset dirty, clean;
	uint32_t *where;  /* of each page of the table: its place in one of the two */
	uint64_t look_ns; /* the next look of the preflush */
};

struct sp__pageload {
	struct sp_policy_opts opts;
	const struct sp__pageload_ops *ops;
	uint32_t pages; /* of the table: whole extents */
	unsigned depth;
	struct sp__rng rng;

	uint64_t due_ns; /* come back then; UINT64_MAX: when something is done */
	bool over;
	uint64_t accessed, queries;
	size_t pending[SP__PAGE_CLASSES]; /* asked for and not done */
	struct sp__pagequeue queues[SP__PAGE_CLASSES];

	struct sp__pagescan scan;
	struct sp__pageclient *clients;
	unsigned batch;	      /* of a client */
	uint64_t *arrived_ns; /* of all clients */
	struct sp__pagebuffer buffer;
};

struct sp__pageload_ops {
	SP_MUST_CHECK int (*open)(struct sp__pageload *l);
	void (*run)(struct sp__pageload *l, uint64_t now_ns);
	void (*done)(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		     uint64_t now_ns);
};

/* Why a load on a table of so many pages would make no sense; NULL: it does. */
const char *sp__pageload_check(const struct sp_policy_opts *opts, uint64_t pages);
/*
 * What has been checked.  depth: the most that will be outstanding.  0 or
 * -ENOMEM; to be closed in any case.
 */
SP_MUST_CHECK int sp__pageload_open(struct sp__pageload *l, const struct sp_policy_opts *opts,
				    uint64_t pages, unsigned depth, uint64_t seed);
void sp__pageload_close(struct sp__pageload *l);

/* Everything that happens up to this moment. */
void sp__pageload_run(struct sp__pageload *l, uint64_t now_ns);
/* The next request to be submitted; false: none for now. */
bool sp__pageload_next(struct sp__pageload *l, enum sp__pageclass *class, struct sp__pagereq *r);
void sp__pageload_done(struct sp__pageload *l, enum sp__pageclass class,
		       const struct sp__pagereq *r, uint64_t now_ns);

/* Pages that a preflush writes if so many percent of the frames are free. */
struct sp__preflush {
	unsigned high, low;
};
struct sp__preflush sp__preflush(unsigned free_percent);

/* Inside: */

SP_MUST_CHECK int sp__pagequeue_open(struct sp__pageload *l, enum sp__pageclass class, size_t size);
void sp__pageload_ask(struct sp__pageload *l, enum sp__pageclass class, uint32_t page,
		      uint32_t cookie);
void sp__pageload_due(struct sp__pageload *l, uint64_t due_ns); /* or sooner */

SP_MUST_CHECK int sp__pagescan_open(struct sp__pageload *l);
void sp__pagescan_arrived(struct sp__pageload *l, uint64_t page, uint64_t now_ns);
/*
 * Works on the next page if the query has come to it and it is there; false:
 * it has not or it is not.
 */
bool sp__pagescan_step(struct sp__pageload *l, uint64_t now_ns);

extern const struct sp__pageload_ops sp__pageload_scan, sp__pageload_range, sp__pageload_update;

#endif
