/* SPDX-License-Identifier: MIT */
/*
 * The time of requests on a device, without their data.
 *
 * The device is one of three:
 *
 *	simulated	requests are submitted to the machine and move no bytes (dryrun.h); the
 *			time is the machine's
 *	with tracks	the heads of one or several drives are followed over the tracks of a
 *			geometry that is given (heads.h)
 *	other		latency, rate of short requests, rate of bytes (costs.h)
 *
 * Thread rule: one thread.
 */
#pragma once

#include "io/queue.h"
#include "predict/dryrun.h"
#include "predict/heads.h"
#include "predict/platform.h"

#define SP__TIMER_DEPTH 128 /* maximum requests outstanding */

/*
 * The last request to a drive whose window is full: it waits in front of the drive, and a request
 * that adjoins it is merged with it.
 */
struct sp__timer_waiting {
	bool write;
	unsigned tag;
	uint64_t first, end; /* blocks; equal: none */
};

#define SP__TIMER_WINDOWS 129 /* windows whose requests can be outstanding */

/* A request that is to be submitted with others. */
struct sp__timer_held {
	bool write;
	uint64_t offset, bytes;
};

struct sp__timer {
	const struct sp__platform *platform;
	/* Counters since opening; seeks: requests not at the end of the one before. */
	uint64_t requests, seeks, bytes;
	uint64_t end; /* end of the last request */
	uint32_t block_bytes;
	unsigned depth;
	unsigned window;		       /* index of the window of the next requests */
	unsigned of_window[SP__TIMER_WINDOWS]; /* outstanding requests in each window */
	unsigned together, nheld;
	struct sp__timer_held held[SP__TIMER_DEPTH];
	struct sp_errinfo *err;
	/* Simulated: */
	struct sp__env env;
	struct sp__volume *volume;
	struct sp__queue *queue;
	unsigned nfree;
	struct sp__request slots[SP__TIMER_DEPTH], *free[SP__TIMER_DEPTH];
	/* With tracks: */
	struct sp__heads heads;		   /* n: 0: without */
	struct sp__timer_waiting *waiting; /* waiting requests of each drive */
	uint64_t drive_blocks;
	double mean_ns; /* a mean positioning */
	/* Other: */
	double now_s, free_s;		  /* free_s: when the device can begin the next request */
	double done_s[SP__TIMER_WINDOWS]; /* when the last request of a window is complete */
};

struct sp__timer_opts {
	const struct sp__platform *platform;
	uint64_t bytes; /* bytes of the file, or those in use on each drive */
	/* Along tracks the file has all of the device: drives of so many blocks.  0: not. */
	unsigned drives;
	uint64_t drive_blocks;
	bool measure; /* on the machine of a simulated device, even if a geometry is given */
};

/*
 * Opens a timer.  err: for all calls, may be NULL.  Returns 0, -ENOMEM, or an error of the volume;
 * then, too, it must be closed.
 */
SP_MUST_CHECK int sp__timer_open(struct sp__timer *d, const struct sp__timer_opts *o,
				 struct sp_errinfo *err);
/* Gives it the state that it had when it was opened.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__timer_restart(struct sp__timer *d);
void sp__timer_close(struct sp__timer *d);

/*
 * Sets how many requests are outstanding at most, 1 to SP__TIMER_DEPTH.  Each is submitted singly,
 * until a window begins.
 */
void sp__timer_depth(struct sp__timer *d, unsigned depth);
/* Issues a request; waits while `depth` are outstanding.  Returns 0 or an error of the machine. */
SP_MUST_CHECK int sp__timer_issue(struct sp__timer *d, bool write, uint64_t offset, uint64_t bytes);
/* Submits the requests that have been issued. */
SP_MUST_CHECK int sp__timer_submit(struct sp__timer *d);
/*
 * The requests from now on belong to this window, below SP__TIMER_WINDOWS.  Up to `together` of
 * them, at most SP__TIMER_DEPTH, are submitted as a batch, so a drive knows all of these when
 * it chooses the first.  All requests before must have been submitted.
 */
void sp__timer_window(struct sp__timer *d, unsigned window, unsigned together);
/* True if all requests of a window are known to be complete. */
bool sp__timer_is_done(const struct sp__timer *d, unsigned window);
/* Waits for one request or more, while a window is not done. */
SP_MUST_CHECK int sp__timer_wait_some(struct sp__timer *d, unsigned window);
/* Waits for all requests. */
SP_MUST_CHECK int sp__timer_wait(struct sp__timer *d);
/* Charges computation, in the machine's nanoseconds. */
void sp__timer_compute(struct sp__timer *d, double ns);
/* Returns the time since opening. */
double sp__timer_s(const struct sp__timer *d);
