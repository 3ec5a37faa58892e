/* SPDX-License-Identifier: MIT */
/*
 * Declares the state that the queues in front of the device (blockdev.c) and its lanes
 * (blockdev_lane.c) share.
 *
 *	overhead -> [waiting for a slot ->] scheduler -> window -> lanes -> done
 *
 * Memory: the pool of subrequests is allocated at its full size when the device is opened.  If a
 * device splits requests more finely than assumed, requests of the window are split as subrequests
 * are released.  So no later step can fail.
 */
#pragma once

#include "dev/device.h"
#include "sim/sched.h"

struct sp__lane_subreq {
	struct sp__subreq subreq;
	struct sp__blockreq *req;
	TAILQ_ENTRY(sp__lane_subreq) link;	 /* in its lane, or in the free list */
	struct sp__lane_subreq *beside, *before; /* in the bucket */
};

TAILQ_HEAD(sp__lane_subreqs, sp__lane_subreq);

struct sp__lane {
	struct sp__lane_subreqs subreqs; /* in the order of dispatch */
	unsigned n;
	struct sp__bucketset *buckets; /* the subrequests by their blocks; NULL: no buckets */
	struct sp__lane_subreq *active;
	struct sp__service service; /* service of the subrequest being served */
	uint64_t end;		    /* end of the last request served */
	bool awake;		    /* in the list of lanes that can start a service */
};

struct sp__reqlist {
	struct sp__blockreq *head, *tail;
};

struct sp__slots {
	unsigned limit, held;
	struct sp__reqlist waiting;
};

/* State in front of the device; for an array: of one drive or mirrored pair. */
struct sp__bdqueue {
	struct sp__sched sched;
	struct sp__slots slots[SP__SCHED_FIFOS_MAX];
	unsigned held;			   /* requests admitted, over all slots */
	struct sp__blockreq *rest;	   /* rest of the batch that is being dispatched */
	struct sp__blockreq *batch, *tail; /* the batch that is being built */
	unsigned inside;		   /* requests in the window: dispatched and not done */
};

struct sp__depthcount {
	unsigned n;
	uint64_t since_ns;
	uint64_t ns[SP__DEPTH_MAX + 1];
};

struct sp__blockdev {
	struct sp__device dev;
	struct sp__bdqueue *queues; /* queues, as many as the model has */
	unsigned window;	    /* requests in the window of each queue */
	unsigned held;		    /* subrequests that one lane chooses from; others wait */
	enum sp__window_policy policy;
	uint64_t age_ns; /* the oldest subrequest of a lane goes first after this time */
	bool merge, divide;

	uint64_t now_ns;
	bool pending; /* a decision is possible at now_ns */
	uint64_t seq;

	struct sp__reqlist overhead[2]; /* by length of the overhead; in order of ready_ns */
	struct sp__reqlist splitting; /* requests in the window that lanes do not have completely */
	struct sp__reqlist done;

	unsigned nlanes, nawake, nbusy;
	struct sp__lane *lanes;
	unsigned *awake;
	uint64_t lanes_next_ns; /* earliest end of service; SP__NEVER: none */
	uint64_t busy_since_ns;
	struct sp__lane_subreq *pool, *fresh; /* fresh: the first subrequest that was never used */
	struct sp__lane_subreqs free;
	unsigned nfree;

	struct sp__blockdev_stats stats;
	struct sp__depthcount depths[SP__DEPTHS];
};

void sp__reqlist_push(struct sp__reqlist *l, struct sp__blockreq *r);
struct sp__blockreq *sp__reqlist_pop(struct sp__reqlist *l);

SP_MUST_CHECK int sp__lanes_open(struct sp__blockdev *bd); /* 0 or -ENOMEM */
void sp__lanes_close(struct sp__blockdev *bd);
/* True if a lane could start a service now. */
bool sp__lanes_ready(const struct sp__blockdev *bd);
/* Lets idle lanes choose and start a subrequest at now_ns. */
void sp__lanes_start(struct sp__blockdev *bd);
/* Ends the services that end at now_ns; returns the requests that are then complete. */
struct sp__blockreq *sp__lanes_finish(struct sp__blockdev *bd);
