/* SPDX-License-Identifier: MIT */
/*
 * Simulates a block device: I/O scheduler, the device's window, the device.
 *
 * A request first passes the device's command overhead, where the number of requests is not
 * limited.  Then it waits in the scheduler, which can merge adjacent requests, and dispatches one
 * when the device's window has a free slot.  Inside the window, each lane of the device chooses the
 * subrequest that it serves next (first in first out, or shortest positioning time first).  Service
 * starts at the later of submission plus overhead and the end of the lane's previous service.  A
 * request in its overhead cannot be chosen.
 *
 * The simulation is event driven: nothing is decided for a moment later than the caller has
 * allowed.  Completions of a moment are returned before a decision of that moment, so a request
 * submitted then can still be chosen.
 *
 * An array has one queue per drive or mirrored pair, each with its own scheduler and window, so
 * that a busy drive does not keep requests from idle ones.  A request waits in the queue of its
 * first block, also if it continues on other drives.
 *
 * Thread rule: one thread.  Request structs belong to the caller from reaping to submission.  Times
 * are virtual nanoseconds, addresses are blocks of the model.
 */
#pragma once

#include <sys/queue.h>
#include <spindle/error.h>
#include "sim/fwd.h"

#define SP__NEVER UINT64_MAX

struct sp__blockreq {
	uint64_t lbn; /* in blocks of the model */
	uint32_t blocks;
	bool write;
	uint16_t prio; /* Linux I/O priority (class << 13 | level); 0: none */
	void *owner;   /* the caller's */
	/* Filled in by the device: */
	uint64_t submit_ns, dispatch_ns, done_ns;
	bool hit;		   /* by the device's cache */
	struct sp__blockreq *next; /* for the current owner */

	/* Internal, from submission to reaping: */
	bool missed;			   /* a subrequest was not in the device's cache */
	uint8_t slot;			   /* request slots that count it */
	uint8_t fifo;			   /* FIFO of the scheduler in which it waits */
	uint16_t queue;			   /* queue of the device in which it waits */
	uint32_t subreqs;		   /* subrequests given to lanes and not served yet */
	uint64_t seq;			   /* order of submission */
	uint64_t ready_ns;		   /* end of its overhead */
	uint64_t added_ns;		   /* entered the scheduler */
	uint64_t expire_ns;		   /* its deadline there */
	uint64_t start, end;		   /* blocks that are dispatched, merged ones included */
	uint64_t split;			   /* first of them that no lane has yet */
	struct sp__blockreq *merged;	   /* requests merged into it ... */
	struct sp__blockreq *last;	   /* ... and the last of them */
	struct sp__blockreq *part;	   /* next one of its indivisible batch */
	bool batch;			   /* belongs to an indivisible batch */
	TAILQ_ENTRY(sp__blockreq) link;	   /* in a queue of the scheduler */
	struct sp__blockreq *left, *right; /* in a tree of the scheduler */
	uint64_t rank;
};

#define SP__SCHED_LEVELS_MAX 8

/* Parameters of schedulers (see sched.h). */
struct sp__sched_params {
	uint64_t read_expire_ns, write_expire_ns;
	uint64_t aging_ns;	 /* a request of a lower class or level goes first after it */
	unsigned batch;		 /* requests in block order between checks of deadlines */
	unsigned writes_starved; /* times that reads precede waiting writes */
	unsigned levels;
	uint64_t level_expire_ns[SP__SCHED_LEVELS_MAX];
	unsigned group; /* request slots of one level */
	/*
	 * Alternatively, one pool for all levels: the limit of each level; npool 0: levels have
	 * groups.
	 */
	unsigned npool;
	uint64_t pool[SP__SCHED_LEVELS_MAX];
	bool open; /* arriving requests join the queue that is being served */
};

struct sp__blockdev_opts {
	const char *sched; /* NAME[:PARAMETERS], see sp__sched_parse(); NULL: "noop" */
	unsigned window;   /* requests in the window of each drive; 0: the model's */
	int policy;	   /* enum sp__window_policy; -1: the model's */
	uint64_t age_ns;   /* a request this long in the window goes first; 0: the model's */
	bool merge;	   /* merge adjacent requests */
	uint32_t merge_blocks_max; /* maximum blocks of one merged request; 0: 1024 KiB */
	bool divide;		   /* treat indivisible batches as single requests */
	/*
	 * Maximum of requests admitted to a scheduler and not completed (nr_requests); 0: no limit.
	 */
	unsigned requests_max;
};

struct sp__blockdev_stats {
	uint64_t requests;   /* submitted */
	uint64_t dispatched; /* dispatched to the device */
	uint64_t dispatched_reads;
	uint64_t merges;
	/*
	 * Dispatched requests that did not start at the end of the previous one, in the order of
	 * service; for several lanes, by lane.  The first request counts.
	 */
	uint64_t seeks;
	uint64_t hits; /* dispatched requests served from the cache */
	uint64_t read_blocks, write_blocks;
	uint64_t busy_ns; /* time with a request in service */
	uint64_t seek_ns, rotate_ns, transfer_ns;
};

/* Stages where requests are counted. */
enum sp__depth {
	SP__DEPTH_DEVICE, /* dispatched, inside the device's window */
	SP__DEPTH_QUEUED, /* submitted and not dispatched */
	SP__DEPTH_TOTAL,  /* submitted and not completed */
	SP__DEPTHS
};

struct sp__blockdev;
struct sp__model;

/*
 * Opens a device.  Returns 0; SP_ESYNTAX: unknown scheduler or parameter (known ones in err); or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__blockdev_open(struct sp__blockdev **bd, const struct sp__model *m,
				    const struct sp__blockdev_opts *opts, struct sp_errinfo *err);
/* bd may be NULL.  Outstanding requests are forgotten; their structs belong to the caller. */
void sp__blockdev_close(struct sp__blockdev *bd);

/*
 * Submits at time now_ns, which never decreases from call to call. indivisible: the parts of this
 * batch are dispatched in their order, without another request between them.  A request has at
 * least one block.
 */
void sp__blockdev_submit(struct sp__blockdev *bd, uint64_t now_ns, struct sp__blockreq **reqs,
			 size_t n, bool indivisible);
/*
 * Submits a fragment that the host cut off a request.  Another fragment of it was submitted at
 * since_ns: the new one shares its overhead.
 */
void sp__blockdev_submit_continuation(struct sp__blockdev *bd, uint64_t now_ns, uint64_t since_ns,
				      struct sp__blockreq *r);
/* Returns the time of the next internal event or decision; SP__NEVER: none. */
uint64_t sp__blockdev_next_ns(const struct sp__blockdev *bd);
/* Advances time to until_ns; returns completed requests, linked in order of done_ns. */
struct sp__blockreq *sp__blockdev_advance(struct sp__blockdev *bd, uint64_t until_ns);
/*
 * Returns when all completed requests are on the medium, and not only in the device's write buffer,
 * if no other request comes.  A flush waits until then.
 */
uint64_t sp__blockdev_flushed_ns(struct sp__blockdev *bd);
void sp__blockdev_stats(const struct sp__blockdev *bd, struct sp__blockdev_stats *s);
/* Reports in ns[i] the time with i requests, up to the present moment. */
void sp__blockdev_depths(const struct sp__blockdev *bd, enum sp__depth which,
			 uint64_t ns[SP__DEPTH_MAX + 1]);
