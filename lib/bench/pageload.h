/* SPDX-License-Identifier: MIT */
/*
 * The loads of spindle/policy.h: which pages are requested, and when.
 *
 * A load does not know files, engines or clocks.  Its caller passes the time and the completions,
 * takes the requests to submit, and calls again after a completion or at due_ns.  Pages are
 * numbered from 0.
 *
 * A load allocates nothing once it is open, and belongs to one thread.
 */
#pragma once

#include <spindle/policy.h>
#include "base/rng.h"

/* In the order of preference if not all requests can be submitted. */
enum sp__pageclass {
	SP__PAGE_LOG,
	SP__PAGE_URGENT,
	SP__PAGE_READ,
	SP__PAGE_WRITE,
	SP__PAGE_CLASSES
};

struct sp__pagereq {
	uint32_t page;	 /* first page; in the log, first block */
	uint32_t n;	 /* consecutive pages or blocks */
	uint32_t cookie; /* cookie of the first page; private to the load */
};

#define SP__PAGELOG_BLOCK_BYTES 4096u
#define SP__PAGELOG_BYTES (64u << 20)	   /* at the end of the target */
#define SP__PAGELOG_MAX_BYTES (512u << 10) /* maximum bytes of one write of the log */

/* First in, first out. */
struct sp__pagequeue {
	struct sp__pagereq *reqs;
	size_t size, head, n;
};

/* A query that reads the whole table, and the extents that it has requested. */
struct sp__pagescan {
	/* Page numbers continue through all passes. */
	uint64_t at;	 /* the next page to work on */
	uint64_t asked;	 /* pages before it are requested, */
	uint64_t wanted; /* pages before this one are to be */
	uint64_t end;	 /* end of the last pass; UINT64_MAX: none */
	uint64_t busy_ns;
	uint64_t ahead;	      /* pages */
	uint64_t *arrived_ns; /* page p: element p % ahead; 0: not yet */
};

struct sp__pageclient {
	uint64_t busy_ns;
	unsigned left;	/* pages of the query that were in no batch yet */
	unsigned n, at; /* pages of the batch, and the next one */
	uint32_t page;	/* with an extent threshold: the current page of the query, if n is 1 */
	uint64_t *arrived_ns; /* pages of the batch; 0: not yet */
};

/* States of a page in the buffer of an update. */
enum sp__pagestate {
	SP__PAGE_OUT,
	SP__PAGE_COMING,  /* being read */
	SP__PAGE_HERE,	  /* the query will work on it */
	SP__PAGE_DIRTY,	  /* changed by the query */
	SP__PAGE_LEAVING, /* being written */
	SP__PAGE_KEPT,	  /* being written, and the query will work on it */
	SP__PAGE_CLEAN,	  /* written, and may be replaced */
};

struct sp__pageset {
	uint32_t *pages;
	size_t n;
};

struct sp__pagebuffer {
	size_t frames, empty;
	uint8_t *state; /* state of each page of the table */
	struct sp__pageset dirty, clean;
	uint32_t *where;  /* index of each page of the table in one of the two sets */
	uint64_t look_ns; /* time of the next check of the preflush */
	/* Positions where the search for the oldest page continues. */
	uint32_t dirty_hand, clean_hand;
};

/* The buffer of queries that read the rest of an extent once they have used many of its pages. */
struct sp__pagethreshold {
	uint8_t *state; /* state of each page */
	uint32_t *here; /* pages in any state but OUT, oldest first */
	size_t frames, head, n;
	uint32_t *worked; /* per extent: pages that queries have worked on */
};

struct sp__pagelog {
	uint64_t bytes;	   /* logged since the last write */
	uint32_t block;	   /* block of the next write */
	uint64_t write_ns; /* when the write is due; 0: nothing to write */
	bool due;
};

struct sp__pageload {
	struct sp_policy_opts opts;
	const struct sp__pageload_ops *ops;
	uint32_t pages; /* pages of the table; whole extents */
	unsigned depth;
	struct sp__rng rng;

	uint64_t due_ns; /* the next call is due; UINT64_MAX: after a completion */
	bool over;
	uint64_t accessed, queries;
	size_t pending[SP__PAGE_CLASSES]; /* requested pages that have not completed */
	size_t taken[SP__PAGE_CLASSES];	  /* submitted requests that have not completed */
	struct sp__pagequeue queues[SP__PAGE_CLASSES];

	struct sp__pagescan scan;
	struct sp__pageclient *clients;
	unsigned batch;	      /* pages of a batch of a client */
	uint64_t *arrived_ns; /* arrivals at all clients */
	struct sp__pagebuffer buffer;
	struct sp__pagethreshold threshold;
	struct sp__pagelog log;
};

struct sp__pageload_ops {
	SP_MUST_CHECK int (*open)(struct sp__pageload *l);
	void (*run)(struct sp__pageload *l, uint64_t now_ns);
	/* Called for each page that has completed. */
	void (*done)(struct sp__pageload *l, enum sp__pageclass class, const struct sp__pagereq *r,
		     uint64_t now_ns);
};

/* Returns why a load is refused on a table with this number of pages, or NULL. */
const char *sp__pageload_check(const struct sp_policy_opts *opts, uint64_t pages);
/*
 * Opens a load; opts must have passed the check. depth: maximum number outstanding.  Returns 0 or
 * -ENOMEM; the caller closes the load in either case.
 */
SP_MUST_CHECK int sp__pageload_open(struct sp__pageload *l, const struct sp_policy_opts *opts,
				    uint64_t pages, unsigned depth, uint64_t seed);
void sp__pageload_close(struct sp__pageload *l);

/* Advances the load to now_ns. */
void sp__pageload_run(struct sp__pageload *l, uint64_t now_ns);
/* Returns the pages or blocks of the largest request of a class. */
uint32_t sp__pageload_max(const struct sp_policy_opts *opts, enum sp__pageclass class);
/* Sets the next request to submit.  False: none now. */
bool sp__pageload_next(struct sp__pageload *l, enum sp__pageclass *class, struct sp__pagereq *r);
void sp__pageload_done(struct sp__pageload *l, enum sp__pageclass class,
		       const struct sp__pagereq *r, uint64_t now_ns);

/* A row of the preflush: pages that it writes at this percentage of free frames. */
struct sp__preflush {
	unsigned high, low;
};
struct sp__preflush sp__preflush(unsigned free_percent);

/* For the files of the load: */

SP_MUST_CHECK int sp__pagequeue_open(struct sp__pageload *l, enum sp__pageclass class, size_t size);
void sp__pageload_ask(struct sp__pageload *l, enum sp__pageclass class, uint32_t page,
		      uint32_t cookie);
void sp__pageload_due(struct sp__pageload *l, uint64_t due_ns); /* or sooner */

SP_MUST_CHECK int sp__pagescan_open(struct sp__pageload *l);
void sp__pagescan_arrived(struct sp__pageload *l, uint64_t page, uint64_t now_ns);
/* Works on the next page.  False: the query has not reached it, or it has not arrived. */
bool sp__pagescan_step(struct sp__pageload *l, uint64_t now_ns);

/* The log of an update: notes a changed page; computes when a write is due; sets the next write. */
bool sp__pagelog_next(struct sp__pageload *l, struct sp__pagereq *r);

extern const struct sp__pageload_ops sp__pageload_update, sp__pageload_threshold;
