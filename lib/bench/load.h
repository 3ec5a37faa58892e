/* SPDX-License-Identifier: MIT */
/*
 * A load: one thread that keeps requests outstanding.
 *
 * Ownership: a load and its members belong to that thread.  The bench opens the load before the
 * thread starts and closes it after the thread has ended. meter.c reads the slots of all loads when
 * counting ends, under the lock.
 */
#pragma once

#include "base/task.h"
#include "bench/meter.h"
#include "bench/pageload.h"
#include "bench/port.h"

struct sp__bench_slot {
	struct sp__request req;	      /* first */
	struct sp__benchclass *class; /* NULL: free */
	struct sp__bench_group *group;
	uint64_t intended_ns; /* its latency counts from here */
	uint64_t sent_ns;     /* end of its submission; 0: not timed */
	enum sp__pageclass page_class;
	struct sp__pagereq page; /* if a page load issued it */
	struct sp__bench_slot *next;
};

/* A page load as the source of a group's requests. */
struct sp__bench_feed {
	struct sp__pageload load;
	struct sp__benchclass *classes[SP__PAGE_CLASSES];
	uint64_t log_offset; /* offset of the log in the target */
	bool counting;
	uint64_t accessed, queries; /* at the beginning of the measurement */
};

/* Slots filled by one rule: the shared depth, or the depth of one class. */
struct sp__bench_group {
	struct sp__bench_feed *feed; /* NULL: the classes decide */
	struct sp__benchclass *const *classes;
	size_t nclasses;
	unsigned depth;
	double gap_ns; /* mean time between requests; 0: each follows a completion */
	double next_ns;
	uint64_t total_bytes, issued_bytes; /* the group ends after total_bytes; 0: with the run */
	struct sp__bench_slot *free;
};

struct sp__load {
	struct sp_bench *bench;
	struct sp__port *port;
	struct sp__rng rng; /* chooses classes and times */
	struct sp__bench_group groups[SP_BENCH_CLASSES_MAX + 1];
	size_t ngroups;
	struct sp__benchclass *classes[SP_BENCH_CLASSES_MAX]; /* group by group */
	unsigned depth; /* outstanding requests of all groups */
	unsigned outstanding;
	struct sp__bench_slot *slots;
	struct sp__request **batch; /* depth */
	size_t at_once;		    /* maximum submitted in one call */
	size_t done_at_once;	    /* maximum completions taken in one call */
	bool times_submissions;
	char *pool;
	size_t pool_bytes, slot_bytes;
	struct sp__task task;
	struct sp_errinfo err;
	int rc;
};

/* load.c */
SP_MUST_CHECK int sp__load_open(struct sp__load *l, struct sp_errinfo *err);
/* Runs until the end of the measurement.  Returns 0 or the error that ended it. */
int sp__load_run(struct sp__load *l, struct sp_errinfo *err);
void sp__load_close(struct sp__load *l);

/* load_fill.c; called under the lock if the bench is threaded. */
/* True if a group has an end of its own, and all its requests are issued. */
bool sp__group_issued(const struct sp_bench *b, const struct sp__bench_group *g);
/* True if each group of the load has an end of its own, and all its requests are issued. */
bool sp__load_issued(const struct sp__load *l);
/* Moves free slots that are due to the batch.  Returns their number. */
size_t sp__load_fill(struct sp__load *l, uint64_t now_ns);
/* Returns the earlier of due_ns and the time when the next slot can be due. */
uint64_t sp__load_due(const struct sp__load *l, uint64_t now_ns, uint64_t due_ns);
/* Returns the only class of a load with a thread of its own, or -1. */
int sp__load_class(const struct sp__load *l);
