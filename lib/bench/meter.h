/* SPDX-License-Identifier: MIT */
/*
 * What is counted.  Only meter.c writes what is here, under the lock of the bench if there are
 * threads; bench_result.c reads it when all loads have ended.  Times are in ns of the port's clock.
 */
#ifndef SP__BENCH_METER_H
#define SP__BENCH_METER_H

#include "bench/walk.h"
#include "obs/hist.h"

#define SP__BENCH_WINDOWS_MAX 64

struct sp_bench;
struct sp__bench_slot;

/* The exact time for which each number of requests was outstanding, by the clock of the load. */
struct sp__depthlog {
	unsigned n, max; /* n: now; ns has max + 1 elements */
	uint64_t since_ns;
	uint64_t *ns;
};

/* One class and its counts. */
struct sp__benchclass {
	/* Fixed when the targets are open; the priority is the one in use. */
	struct sp_bench_class spec;

	/* load_fill.c: the choice of the next request */
	struct sp__rng rng;
	unsigned turn; /* of the targets */
	struct sp__walk walks[SP_BENCH_TARGETS_MAX];
	uint64_t pass_bytes; /* of all whole requests in its ranges */

	/* meter.c */
	struct sp__hist latency, earlier; /* earlier: at the last interval */
	uint64_t bytes, earlier_bytes, reads, errors;
	struct sp__depthlog depth;
	uint64_t mark;	  /* completions of all classes when this one was last served, */
	uint64_t mark_ns; /* or when it began to have requests outstanding */
	uint64_t passed_over, longest_gap_ns, oldest_ns;
	struct sp_bench_window windows[SP__BENCH_WINDOWS_MAX]; /* until the end: since the begin */
};

struct sp__meter {
	uint64_t begin_ns; /* of the measurement; that of the ramp until it is over */
	bool measuring, finished;
	uint64_t end_ns;	    /* nothing is issued after it; UINT64_MAX: not by time */
	uint64_t tick_ns;	    /* the interval ends; UINT64_MAX: none */
	uint64_t interval_begin_ns; /* and when it began */
	uint64_t window_ns;	    /* the window ends */
	uint64_t width_ns;	    /* of a window */
	size_t nwindows;
	uint64_t round_ns;			 /* the round ends; UINT64_MAX: none */
	uint64_t round_begin_ns, round_requests; /* when it began, and those completed before it */
	struct sp_bench_steady steady;
	uint64_t completions;
	struct sp__depthlog depth; /* of all classes */
	struct sp__hist sum, diff; /* scratch */
	uint64_t finished_ns;
	uint64_t overdue_ns;	     /* how long the first overdue request has been overdue */
	uint64_t user_ns, system_ns; /* at begin_ns; from the end on: used since */
};

SP_MUST_CHECK int sp__meter_open(struct sp_bench *b);
void sp__meter_close(struct sp_bench *b);
/* The clock has begun to run. */
void sp__meter_begin(struct sp_bench *b, uint64_t now_ns);
void sp__meter_submitted(struct sp_bench *b, struct sp__bench_slot *s);
void sp__meter_done(struct sp_bench *b, struct sp__bench_slot *s);
/* Does what is due by now: the end of the ramp, of a window, of a round, of an interval. */
void sp__meter_clock(struct sp_bench *b, uint64_t now_ns);
/* Ends the counting.  The slots of all loads show what is outstanding. */
void sp__meter_end(struct sp_bench *b, uint64_t now_ns);

#endif
