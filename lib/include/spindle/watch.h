/* SPDX-License-Identifier: MIT */
/*
 * Samples the number of outstanding requests of a block device or a process.  It submits no
 * requests.
 *
 * Each source counts different requests:
 *
 *  stat      a device: all requests in its queue, including those in the scheduler
 *            (/sys/block/NAME/stat).  An exact mean is also known, since the system adds up the
 *            times of requests in the queue.
 *  inflight  a device: requests given to its driver (/sys/block/NAME/inflight)
 *  fdinfo    a process: operations of any kind that its io_uring rings accepted and have not
 *            completed (/proc/PID/fdinfo).  Operations with several completions make the number too
 *            small.
 *  trace     a device or a process: every block request from begin to end (/sys/kernel/tracing).
 *            Requests of a process are those that its own threads begin, by any system call; later
 *            write-back is not included.
 *
 * A sample stands for the time until the next sample. trace has no samples but records every
 * change, which costs the system time for each request.
 *
 * Source: Hall & Bonnet 2005, section 3 (figures 2 and 4 to 6).
 *
 * Thread rule: watching blocks its caller; any number of threads may watch concurrently.
 */
#ifndef SPINDLE_WATCH_H
#define SPINDLE_WATCH_H

#include <signal.h>
#include <spindle/error.h>
#include <spindle/enum.h>

#define SP_WATCH_DEPTH_MAX 16384 /* larger numbers count as this one */

enum sp_watch_source {
	SP_WATCH_AUTO, /* stat for a device, fdinfo for a process */
	SP_WATCH_STAT,
	SP_WATCH_INFLIGHT,
	SP_WATCH_FDINFO,
	SP_WATCH_TRACE,
};

/* One interval of watching. */
struct sp_watch_interval {
	uint64_t begin_ns, end_ns; /* since the beginning of watching */
	uint64_t samples;
	double depth_mean, depth_mean_exact; /* exact: NaN if unknown */
	unsigned depth_max, depth_last;
};

struct sp_watch_opts {
	const char *target; /* a block device, its name in /sys/block, or a process number */
	enum sp_watch_source source;
	double rate;	     /* samples per second, 0.001 to 10^6; 0: 1000 */
	uint64_t runtime_ns; /* 0: until stop, or until the process has ended */
	/* Polled; not 0: stop and report the results so far.  Or NULL. */
	const volatile sig_atomic_t *stop;
	uint64_t interval_ns; /* length of an interval; 0: no intervals */
	/* Called at the end of each interval. */
	void (*interval)(void *arg, const struct sp_watch_interval *i);
	void *interval_arg;
	const char *sys, *proc; /* NULL: "/sys", "/proc"; or copies of these trees */
};

/* Results of watching. */
struct sp_watch_result {
	char name[64]; /* device or process */
	enum sp_watch_source source;
	bool ended;	/* the process has ended, or its last ring or the device has disappeared */
	bool stopped;	/* by *stop */
	unsigned rings; /* fdinfo: maximum number of rings */
	uint64_t elapsed_ns; /* from the first sample to the last */
	uint64_t samples;    /* trace: changes */
	/* trace: losses of events; otherwise samples that were late or unreadable. */
	uint64_t missed;
	uint64_t cpu_ns; /* CPU time of the watching thread */
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
 * Watches a device or a process.  Free the result with sp_watch_free().
 * Returns 0, also if it was stopped, or an error, with *watch NULL:
 *   -ENOENT: there is no such device
 *   -ESRCH: there is no such process
 *   -EACCES, -EPERM: the source must not be read
 *   SP_EUNSUP: the target does not have this source
 *   -EINVAL: rate is out of its range
 *   -errno: the source could not be read
 *   -ENOMEM: memory is short
 */
SP_API SP_MUST_CHECK int sp_watch_run(struct sp_watch **watch, const struct sp_watch_opts *opts,
				      struct sp_errinfo *err);

/* Returns the results, which are valid while the watch lives. */
SP_API const struct sp_watch_result *sp_watch_result(const struct sp_watch *watch);

/* Frees a watch; NULL is accepted. */
SP_API void sp_watch_free(struct sp_watch *watch);

SP_ENUM(sp_watch_source)

/* Returns a phrase that says which requests a source counts; static. */
SP_API const char *sp_watch_source_about(enum sp_watch_source source);

#endif
