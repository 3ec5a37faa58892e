/* SPDX-License-Identifier: MIT */
/*
 * Inside a measurement.
 *
 *   bench.c      sp_bench_run(): opens, starts the loads, closes
 *   check.c      options that contradict each other
 *   target.c     files and devices, and what may be done to them
 *   prio.c       what class RT becomes where it is not allowed
 *   load.c       one thread that keeps requests outstanding
 *   load_fill.c  which ones, and when
 *   replay.c     requests of a trace instead of made-up ones
 *   policy.c     sp_policy_run(): the same with requests of a load of pages
 *   meter.c      what is counted for each request
 *   result.c     figures from what was counted
 */
#ifndef SP__BENCH_STATE_H
#define SP__BENCH_STATE_H

#include <pthread.h>
#include "base/task.h"
#include "bench/bench.h"
#include "bench/depth.h"
#include "bench/pageload.h"
#include "bench/port.h"
#include "bench/replay.h"
#include "bench/walk.h"
#include "obs/trace.h"

#define SP__BENCH_WINDOWS_MAX 64

struct sp__benchfile {
	struct sp__volume *volume;
	const char *path;
	bool created;
	uint32_t align_bytes;  /* what requests must be multiples of; 1: nothing */
	uint64_t begin, bytes; /* the part that is used */
};

/* One class, and what it has got. */
struct sp__benchclass {
	struct sp_bench_class spec; /* priority as used */
	struct sp__rng rng;
	unsigned turn; /* of the targets */
	struct sp__walk walks[SP_BENCH_TARGETS_MAX];

	struct sp__hist latency, earlier; /* earlier: at the last interval */
	uint64_t bytes, earlier_bytes, reads, errors;
	struct sp__depthlog depth;
	uint64_t mark;	  /* completions of all classes when this one was last served, */
	uint64_t mark_ns; /* or when it began to have requests outstanding */
	uint64_t passed_over, longest_gap_ns, oldest_ns;
	struct sp_bench_window windows[SP__BENCH_WINDOWS_MAX]; /* until the end: since the begin */
};

struct sp__bench_slot {
	struct sp__request req; /* first */
	struct sp__benchclass *class;
	struct sp__bench_group *group;
	uint64_t intended_ns; /* from when its latency runs */
	enum sp__pageclass page_class;
	struct sp__pagereq page; /* of a load of pages */
	struct sp__bench_slot *next;
};

/* A load of pages as the source of a group's requests. */
struct sp__bench_feed {
	struct sp__pageload load;
	struct sp__benchclass *classes[SP__PAGE_CLASSES];
	bool counting;
	uint64_t accessed, queries; /* before the measurement began */
};

/* Requests that are issued by one rule: those of the shared depth, or of one class. */
struct sp__bench_group {
	struct sp__bench_feed *feed; /* NULL: as its classes say */
	struct sp__benchclass *const *classes;
	size_t nclasses;
	unsigned depth;
	double gap_ns; /* from one request to the next; 0: when one is done */
	double next_ns;
	struct sp__bench_slot *free;
};

/* One thread. */
struct sp__load {
	struct sp_bench *bench;
	struct sp__port *port;
	struct sp__rng rng; /* which class, which moment */
	struct sp__bench_group groups[SP_BENCH_CLASSES_MAX + 1];
	size_t ngroups;
	struct sp__benchclass *classes[SP_BENCH_CLASSES_MAX]; /* of all groups, in turn */
	unsigned depth;					      /* of all groups */
	unsigned outstanding;
	struct sp__bench_slot *slots;
	struct sp__request **batch; /* depth */
	size_t at_once;		    /* so many of it are submitted in one call, */
	size_t done_at_once;	    /* and so many completions taken */
	char *pool;
	size_t pool_bytes, slot_bytes;
	struct sp__task task;
	struct sp_errinfo err;
	int rc;
};

struct sp_bench {
	struct sp_bench_opts opts;
	struct sp__benchfile files[SP_BENCH_TARGETS_MAX];
	size_t nfiles;
	struct sp__machine *machine; /* or NULL */
	struct sp__trace *trace;     /* or NULL */
	struct sp__replay *replay;   /* or NULL */
	struct sp__benchclass *classes[SP_BENCH_CLASSES_MAX];
	size_t nclasses;
	struct sp__load loads[SP_BENCH_CLASSES_MAX];
	size_t nloads;
	bool threaded; /* the lock is needed for what follows */

