/* SPDX-License-Identifier: MIT */
/*
 * Counters of a measurement.
 *
 * Only meter.c writes them, under the lock of the bench if it is threaded; bench_result.c reads
 * them after all loads have ended.  Times are in ns of the port's clock.
 */
#pragma once

#include "bench/walk.h"
#include "obs/hist.h"
#include "obs/durations.h"

#define SP__BENCH_WINDOWS_MAX 64

struct sp_bench;
struct sp__bench_slot;

/* The exact time during which each number of requests was outstanding, by the clock of the load. */
struct sp__depthlog {
	unsigned n, max; /* n: now; ns has max + 1 elements */
	uint64_t since_ns;
	uint64_t *ns;
};

/* Requests of one operation: reads or writes. */
struct sp__benchside {
	uint64_t bytes;
	struct sp__hist latency;
	struct sp__hist completion; /* from the end of the submission; only if it is timed */
	struct sp__durations moments, submission_moments, completion_moments; /* likewise */
};

/* One class and its counts. */
struct sp__benchclass {
	/* Constant once the targets are open; its priority is the one in use. */
	struct sp_bench_class spec;

	/* load_fill.c: the choice of the next request */
	struct sp__rng rng;
	unsigned turn; /* index of the next target */
	struct sp__walk walks[SP_BENCH_TARGETS_MAX];
	uint64_t range_bytes; /* total bytes of the ranges */
	uint64_t pass_bytes;  /* bytes of all requests of one pass over the ranges */

	/* meter.c */
	struct sp__hist latency, earlier; /* earlier: at the last interval */
	uint64_t bytes, earlier_bytes, errors;
	struct sp__benchside sides[2]; /* by enum sp_bench_side_of */
	struct sp__depthlog depth;
	uint64_t mark;	  /* completions of all classes at that time */
	uint64_t mark_ns; /* time when this class was last served or became busy */
	uint64_t passed_over, longest_gap_ns, oldest_ns;
	/* Until the end, sums since the beginning. */
	struct sp_bench_window windows[SP__BENCH_WINDOWS_MAX];
};

struct sp__meter {
	uint64_t begin_ns; /* start of the ramp, then of the measurement */
	bool measuring, finished;
	uint64_t end_ns;	    /* nothing is issued after it; UINT64_MAX: no run time */
	uint64_t tick_ns;	    /* end of the interval; UINT64_MAX: none */
	uint64_t interval_begin_ns; /* its beginning */
	uint64_t window_ns;	    /* end of the window */
	uint64_t width_ns;	    /* width of a window */
	size_t nwindows;
	uint64_t round_ns;			 /* end of the round; UINT64_MAX: none */
	uint64_t round_begin_ns, round_requests; /* its beginning, and requests completed before */
	struct sp_bench_steady steady;
	uint64_t completions;
	struct sp__depthlog depth; /* outstanding requests of all classes over time */
	struct sp__hist sum, diff; /* scratch */
	struct sp__durations latency, submission, completion; /* scratch */
	uint64_t finished_ns;
	uint64_t overdue_ns; /* age of the first overdue request */
	/* At begin_ns; after the end: used since then. */
	uint64_t user_ns, system_ns, switches;
};

SP_MUST_CHECK int sp__meter_open(struct sp_bench *b);
void sp__meter_close(struct sp_bench *b);
/* Begins the ramp. */
void sp__meter_begin(struct sp_bench *b, uint64_t now_ns);
void sp__meter_submitted(struct sp_bench *b, struct sp__bench_slot *s);
void sp__meter_done(struct sp_bench *b, struct sp__bench_slot *s);
/* Ends the ramp, windows, rounds and intervals that are due at now_ns. */
void sp__meter_clock(struct sp_bench *b, uint64_t now_ns);
/* Ends counting.  Reads outstanding requests from the slots of all loads. */
void sp__meter_end(struct sp_bench *b, uint64_t now_ns);
