/* SPDX-License-Identifier: MIT */
/*
 * Inside the simulated block device: what the queues in front of the device
 * (blockdev.c) and its lanes (blockdev_lane.c) share.
 *
 *   overhead -> [waiting for a slot ->] scheduler -> window -> lanes -> done
 *
 * Pieces come from a pool that is as large as will be needed when it is
 * opened.  If a device splits finer than was thought, requests of the window
 * are split as pieces come back; so nothing that happens later can fail.
 */
#ifndef SP__SIM_BLOCKDEV_IMPL_H
#define SP__SIM_BLOCKDEV_IMPL_H

#include "dev/device.h"
#include "sim/sched.h"

struct sp__lanepiece {
	struct sp__piece piece;
	struct sp__blockreq *req;
	TAILQ_ENTRY(sp__lanepiece) link;       /* of its lane, or of the free ones */
	struct sp__lanepiece *beside, *before; /* on the bucket */
};

TAILQ_HEAD(sp__lanepieces, sp__lanepiece);

/* The pieces of a lane by their blocks. */
#define SP__BLOCK_BUCKETS 512

struct sp__bucketset {
	unsigned shift; /* bucket i has pieces that begin in blocks i << shift and on */
	struct sp__bucket bucket[SP__BLOCK_BUCKETS];
	struct sp__lanepiece *first[SP__BLOCK_BUCKETS];
};

struct sp__lane {
	struct sp__lanepieces pieces; /* in the order of dispatch */
	unsigned n;
	struct sp__bucketset *buckets; /* NULL: none */
	struct sp__lanepiece *active;
	struct sp__service service; /* of the active one */
	uint64_t end;		    /* of what was served last */
	bool awake;		    /* in the list of those that may start something */
};

struct sp__reqlist {
	struct sp__blockreq *head, *tail;
};

struct sp__slots {
	unsigned limit, held;
	struct sp__reqlist waiting;
};

/* What is in front of the device; of an array: of one drive or mirrored pair. */
struct sp__bdqueue {
	struct sp__sched sched;
	struct sp__slots slots[SP__SCHED_FIFOS_MAX];
	unsigned held;			   /* in all slots */
	struct sp__blockreq *rest;	   /* of the batch that is being dispatched */
	struct sp__blockreq *batch, *tail; /* of the batch that is being made */
	unsigned inside;		   /* the window: dispatched and not done */
};

struct sp__depthcount {
	unsigned n;
	uint64_t since_ns;
	uint64_t ns[SP__DEPTH_MAX + 1];
};

struct sp__blockdev {
	struct sp__device dev;
	struct sp__bdqueue *queues; /* as many as the model's */
	unsigned window;	    /* of each queue */
	unsigned held;		    /* pieces that one lane chooses from; the others wait */
	enum sp__window_policy policy;
	uint64_t age_ns; /* after which the oldest piece of a lane goes first */
	bool merge, divide;

	uint64_t now_ns;
	bool pending; /* something may be decided at now_ns */
	uint64_t seq;

	struct sp__reqlist overhead[2]; /* by length of the overhead: in order of ready_ns */
	struct sp__reqlist splitting;	/* of those inside, not wholly with lanes yet */
	struct sp__reqlist done;

	unsigned nlanes, nawake, nbusy;
	struct sp__lane *lanes;
	unsigned *awake;
	uint64_t lanes_next_ns; /* the earliest end of service; SP__NEVER: none */
	uint64_t busy_since_ns;
	struct sp__lanepiece *pool, *fresh; /* fresh: from here on never used */
	struct sp__lanepieces free;
	unsigned nfree;

	struct sp__blockdev_stats stats;
	struct sp__depthcount depths[SP__DEPTHS];
};

void sp__reqlist_push(struct sp__reqlist *l, struct sp__blockreq *r);
struct sp__blockreq *sp__reqlist_pop(struct sp__reqlist *l);

/* One more or less in one place, from now_ns on. */
void sp__blockdev_count(struct sp__blockdev *bd, enum sp__depth which, int change);
/* The overhead of r is over: it is merged, admitted, or waits for a slot. */
void sp__blockdev_arrive(struct sp__blockdev *bd, struct sp__blockreq *r);
void sp__blockdev_dispatch(struct sp__blockdev *bd, struct sp__blockreq *r);
/* Puts r and what was merged with it on the list of what is done. */
void sp__blockdev_complete(struct sp__blockdev *bd, struct sp__blockreq *r);

SP_MUST_CHECK int sp__lanes_open(struct sp__blockdev *bd); /* 0 or -ENOMEM */
void sp__lanes_close(struct sp__blockdev *bd);
/* blockdev_bucket.c: pieces come, and go; of a lane with buckets. */
void sp__bucketset_put(struct sp__bucketset *s, struct sp__lanepiece *p);
void sp__bucketset_take(struct sp__bucketset *s, struct sp__lanepiece *p);
SP_MUST_CHECK struct sp__bucketset *sp__bucketset_new(uint64_t blocks); /* NULL: no memory */
/* The piece with the shortest positioning time, the one submitted first of several. */
struct sp__lanepiece *sp__bucketset_nearest(struct sp__blockdev *bd, struct sp__lane *lane);
/* The best of the pieces looked at. */
struct sp__nearest {
	struct sp__lanepiece *piece; /* NULL: none yet */
	uint64_t ns;
};
/* One more. */
void sp__lane_look(struct sp__blockdev *bd, struct sp__lanepiece *p, struct sp__nearest *best);
/* Is there anything that lanes could start now? */
bool sp__lanes_ready(const struct sp__blockdev *bd);
/* Lanes that are idle choose and start; at now_ns. */
void sp__lanes_start(struct sp__blockdev *bd);
/* Services that end at now_ns; returns the requests that are done with them. */
struct sp__blockreq *sp__lanes_finish(struct sp__blockdev *bd);

#endif
