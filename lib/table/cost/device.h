/* SPDX-License-Identifier: MIT */
/*
 * The time of requests on the device of a table, without the table's bytes.
 *
 * The device is one of three:
 *
 *	with tracks	the head is followed over the tracks of a geometry (run/headpath.h)
 *	simulated	if it is to be measured or has no tracks: requests are submitted to the
 *			machine and move no bytes (run/dryrun.h); the time is the machine's
 *	other		latency, rate of short requests, rate of bytes (run/costs.h)
 *
 * Thread rule: one thread.
 */
#pragma once

#include "io/queue.h"
#include "run/dryrun.h"
#include "run/headpath.h"
#include "table/cost/platform.h"

#define SP__COST_DEPTH 64 /* maximum requests outstanding */

/* Work of requests that none has waited for: of devices that are neither of the other two. */
struct sp__cost_pending {
	double service_s; /* sum of what the device needs when it is busy */
	double latency_s; /* sum of what each takes alone */
	double longest_s; /* the longest of these */
};

struct sp__cost_device {
	/* Counters since opening; seeks: requests not at the end of the one before. */
	uint64_t requests, seeks, bytes;
	uint64_t end;	   /* of the last request */
	double compute_ns; /* charged */
	uint32_t block_bytes;
	unsigned depth;
	struct sp_errinfo *err;
	/* Simulated: */
	struct sp__env env;
	struct sp__volume *volume;
	struct sp__queue *queue;
	unsigned nfree;
	struct sp__request slots[SP__COST_DEPTH], *free[SP__COST_DEPTH];
	/* With tracks: */
	struct sp__headpath head;
	/* Other: */
	struct sp__device_costs costs;
	struct sp__cost_pending pending;
	double now_s;
};

/*
 * Opens the device of a platform for a file of so many bytes.  measure: on the machine of a
 * simulated one, even with tracks.  err: for all calls, may be NULL.  Returns 0, -ENOMEM, or an error of the volume;
 * then, too, it must be closed.
 */
SP_MUST_CHECK int sp__cost_device_open(struct sp__cost_device *d, const struct sp__cost_platform *p,
				       uint64_t bytes, bool measure, struct sp_errinfo *err);
void sp__cost_device_close(struct sp__cost_device *d);

/* Sets how many requests are outstanding at most, 1 to SP__COST_DEPTH. */
void sp__cost_device_depth(struct sp__cost_device *d, unsigned depth);
/* Issues a request; waits while `depth` are outstanding.  Returns 0 or an error of the machine. */
SP_MUST_CHECK int sp__cost_device_issue(struct sp__cost_device *d, bool write, uint64_t offset,
					uint64_t bytes);
/* Waits for all requests. */
SP_MUST_CHECK int sp__cost_device_wait(struct sp__cost_device *d);
/* Charges computation, in the machine's nanoseconds. */
void sp__cost_device_compute(struct sp__cost_device *d, double ns);
/* Returns the time since opening. */
double sp__cost_device_s(const struct sp__cost_device *d);
