/* SPDX-License-Identifier: MIT */
/*
 * The time of requests on the device of a table, without the table's bytes.
 *
 * The device is one of three:
 *
 *	simulated	requests are submitted to the machine and move no bytes (run/dryrun.h);
 *			the time is the machine's
 *	with tracks	the head is followed over the tracks of a geometry that is given
 *			(run/headpath.h); of several drives each head by itself
 *	other		latency, rate of short requests, rate of bytes (run/costs.h)
 *
 * Thread rule: one thread.
 */
#pragma once

#include "cube/lanemap.h"
#include "io/queue.h"
#include "run/dryrun.h"
#include "run/headpath.h"
#include "table/cost/platform.h"
#include "table/read/window.h"

#define SP__COST_DEPTH 128 /* maximum requests outstanding */

/*
 * The last request to a drive whose window is full: it waits in front of the drive, and a request
 * that adjoins it is merged with it.
 */
struct sp__cost_waiting {
	bool write;
	unsigned tag;
	uint64_t first, end; /* blocks; equal: none */
};

struct sp__cost_head {
	struct sp__headpath path;
	struct sp__cost_waiting waiting;
};

#define SP__COST_WINDOWS 129 /* windows whose requests can be outstanding */

/* A request that is to be submitted with others. */
struct sp__cost_held {
	bool write;
	uint64_t offset, bytes;
};

struct sp__cost_device {
	const struct sp__cost_platform *platform;
	/* Counters since opening; seeks: requests not at the end of the one before. */
	uint64_t requests, seeks, bytes;
	uint64_t end; /* of the last request */
	uint32_t block_bytes;
	unsigned depth;
	unsigned window;		      /* of the next requests, */
	unsigned of_window[SP__COST_WINDOWS]; /* and outstanding requests of each */
	unsigned together, nheld;
	struct sp__cost_held held[SP__WINDOW_TOGETHER];
	struct sp_errinfo *err;
	/* Simulated: */
	struct sp__env env;
	struct sp__volume *volume;
	struct sp__queue *queue;
	unsigned nfree;
	struct sp__request slots[SP__COST_DEPTH], *free[SP__COST_DEPTH];
	/* With tracks: */
	struct sp__cost_head *heads; /* nheads, of drives of so many blocks */
	unsigned nheads, queued;     /* queued: requests at all heads */
	uint64_t drive_blocks;
	double host_ns, mean_ns; /* time of the host; a mean positioning */
	/* Other: */
	double now_s, free_s;		 /* free_s: when the device can begin the next request */
	double done_s[SP__COST_WINDOWS]; /* when the last request of a window is complete */
};

/*
 * Opens the device of a platform for a file of so many bytes; along tracks it has all of the
 * device, and so many bytes are on each drive.  lanemap: NULL: not along tracks.  measure: on the
 * machine of a simulated one, even if a geometry is given.  err: for all calls, may be NULL.
 * Returns 0, -ENOMEM, or an error of the volume; then, too, it must be closed.
 */
SP_MUST_CHECK int sp__cost_device_open(struct sp__cost_device *d, const struct sp__cost_platform *p,
				       const struct sp__lanemap *lanemap, uint64_t bytes,
				       bool measure, struct sp_errinfo *err);
/* Gives it the state that it had when it was opened.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__cost_device_restart(struct sp__cost_device *d);
void sp__cost_device_close(struct sp__cost_device *d);

/*
 * Sets how many requests are outstanding at most, 1 to SP__COST_DEPTH.  Each is submitted singly,
 * until a window begins.
 */
void sp__cost_device_depth(struct sp__cost_device *d, unsigned depth);
/* Issues a request; waits while `depth` are outstanding.  Returns 0 or an error of the machine. */
SP_MUST_CHECK int sp__cost_device_issue(struct sp__cost_device *d, bool write, uint64_t offset,
					uint64_t bytes);
/* Submits the requests that have been issued. */
SP_MUST_CHECK int sp__cost_device_submit(struct sp__cost_device *d);
/*
 * The requests from now on belong to this window, below SP__COST_WINDOWS.  Up to `together` of
 * them, at most SP__WINDOW_TOGETHER, are submitted as a batch, so a drive knows all of these when
 * it chooses the first.  All requests before must have been submitted.
 */
void sp__cost_device_window(struct sp__cost_device *d, unsigned window, unsigned together);
/* True if all requests of a window are known to be complete. */
bool sp__cost_device_is_done(const struct sp__cost_device *d, unsigned window);
/* Waits for one request or more, while a window is not done. */
SP_MUST_CHECK int sp__cost_device_wait_some(struct sp__cost_device *d, unsigned window);
/* Waits for all requests. */
SP_MUST_CHECK int sp__cost_device_wait(struct sp__cost_device *d);
/* Charges computation, in the machine's nanoseconds. */
void sp__cost_device_compute(struct sp__cost_device *d, double ns);
/* Returns the time since opening. */
double sp__cost_device_s(const struct sp__cost_device *d);
