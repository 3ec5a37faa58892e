/* SPDX-License-Identifier: MIT */
/*
 * Declares the parts of the simulated machine.
 *
 *	machine.c         opening, files, statistics
 *	machine_submit.c  turns requests of a program into transfers; the sequence for OPT
 *	machine_run.c     time: events, completions, background, sync; transfers
 *	machine_spec.c    the specification
 */
#pragma once

#include "base/array.h"
#include "base/rng.h"
#include "dev/model.h"
#include "sim/fsmap.h"
#include "sim/machine.h"

/* A pool of objects of one size that are reused. */
struct sp__simpool {
	size_t bytes;
	void *free;   /* linked by their first word */
	void *chunks; /* likewise */
};

/* One block request, outstanding or held back. */
struct sp__xfer {
	struct sp__blockreq req; /* first member: the device returns this */
	uint64_t page;		 /* page of the device, if it fills the page cache */
	uint32_t pages;		 /* pages that it fills; 0: none */
	uint32_t cleans;	 /* pages of the page cache that it writes */
	bool background;
	struct sp__wait *waiters;
	struct sp__gate *gate; /* the gate that it holds shut */
	struct sp__xfer *next; /* in a gate */
};

/* A request that waits for a transfer. */
struct sp__wait {
	struct sp__simreq *req; /* NULL: its submission failed */
	struct sp__wait *next;	/* next wait for the same transfer */
	struct sp__wait *made;	/* next wait of the same submission */
};

/* Reads that begin after evicted pages are written. */
struct sp__gate {
	unsigned shut; /* writes still to complete */
	struct sp__xfer *first, **last;
};

struct sp__simfile {
	enum sp__sim_area area;
	uint64_t end; /* bytes */
};

struct sp__machine {
	struct sp__machine_spec spec;
	struct sp__model *model;
	struct sp__blockdev *bd;
	struct sp__fsmap *fs;
	struct sp__pcache *pc;	     /* NULL: no page cache */
	struct sp__simtrace *future; /* OPT: the recorded sequence; else NULL */
	struct sp__simfile *files;
	size_t nfiles;
	uint32_t page_blocks;
	uint32_t write_pages_max; /* maximum pages of one block request that writes cached pages */

	uint64_t now_ns;   /* the program's clock: it computes, or waits */
	uint64_t event_ns; /* time of the last internal event, <= now_ns when the program runs */
	uint64_t owed_ps;  /* computation not charged yet */
	struct sp__rng noise;
	int rc; /* -ENOMEM after memory was refused where a call could not return it */

	struct sp__simpool xfers, waits, gates;
	struct sp__wait *made;	     /* in the present submission */
	struct sp__blockreq **ready; /* to be submitted together */
	size_t nready, ready_cap;
	struct sp__pcache_work read, ahead, write;
	unsigned flying;     /* transfers that fill the page cache */
	unsigned writing;    /* write transfers */
	unsigned background; /* write transfers of the background */

	struct sp__heap done; /* pointers to requests, by (done_ns, seq) */
	size_t done_cap;
	uint64_t seq;
	unsigned outstanding;		/* requests submitted and not reaped */
	struct sp__machine_stats stats; /* counters of the machine itself */
};

/*
 * The future of OPT: a trace in which requests are found as they arrive.  Requests to volumes that
 * are not on this machine are skipped.  The page cache takes pages and npages; they live as long as
 * the trace.
 */
struct sp__simtrace;
SP_MUST_CHECK int sp__simtrace_open(struct sp__simtrace **t, const char *path, uint32_t page_bytes,
				    struct sp_errinfo *err);
void sp__simtrace_close(struct sp__simtrace *t); /* accepts NULL */
const uint64_t *sp__simtrace_pages(const struct sp__simtrace *t, size_t *n);

/* Allocates from a pool; NULL: no memory. */
void *sp__simpool_get(struct sp__simpool *p);
void sp__simpool_put(struct sp__simpool *p, void *object);
void sp__simpool_release(struct sp__simpool *p);

/* Makes a transfer of blocks; NULL: no memory. */
struct sp__xfer *sp__xfer_new(struct sp__machine *m, bool write, uint64_t lbn, uint64_t blocks);
SP_MUST_CHECK int sp__xfer_wait(struct sp__machine *m, struct sp__xfer *x, struct sp__simreq *req);
/* Adds a transfer to those submitted together.  Returns 0, or -ENOMEM after releasing it. */
SP_MUST_CHECK int sp__xfer_ready(struct sp__machine *m, struct sp__xfer *x);
/* Submits the ready transfers to the device. */
void sp__xfers_submit(struct sp__machine *m, uint64_t now_ns, bool indivisible);
/*
 * Makes transfers for the pages of a list, adjacent ones together, at most max pages each.  They
 * become ready, or are put into gate. req waits for each of them (NULL: none does); gate shut waits
 * for each (NULL: none).
 */
struct sp__xfer_use {
	bool write, background;
	uint16_t prio;
	struct sp__simreq *req;
	struct sp__gate *into, *shut;
};
SP_MUST_CHECK int sp__xfers_make(struct sp__machine *m, const struct sp__pcache_work *w,
				 uint32_t max, const struct sp__xfer_use *use);

/* Processes all events up to a moment, and starts background writing that is due then. */
void sp__machine_run(struct sp__machine *m, uint64_t until_ns);
/*
 * Processes events up to now, without decisions of this moment: these consider the requests
 * submitted now.
 */
void sp__machine_catch_up(struct sp__machine *m);
void sp__machine_background(struct sp__machine *m, uint64_t now_ns);
/* Completes a request that waits for no transfer; the program can reap it from done_ns on. */
void sp__machine_complete(struct sp__machine *m, struct sp__simreq *req, uint64_t done_ns);
