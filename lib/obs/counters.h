/* SPDX-License-Identifier: MIT */
/*
 * Counts events of the processor in other processes, by perf_event_open(2).
 *
 * Each event has a descriptor per thread that exists at the start.  Threads and processes that
 * counted threads start later are counted by inheritance, also after they have ended.  If the
 * processor has fewer counters than events, the kernel alternates; counts are scaled to the whole
 * time.
 *
 * Not modelled: processors with two kinds of cores.  The kernel counts on one kind; the share of
 * time shows it.
 *
 * Thread rule: one thread at a time; sp__counters_open() and posix_spawn() by the same thread.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include "base/err.h"

struct sp__counter_event {
	const char *name;
	uint32_t type;	 /* PERF_TYPE_HARDWARE, ... */
	uint64_t config; /* event of that type */
	bool kernel;	 /* in the kernel instead of in user mode */
};

/* Each event of the processor twice, in user mode and in the kernel; misses are those of reads. */
#define SP__PROCESSOR_EVENTS 22
extern const struct sp__counter_event sp__processor_events[SP__PROCESSOR_EVENTS];

struct sp__counters {
	const struct sp__counter_event *events; /* borrowed */
	size_t n;
	size_t threads;
	int *fd; /* n per thread; -1: the kernel refuses the event */
};

#define SP__COUNTERS_INIT                                                                          \
	{                                                                                          \
		.events = sp__processor_events, .n = SP__PROCESSOR_EVENTS                          \
	}

/* In the order of read(2). */
struct sp__counter_raw {
	uint64_t count, enabled_ns, running_ns;
};

struct sp__counter_value {
	double count; /* scaled; NaN: the kernel refuses the event, or it has not run */
	double share; /* share of the time in which the event was counted, 0 to 1 */
};

/*
 * Prepares to count in processes that this thread starts by posix_spawn() from now on, from their
 * exec on, with their children.  The calling process is not counted.
 * c: initialised by SP__COUNTERS_INIT; close with sp__counters_close() even after a failure.
 * Returns 0 if the kernel permits at least one event; else a negative error with the reason, which
 * is that of the first event.
 */
int sp__counters_open(struct sp__counters *c, struct sp_errinfo *err);

/*
 * Counts, from now on, in all threads of a running process and in their children to come.  A child
 * that starts during the call might not be counted.  Can be called for several processes; their
 * counts are added.
 * Returns as sp__counters_open(); -ESRCH if the process does not exist or a thread of it ended
 * meanwhile; -EAGAIN if its threads changed meanwhile.  A failure adds no process.
 */
int sp__counters_open_process(struct sp__counters *c, pid_t pid, struct sp_errinfo *err);

/*
 * Reads what was counted since opening.  A child that was waited for is complete.
 * values: c->n of them.
 * Returns 0 or a negative error.
 */
int sp__counters_read(const struct sp__counters *c, struct sp__counter_value *values);

void sp__counters_close(struct sp__counters *c);

/* Scales a count to the whole time. */
struct sp__counter_value sp__counter_scaled(const struct sp__counter_raw *raw);

/*
 * Writes why the kernel refuses an event, and what to do.
 * error: errno; paranoid: of /proc/sys/kernel/perf_event_paranoid, -1 or less: everything is
 * permitted.
 */
void sp__counters_reason(char *text, size_t bytes, int error, int paranoid);