	pthread_mutex_t lock;
	uint64_t begin_ns; /* of the measurement; that of the ramp until it is over */
	bool measuring;
	uint64_t end_ns;	    /* when nothing more is issued; UINT64_MAX: not by time */
	uint64_t tick_ns;	    /* when the interval is over; UINT64_MAX: none */
	uint64_t interval_begin_ns; /* when it began */
	uint64_t window_ns;	    /* when the window is over */
	uint64_t width_ns;
	size_t nwindows;
	struct sp_bench_window windows[SP__BENCH_WINDOWS_MAX]; /* of all classes, at the end */
	uint64_t issued_bytes;
	uint64_t completions;
	struct sp__depthlog depth;
	struct sp__hist sum, diff; /* scratch */
	bool stopped, finished;
	uint64_t finished_ns;
	uint64_t overdue_ns;	     /* for how long the first one that is overdue has been so */
	uint64_t user_ns, system_ns; /* at begin_ns, then what was used */

	struct sp_bench_result result;
	struct sp_bench_stats stats[SP_BENCH_CLASSES_MAX];
	uint64_t device_ns[SP__DEPTH_MAX + 1];
};

/* bench.c: with options that have been checked; plan says who issues what. */
typedef int sp__bench_plan(struct sp_bench *b, void *arg, struct sp_errinfo *err);
SP_MUST_CHECK int sp__bench_run(struct sp_bench **out, const struct sp_bench_opts *opts,
				sp__bench_plan *plan, void *arg, struct sp_errinfo *err);
struct sp__load *sp__bench_load(struct sp_bench *b);
void sp__bench_close(struct sp_bench *b); /* all but the figures */

/* target.c */
SP_MUST_CHECK int sp__bench_open_targets(struct sp_bench *b, struct sp_errinfo *err);
void sp__bench_close_targets(struct sp_bench *b);

/* prio.c: replaces class RT where it is not allowed, or -EPERM. */
SP_MUST_CHECK int sp__bench_settle_prios(struct sp_bench *b, struct sp_errinfo *err);

/* load.c */
SP_MUST_CHECK int sp__load_open(struct sp__load *l, struct sp_errinfo *err);
/* Until the end of the measurement. 0 or the error that ended it. */
int sp__load_run(struct sp__load *l, struct sp_errinfo *err);
void sp__load_close(struct sp__load *l);

/* load_fill.c: fills what is free and due into the batch; how many. */
size_t sp__load_fill(struct sp__load *l, uint64_t now_ns);
/* When there may be something to fill next, at the latest due_ns. */
uint64_t sp__load_due(const struct sp__load *l, uint64_t now_ns, uint64_t due_ns);
/* The only class of a load with a thread of its own, or -1. */
int sp__load_class(const struct sp__load *l);

/* policy.c: what a load of pages wants, as long as there are slots, into batch; how many. */
size_t sp__feed_fill(struct sp_bench *b, struct sp__bench_group *g, struct sp__request **batch,
		     uint64_t now_ns);
/* When it wants to be asked again. */
uint64_t sp__feed_due(const struct sp__bench_feed *f, uint64_t now_ns);

/* meter.c; all under the lock if there are threads. */
SP_MUST_CHECK int sp__meter_open(struct sp_bench *b);
void sp__meter_close(struct sp_bench *b);
/* The clock has begun to run. */
void sp__meter_begin(struct sp_bench *b, uint64_t now_ns);
void sp__meter_submitted(struct sp_bench *b, struct sp__bench_slot *s);
void sp__meter_done(struct sp_bench *b, struct sp__bench_slot *s);
/* What is due at this moment: the end of the ramp, of an interval. */
void sp__meter_clock(struct sp_bench *b, uint64_t now_ns);
/* Nothing is counted any more. slots of all loads tell what is outstanding. */
void sp__meter_end(struct sp_bench *b, uint64_t now_ns);
/* Adds an error of this kind. */
void sp__meter_error(struct sp_bench *b, int code);

/* result.c */
void sp__bench_figures(struct sp_bench *b);

#endif
