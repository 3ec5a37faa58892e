/* SPDX-License-Identifier: MIT */
/*
 * A simulated block device: I/O scheduler, the device's window, the device.
 *
 * Requests wait in the scheduler, which may merge adjacent ones and decides
 * what is dispatched when the device's window has room; inside the window the
 * device chooses (first in first out, or shortest positioning time first).
 * Everything is event driven: nothing is decided for a moment that the caller
 * has not let come, so a request submitted later can still be chosen first.
 *
 * One thread.  Request structs are the caller's from reaping to submission.
 */
#ifndef SP__SIM_BLOCKDEV_H
#define SP__SIM_BLOCKDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dev/device.h"

#define SP__NEVER UINT64_MAX

struct sp__blockreq {
	uint64_t lbn; /* in blocks of the model */
	uint32_t blocks;
	bool write;
	uint16_t prio; /* Linux I/O priority (class << 13 | level); 0: none */
	uint16_t group; /* who: allocation groups of schedulers count by it */
	void *owner;	/* the caller's */
	/* Filled in: */
	uint64_t submit_ns, dispatch_ns, done_ns;
	bool hit;		   /* by the device's cache */
	struct sp__blockreq *next; /* of whoever owns it at the time */
	struct sp__blockreq *merged; /* inside: those that go with it */
	uint64_t batch;		   /* inside: its indivisible batch, 0: none */
	uint32_t pieces;	   /* inside: still to be served */
};

struct sp__blockdev_opts {
	const char *sched; /* NULL: "noop"; see sp__sched_names() */
	unsigned window;   /* 0: the model's */
	int policy;	   /* enum sp__window_policy; -1: the model's */
	bool merge;	   /* merge adjacent requests */
	uint32_t merge_blocks_max; /* of one merged request; 0: 1024 KB worth */
	/* Deadlines of the schedulers that have them; 0: their own (see sched.h). */
	uint64_t read_expire_ns, write_expire_ns;
	unsigned requests_max; /* that the scheduler holds (nr_requests); 0: no limit */
};

struct sp__blockdev_stats {
	uint64_t requests;   /* as submitted */
	uint64_t dispatched; /* as the device got them */
	uint64_t merges;
	uint64_t seeks; /* dispatched requests that did not start where the one before ended */
	uint64_t hits;
	uint64_t read_blocks, write_blocks;
	uint64_t busy_ns; /* time during which something was in service */
	uint64_t seek_ns, rotate_ns, transfer_ns;
	uint64_t longest_wait_ns; /* submission to completion */
};

struct sp__blockdev;

/* SP_ESYNTAX: unknown scheduler (known ones in err). */
SP_MUST_CHECK int sp__blockdev_open(struct sp__blockdev **bd, const struct sp__model *m,
				    const struct sp__blockdev_opts *opts, struct sp_errinfo *err);
void sp__blockdev_close(struct sp__blockdev *bd); /* accepts NULL */

/*
 * Submits at time now_ns (never less than in any call before).  indivisible:
 * nothing of others is dispatched between the parts of this batch.
 */
void sp__blockdev_submit(struct sp__blockdev *bd, uint64_t now_ns, struct sp__blockreq **reqs,
			 size_t n, bool indivisible);
/* The moment of the next thing that happens inside; SP__NEVER if nothing will. */
uint64_t sp__blockdev_next_ns(const struct sp__blockdev *bd);
/* Lets time come to until_ns; completed requests are linked, in order of done_ns, and returned. */
struct sp__blockreq *sp__blockdev_advance(struct sp__blockdev *bd, uint64_t until_ns);
unsigned sp__blockdev_outstanding(const struct sp__blockdev *bd);
void sp__blockdev_stats(const struct sp__blockdev *bd, struct sp__blockdev_stats *s);

#endif
