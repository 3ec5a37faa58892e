/* SPDX-License-Identifier: MIT */
/*
 * Schedules the requests of the simulated block device.
 *
 * All schedulers keep waiting requests in FIFO queues (by age), and most also in trees (by block).
 * A scheduler decides in which queue and tree a request is kept, and picks.  Adding, taking and
 * merging is common to all.
 *
 *	noop           first in, first out
 *	look           sweeps up and down between the outermost requests
 *	clook          sweeps up, then starts again at the lowest
 *	sstf           nearest to the end of the last request, by LBN
 *	deadline       Linux 2.6: block order in batches, reads before writes,
 *	               unless the oldest of the direction has expired
 *	deadline-prio  Hall & Bonnet 2005, 4.1: a deadline for each priority
 *	               level, and a group of requests for each or a pool for all
 *	promote        Hall & Bonnet 2005, 5: a queue for each priority level;
 *	               waiting requests move up when one has become empty
 *	strict         mq-deadline: classes RT, BE, IDLE, one after the other,
 *	               each like deadline
 *
 * The caller has the clock: a scheduler picks at the moment of the decision and knows only the
 * requests that can be chosen then.  It does not allocate after opening; links are in the requests.
 */
#pragma once

#include "sim/blockdev.h"

#define SP__SCHED_TREES_MAX 6
#define SP__SCHED_FIFOS_MAX 8

enum sp__prioclass { SP__PRIO_NONE, SP__PRIO_RT, SP__PRIO_BE, SP__PRIO_IDLE };

/* Returns the class of a priority; without one it is BE, as in Linux. */
enum sp__prioclass sp__prio_class(uint16_t prio);

struct sp__fifo {
	TAILQ_HEAD(, sp__blockreq) requests;
	unsigned n;
};

struct sp__sched {
	const struct sp__sched_ops *ops;
	struct sp__sched_params params; /* complete */
	bool sorted;			/* the trees are kept */
	uint32_t merge_blocks_max;
	struct sp__blockreq *trees[SP__SCHED_TREES_MAX];
	struct sp__fifo fifos[SP__SCHED_FIFOS_MAX];
	unsigned n;			    /* waiting requests */
	unsigned inside[SP__PRIO_IDLE + 1]; /* by class: dispatched and not done */
	uint64_t at, head;		    /* start and end of the last request dispatched */
	bool down;			    /* look: the direction of the sweep */
	/* For schedulers with deadlines: the open batch, and positions in the trees. */
	unsigned dir, batched, starved;
	uint64_t pos[SP__SCHED_TREES_MAX];
	unsigned promoted; /* number of times that all waiting requests have moved up by one FIFO */
};

struct sp__sched_ops {
	const char *name;
	const char *params; /* names of its parameters, for messages; "": none */
	bool sorted;	    /* needs the trees even without merging */
	struct sp__sched_params defaults;
	/* Optional: completes parameters and state. */
	void (*init)(struct sp__sched *s);
	/* Return the tree and the FIFO of a request; NULL: 0 for all. */
	unsigned (*tree)(const struct sp__sched *s, const struct sp__blockreq *r);
	unsigned (*fifo)(const struct sp__sched *s, const struct sp__blockreq *r);
	/* Optional: returns the time from arrival to expiry. */
	uint64_t (*expire)(const struct sp__sched *s, const struct sp__blockreq *r);
	/*
	 * Returns the request to dispatch now, still in its queue; n > 0.  NULL: none before
	 * another one is done.
	 */
	struct sp__blockreq *(*pick)(struct sp__sched *s, uint64_t now_ns);
	/*
	 * Optional: returns the maximum of admitted requests for the level of a FIFO: of all levels
	 * with params.npool, else of its own.
	 */
	unsigned (*limit)(const struct sp__sched *s, unsigned fifo);
};

/*
 * Sets up s from a text: NAME[:KEY=VALUE...].  Parameters are separated by "/" or ",", and so are
 * the further values of a list (levels=0.25/3/12).  Times are in seconds or have a unit (s, ms, us,
 * ns).
 *
 *	deadline       read=1s write=5s batch=16 starved=2
 *	deadline-prio  levels=0.25/1/3/9/12 group=(256 / levels) batch starved
 *	               pool=(one for each level; the last for those below) aging=10s
 *	promote        queues=5 open=0
 *	strict         read=500ms write=5s aging=10s batch starved
 *
 * Returns 0, or SP_ESYNTAX with the valid form in err.
 */
SP_MUST_CHECK int sp__sched_open(struct sp__sched *s, const char *text, struct sp_errinfo *err);
SP_MUST_CHECK int sp__sched_parse(const char *text, const struct sp__sched_ops **ops,
				  struct sp__sched_params *params, struct sp_errinfo *err);
/* Returns the i-th scheduler; NULL after the last. */
const struct sp__sched_ops *sp__sched_list(unsigned i);

void sp__sched_add(struct sp__sched *s, struct sp__blockreq *r, uint64_t now_ns);
/*
 * Merges r with an adjacent waiting request.  Returns the merged one, or NULL if none fits.  If r
 * closes the gap between two, *absorbed is the one merged into the other, else NULL.
 */
struct sp__blockreq *sp__sched_merge(struct sp__sched *s, struct sp__blockreq *r,
				     struct sp__blockreq **absorbed);
/* Removes and returns the request to dispatch; NULL: none now. */
struct sp__blockreq *sp__sched_next(struct sp__sched *s, uint64_t now_ns);
/*
 * Report that a request was dispatched (the head is there now), and that a dispatched one is done.
 */
void sp__sched_dispatched(struct sp__sched *s, const struct sp__blockreq *r);
void sp__sched_done(struct sp__sched *s, const struct sp__blockreq *r);

/* For tree and fifo: returns 0 for reads, 1 for writes. */
unsigned sp__sched_by_direction(const struct sp__sched *s, const struct sp__blockreq *r);
unsigned sp__sched_fifo(const struct sp__sched *s, const struct sp__blockreq *r);
/* Returns the FIFO of this number; promotions shift the numbers. */
struct sp__fifo *sp__sched_queue(struct sp__sched *s, unsigned number);
/*
 * Returns the level of a priority: RT is the highest, IDLE the lowest, levels of BE count from the
 * highest; without a priority it is the middle.
 */
unsigned sp__sched_level(const struct sp__sched *s, const struct sp__blockreq *r);
/* True if a and b can be one request, apart from their blocks. */
bool sp__sched_alike(const struct sp__sched *s, const struct sp__blockreq *a,
		     const struct sp__blockreq *b);
/* Merges b, which is adjacent to a, into a. */
void sp__blockreq_join(struct sp__blockreq *a, struct sp__blockreq *b);

/* Trees by (start, seq); treaps, so they need no balancing state. */
void sp__reqtree_insert(struct sp__blockreq **root, struct sp__blockreq *r);
void sp__reqtree_erase(struct sp__blockreq **root, struct sp__blockreq *r);
/*
 * Return the first request that starts at lbn or above; the last one that starts below; NULL: none.
 */
struct sp__blockreq *sp__reqtree_ceil(struct sp__blockreq *root, uint64_t lbn);
struct sp__blockreq *sp__reqtree_below(struct sp__blockreq *root, uint64_t lbn);

extern const struct sp__sched_ops sp__sched_noop, sp__sched_look, sp__sched_clook, sp__sched_sstf,
	sp__sched_deadline, sp__sched_deadline_prio, sp__sched_promote, sp__sched_strict;
