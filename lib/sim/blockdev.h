/* SPDX-License-Identifier: MIT */
/*
 * A simulated block device: I/O scheduler, the device's window, the device.
 *
 * A request first passes the device's command overhead, in which any number of
 * requests can be at the same time.  Then it waits in the scheduler, which may
 * merge adjacent requests and decides what is dispatched when the device's
 * window has room; inside the window each lane of the device chooses the
 * piece it serves next (first in first out, or shortest positioning time first).
 * Service starts at the later of submission plus overhead and the end of the
 * lane's previous service; a request still in its overhead cannot be chosen.
 *
 * Everything is event driven: nothing is decided for a moment later than the
 * caller has allowed.  Completions of a moment are handed out before anything
 * is decided for that moment, so a request submitted then can still be chosen.
 *
 * An array has a queue for each of its drives, or each mirrored pair: a scheduler
 * and a window of its own, so that a busy drive does not keep requests from idle
 * ones.  A request waits in the queue of its first block, also if others follow.
 *
 * One thread.  Request structs are the caller's from reaping to submission.
 * Times are virtual nanoseconds, places are blocks of the model.
 */
#ifndef SP__SIM_BLOCKDEV_H
#define SP__SIM_BLOCKDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include "sim/fwd.h"

#define SP__NEVER UINT64_MAX

struct sp__blockreq {
	uint64_t lbn; /* in blocks of the model */
	uint32_t blocks;
	bool write;
	uint16_t prio; /* Linux I/O priority (class << 13 | level); 0: none */
	void *owner;   /* the caller's */
	/* Filled in: */
	uint64_t submit_ns, dispatch_ns, done_ns;
	bool hit;		   /* by the device's cache */
	struct sp__blockreq *next; /* for the current owner */

	/* Inside, from submission to reaping: */
	bool missed;			   /* a piece was not in the device's cache */
	uint8_t slot;			   /* in whose allocation it counts */
	uint8_t fifo;			   /* of the scheduler, in which it waits */
	uint16_t queue;			   /* of the device, in which it waits */
	uint32_t pieces;		   /* given to lanes and not served yet */
	uint64_t seq;			   /* order of submission */
	uint64_t ready_ns;		   /* its overhead ends */
	uint64_t added_ns;		   /* it came into the scheduler */
	uint64_t expire_ns;		   /* its deadline there */
	uint64_t start, end;		   /* blocks that are dispatched: with what was merged */
	uint64_t split;			   /* the first of them not yet with a lane */
	struct sp__blockreq *merged;	   /* those that go with it ... */
	struct sp__blockreq *last;	   /* ... and the last of them */
	struct sp__blockreq *part;	   /* the next of its indivisible batch */
	bool batch;			   /* is part of one */
	TAILQ_ENTRY(sp__blockreq) link;	   /* in a queue of the scheduler */
	struct sp__blockreq *left, *right; /* in a tree of the scheduler */
	uint64_t rank;
};

#define SP__SCHED_LEVELS_MAX 8

/* Parameters of schedulers (see sched.h). */
struct sp__sched_params {
	uint64_t read_expire_ns, write_expire_ns;
	uint64_t aging_ns;	 /* a lower class, or level, that has waited this long goes first */
	unsigned batch;		 /* requests in sector order before deadlines are looked at */
	unsigned writes_starved; /* times that reads go before writes that wait */
	unsigned levels;
	uint64_t level_expire_ns[SP__SCHED_LEVELS_MAX];
	unsigned group; /* requests that one level can have */
	/* Or all levels together have one pool: where each stops; npool 0: they have groups. */
	unsigned npool, pool[SP__SCHED_LEVELS_MAX];
	bool open; /* what arrives joins the queue that is being served */
};

struct sp__blockdev_opts {
	const char *sched;	   /* NAME[:PARAMETERS], see sp__sched_parse(); NULL: "noop" */
	unsigned window;	   /* of each drive; 0: the model's */
	int policy;		   /* enum sp__window_policy; -1: the model's */
	uint64_t age_ns;	   /* in the window, after which one goes first; 0: the model's */
	bool merge;		   /* merge adjacent requests */
	uint32_t merge_blocks_max; /* of one merged request; 0: 1024 KB worth */
	bool divide;		   /* take indivisible batches as single requests */
	/* Admitted to a scheduler and not completed (nr_requests); 0: no limit. */
	unsigned requests_max;
};

struct sp__blockdev_stats {
	uint64_t requests;   /* as submitted */
	uint64_t dispatched; /* as the device got them */
	uint64_t dispatched_reads;
	uint64_t merges;
	/*
	 * Dispatched requests that did not start where the one before ended, in
	 * the order of service; for several lanes, by lane.  The first counts.
	 */
	uint64_t seeks;
	uint64_t hits; /* of the dispatched */
	uint64_t read_blocks, write_blocks;
	uint64_t busy_ns; /* time during which something was in service */
	uint64_t seek_ns, rotate_ns, transfer_ns;
};

/* Where requests can be counted. */
enum sp__depth {
	SP__DEPTH_DEVICE, /* dispatched ones inside the device's window */
	SP__DEPTH_QUEUED, /* submitted and not dispatched */
	SP__DEPTH_TOTAL,  /* submitted and not completed */
	SP__DEPTHS
};

struct sp__blockdev;
struct sp__model;

/* SP_ESYNTAX: unknown scheduler or parameter (known ones in err); -ENOMEM. */
SP_MUST_CHECK int sp__blockdev_open(struct sp__blockdev **bd, const struct sp__model *m,
				    const struct sp__blockdev_opts *opts, struct sp_errinfo *err);
/* Accepts NULL.  What is outstanding is forgotten; the structs stay the caller's. */
void sp__blockdev_close(struct sp__blockdev *bd);

/*
 * Submits at time now_ns (never less than in any call before).  indivisible:
 * nothing of others is dispatched between the parts of this batch, which are
 * dispatched in their order here.  Requests have at least one block.
 */
void sp__blockdev_submit(struct sp__blockdev *bd, uint64_t now_ns, struct sp__blockreq **reqs,
			 size_t n, bool indivisible);
/*
 * The same for a piece that the host cut off a request, of which another piece
 * was submitted at since_ns: it shares that one's overhead.
 */
void sp__blockdev_submit_piece(struct sp__blockdev *bd, uint64_t now_ns, uint64_t since_ns,
			       struct sp__blockreq *r);
/* Time of the next internal event or decision; SP__NEVER: none. */
uint64_t sp__blockdev_next_ns(const struct sp__blockdev *bd);
/* Advances time to until_ns; returns completed requests, linked in order of done_ns. */
struct sp__blockreq *sp__blockdev_advance(struct sp__blockdev *bd, uint64_t until_ns);
/*
 * When all that is completed is on the medium, and not only in the device's
 * write buffer, if nothing else comes: what a flush waits for.
 */
uint64_t sp__blockdev_flushed_ns(struct sp__blockdev *bd);
void sp__blockdev_stats(const struct sp__blockdev *bd, struct sp__blockdev_stats *s);
/* ns[i]: how long there were i requests, up to the time that has come. */
void sp__blockdev_depths(const struct sp__blockdev *bd, enum sp__depth which,
			 uint64_t ns[SP__DEPTH_MAX + 1]);

#endif
