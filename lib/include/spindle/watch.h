/* SPDX-License-Identifier: MIT */
/*
 * Samples how many requests a block device or a process has outstanding.
 *
 * Each source counts something else:
 *
 *   stat      a device: all requests in its queue, including those in the
 *             scheduler (/sys/block/NAME/stat).  An exact mean is known too,
 *             since the system adds up the time requests spent there.
 *   inflight  a device: requests given to its driver
 *             (/sys/block/NAME/inflight)
 *   fdinfo    a process: operations that its io_uring rings took and have not
 *             completed (/proc/PID/fdinfo), of any kind; operations with
 *             several completions make the number too small
 *   trace     a whole device, or a process: every block request from begin to
 *             end (/sys/kernel/tracing); those of a process are begun by its
 *             own threads, by whatever system call; later write-back is not
 *             included
 *
 * A sample stands for the time until the next one; trace has no samples, but
 * every change, and costs the system some time for each request.
 *
 * Source: Hall & Bonnet 2005, section 3 (figures 2 and 4 to 6).
 *
 * Thread rule: watching blocks its caller; any number of threads at once.
 */
#ifndef SPINDLE_WATCH_H
#define SPINDLE_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/enum.h>

#define SP_WATCH_DEPTH_MAX 16384 /* more count as this many */

enum sp_watch_source {
	SP_WATCH_AUTO, /* stat for a device, fdinfo for a process */
	SP_WATCH_STAT,
	SP_WATCH_INFLIGHT,
	SP_WATCH_FDINFO,
	SP_WATCH_TRACE,
};

struct sp_watch_interval {
	uint64_t begin_ns, end_ns; /* since the beginning */
	uint64_t samples;
	double depth_mean, depth_mean_exact; /* exact: NaN if unknown */
	unsigned depth_max, depth_last;
};

struct sp_watch_opts {
	const char *target; /* a block device, its name in /sys/block, or a process number */
	enum sp_watch_source source;
	double rate;	     /* samples per second, 0.001 to a million; 0: 1000 */
	uint64_t runtime_ns; /* 0: until stop, or until the process has ended */
	/* Polled; not 0: stop and report the results so far. Or NULL. */
	const volatile sig_atomic_t *stop;
	uint64_t interval_ns; /* 0: none */
	void (*interval)(void *arg, const struct sp_watch_interval *i);
	void *interval_arg;
	const char *sys, *proc; /* NULL: "/sys", "/proc"; or other such trees */
};

struct sp_watch_result {
	char name[64]; /* of the device, or the process */
	enum sp_watch_source source;
	bool ended;	     /* the process, or its last ring, or the device is gone */
	bool stopped;	     /* by *stop */
	unsigned rings;	     /* fdinfo: the most at once */
	uint64_t elapsed_ns; /* from the first sample to the last */
	uint64_t samples;    /* trace: changes */
	/* Trace: how often events were lost; else samples that were late or unreadable. */
	uint64_t missed;
	uint64_t cpu_ns; /* of the watching thread */
	double depth_mean;
	double depth_mean_exact; /* NaN: unknown */
	unsigned depth_p50, depth_p90, depth_p99, depth_max;
	size_t depths; /* depth_ns[i], i < depths: time with i outstanding */
	const uint64_t *depth_ns;
	/* stat: completed requests and their latency (NaN: none completed); else 0, 0, NaN. */
	uint64_t requests;
	double iops, latency_mean_ns;
};

struct sp_watch;

/*
 * 0, also if it was stopped; or with the reason in err: -ENOENT or -ESRCH (no
 * such device or process), -EACCES or -EPERM (not allowed), SP_EUNSUP (the
 * target has no such source), -EINVAL.  *watch is NULL after an error.
 */
SP_API SP_MUST_CHECK int sp_watch_run(struct sp_watch **watch, const struct sp_watch_opts *opts,
				      struct sp_errinfo *err);
/* Valid as long as the watch. */
SP_API const struct sp_watch_result *sp_watch_result(const struct sp_watch *watch);
SP_API void sp_watch_free(struct sp_watch *watch); /* accepts NULL */

SP_ENUM(sp_watch_source)
/* A phrase that says what it counts. */
SP_API const char *sp_watch_source_about(enum sp_watch_source source);

#endif
