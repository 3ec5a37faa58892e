/* SPDX-License-Identifier: MIT */
/*
 * Measures asynchronous I/O.  It keeps requests outstanding, or submits them at a rate, in one or
 * more classes with their own priorities, and reports the throughput and latency of each class.  It
 * does not interpret the results: see spindle/benchset.h.
 *
 * The latency of a request is the time from its submission until its completion is reaped.  For
 * requests at a rate it begins when the request was due, so that a device that falls behind cannot
 * hide it.  Percentiles come from a histogram with a relative error of at most 0.8 %; minimum, mean
 * and maximum are exact.
 *
 * The distribution of outstanding requests is exact: for each number, the time during which that
 * number of requests was submitted and not reaped.
 *
 * A class is starved if, while it had requests outstanding and none of them completed, other
 * classes completed at least 100 requests, and at least ten times as many as are outstanding in
 * total.
 *
 * A run can end at a steady state, by the rule of SNIA's performance test specification for solid
 * state storage.  Of the requests per second in the last 5 rounds, the maximum minus the minimum is
 * at most 20 % of the mean, and the rise or fall of the least-squares line through them is at most
 * 10 %. Rounds have equal lengths.  The results are those of the whole measurement.
 *
 * Source: Hall & Bonnet 2005, sections 2.2 and 4.3.
 *
 * Thread rule: a run blocks its caller; several threads may run concurrently, but not on simulated
 * targets.
 */
#ifndef SPINDLE_BENCH_H
#define SPINDLE_BENCH_H

#include <signal.h>
#include <spindle/error.h>
#include <spindle/enum.h>

#define SP_BENCH_CLASSES_MAX 64
#define SP_BENCH_TARGETS_MAX 64
#define SP_BENCH_DEPTH_MAX 4096

enum sp_bench_pattern {
	SP_BENCH_SEQUENTIAL,
	SP_BENCH_RANDOM, /* uniform */
	SP_BENCH_STRIDED,
	SP_BENCH_ZIPF,	   /* rank k with a probability of 1 / k^theta; ranks are scattered */
	SP_BENCH_SHUFFLED, /* each request of the range once per pass, in random order */
};

/* Operations, with the names of fio: "randrw" is OP_RANDOM | OP_RW. */
enum sp_bench_rw {
	SP_BENCH_OP_READ = 1,
	SP_BENCH_OP_WRITE = 2,
	SP_BENCH_OP_RW = 3,
	SP_BENCH_OP_RANDOM = 4
};

/* Linux I/O priorities: class in bits 13 to 15, level in bits 0 to 2. */
enum sp_bench_prio { SP_BENCH_NONE, SP_BENCH_RT, SP_BENCH_BE, SP_BENCH_IDLE };
#define SP_BENCH_PRIO(class_, level) ((uint16_t)((class_) << 13 | (level)))

/* A class of requests. */
struct sp_bench_class {
	const char *name;
	/*
	 * depth 0 and rate 0: the class shares the depth of the run with other classes.  Each new
	 * request belongs to it with a probability of share; the shares of these classes add up
	 * to 1.  Otherwise the class has requests of its own:
	 */
	double share;
	unsigned depth; /* outstanding requests; with a rate: maximum (0: depth of the run) */
	double rate;	/* requests per second; 0: each follows a completion */
	uint16_t prio;	/* SP_BENCH_PRIO(); 0: priority of the process */
	double reads;	/* share of reads, 0 to 1 */
	uint32_t bytes; /* size of a request */
	enum sp_bench_pattern pattern;
	uint64_t stride_bytes; /* SP_BENCH_STRIDED: distance of consecutive requests */
	double theta;	       /* SP_BENCH_ZIPF: above 0 */
	unsigned target;       /* number of the target, counted from 1; 0: all, round-robin */
	/* Range within the used part of each target; range_bytes 0: to the end. */
	uint64_t offset_bytes, range_bytes;
	/* instead of offset_bytes: percentage of the used part, rounded up to a request; or 0 */
	unsigned offset_percent;
	double range_share; /* instead of range_bytes: share of the used part, 0 to 1; or 0 */
	/*
	 * Bytes of requests, counted from the end of the ramp, after which the class ends.
	 * SP_BENCH_ONE_PASS: all whole requests of its ranges.  0: the class ends with the run.  If
	 * every class has an end, the run ends with the last one.  Classes that share the depth of
	 * the run end together, after the largest total_bytes among them for all of them.
	 */
	uint64_t total_bytes;
	/*
	 * Passes are those of a job of fio: a sequential pass includes the request that begins in
	 * the range and ends behind it, if it ends in the target; a random range can have no whole
	 * number of requests; and a pass begins only if total_bytes leaves a whole request for it.
	 */
	bool fio_passes;
};
#define SP_BENCH_ONE_PASS UINT64_MAX

enum sp_bench_create {
	SP_BENCH_CREATE_NO,
	SP_BENCH_CREATE_WRITTEN,  /* filled with random bytes */
	SP_BENCH_CREATE_RESERVED, /* space reserved, nothing written */
	SP_BENCH_CREATE_SPARSE,
	SP_BENCH_CREATE_MISSING, /* written if the file is missing; others are used */
};

/* Results of one interval. */
struct sp_bench_interval {
	uint64_t begin_ns, end_ns; /* since the measurement began */
	size_t nclasses;
	struct sp_bench_slice {
		const char *name;
		uint64_t requests, bytes;
		double latency_mean_ns;
		uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
		unsigned outstanding; /* requests outstanding at the end of the interval */
	} total, classes[SP_BENCH_CLASSES_MAX];
};

/*
 * A replay: the requests of a trace (spindle-trace(5)) instead of generated ones.  Volumes are
 * numbered in the order of their first lines.  Volume i is on target i modulo the number of
 * targets; volumes of one target follow each other at multiples of 1 MiB.  Requests that failed or
 * moved nothing are skipped.  Direct requests are extended to the alignment of the target.  Each
 * priority of the trace is a class.
 */
struct sp_bench_replay {
	const char *trace; /* path; "-": standard input */
	bool no_stall;	   /* submit as fast as the depth allows, not at the recorded times */
	double time_scale; /* the recorded times are divided by this; 0: 1 */
};

struct sp_bench_opts {
	/* Files, block devices, or one "sim:MODEL[,KEY=VALUE...]". */
	const char *const *targets;
	size_t ntargets;
	const struct sp_bench_class *classes;
	size_t nclasses;
	/*
	 * A replay, or NULL.  A replay has no classes and no rate, and ends with the trace.  depth
	 * 0: the maximum number of outstanding requests in the trace.
	 */
	const struct sp_bench_replay *replay;
	/*
	 * NULL or "auto", "io_uring", "libaio", "sync", "null".  sync has one thread per class with
	 * one request at a time.  null moves nothing and opens no target.  A simulated target has
	 * an engine of its own.
	 */
	const char *engine;
	unsigned depth; /* outstanding requests of classes that share it; 1 to SP_BENCH_DEPTH_MAX */
	double rate;	/* their requests per second; 0: each follows a completion */
	bool poisson;	/* requests at a rate: random instead of regular intervals */
	bool buffered;	/* use the page cache */
	bool invalidate; /* drop the targets from the page cache before the run */
	bool fixed_buffers, register_files; /* io_uring: register them with the kernel */
	/*
	 * Maximum number of requests submitted in one call; minimum and maximum number of
	 * completions reaped in one call.  0: 1, 1, batch_min.  On a simulated target one call
	 * submits all ready requests, and reaps all completions if batch_max is 0.
	 */
	unsigned batch_submit, batch_min, batch_max;
	uint64_t runtime_ns;  /* 0: until total_bytes, or the end of all classes */
	uint64_t ramp_ns;     /* time before the measurement */
	uint64_t total_bytes; /* sum over all requests; 0: until runtime_ns */
	uint64_t steady_ns;   /* length of a round; 0: do not end at a steady state */
	/* The used part of each target; size 0: to its end. */
	uint64_t offset_bytes, size_bytes;
	uint64_t seed; /* seed of all random choices */
	/*
	 * Create files of size_bytes (0: as large as ranges or a replay need); -EEXIST if one
	 * exists, except with SP_BENCH_CREATE_MISSING.
	 */
	enum sp_bench_create create;
	bool remove;	 /* remove created files; always done if nothing could be measured */
	bool overwrite;	 /* allow writing to targets that were not created */
	bool keep_going; /* continue after a request has failed */
	/*
	 * Measure how long submission calls take: one more reading of the clock for each of them.
	 * Without effect on a simulated target and with the engine sync.
	 */
	bool time_submissions;
	bool no_fallback;  /* fail if class RT is not permitted */
	const char *trace; /* path of a spindle-trace(5) to write, or NULL */
	/* The caller's own options without effect, which the result lists, too; or NULL. */
	const struct sp_no_effects *no_effects;
	/* Polled; not 0: stop and report the results so far.  Or NULL. */
	const volatile sig_atomic_t *stop;
	uint64_t interval_ns; /* length of an interval; 0: no intervals */
	/* Called at the end of each interval, with the engine sync in one of its threads. */
	void (*interval)(void *arg, const struct sp_bench_interval *i);
	void *interval_arg;
	/*
	 * Called once before the first request, with the classes and the depth in effect, also
	 * those of a replay.  Or NULL.
	 */
	void (*settled)(void *arg, const struct sp_bench_opts *opts);
	void *settled_arg;
};

/* One of at most 64 equal parts of the measurement, each of at least 1 ms; a rest is in none. */
struct sp_bench_window {
	uint64_t end_ns; /* since the measurement began */
	uint64_t requests, latency_sum_ns;
};

#define SP_BENCH_STEADY_WINDOW 5

/* One round. */
struct sp_bench_round {
	uint64_t end_ns; /* since the measurement began */
	double iops;	 /* requests per second of all classes */
};

/* The completed rounds.  iops, range and slope: 0 unless the window is full. */
struct sp_bench_steady {
	bool reached;	 /* the measurement ended at a steady state */
	uint64_t rounds; /* all rounds; the last ones are the window, oldest first */
	size_t nwindow;
	struct sp_bench_round window[SP_BENCH_STEADY_WINDOW];
	double iops; /* mean of the window */
	/* Shares of iops; NAN if it is 0.  slope: from the first round to the last. */
	double range, slope;
};

enum sp_bench_side_of { SP_BENCH_READS, SP_BENCH_WRITES };

/* Durations; all 0 if there are none.  Standard deviation of a sample; all values are exact. */
struct sp_bench_times {
	uint64_t count, min_ns, max_ns;
	double mean_ns, stddev_ns;
};

/* Completed reads, or completed writes. */
struct sp_bench_side {
	uint64_t requests, bytes;
	double iops, bandwidth_bytes_per_s; /* until the end of the class */
	double latency_mean_ns, latency_stddev_ns;
	uint64_t latency_min_ns, latency_p50_ns, latency_p90_ns, latency_p99_ns, latency_p999_ns,
		latency_p9999_ns, latency_max_ns;
	/*
	 * Duration of the call that submitted the request, and the time from then until its
	 * completion is reaped: only with time_submissions.
	 */
	struct sp_bench_times submission, completion;
};

/* Results of one class, or of all classes. */
struct sp_bench_stats {
	const char *name; /* name of the class; "total" */
	uint16_t prio;	  /* in effect */
	uint64_t requests, read_requests, bytes;
	uint64_t errors;
	uint64_t unfinished;		    /* outstanding at the end of the measurement */
	double iops, bandwidth_bytes_per_s; /* until the end of the class */
	/* Completed requests; all 0 if there are none. */
	double latency_mean_ns;
	uint64_t latency_min_ns, latency_p50_ns, latency_p90_ns, latency_p99_ns, latency_p999_ns,
		latency_p9999_ns, latency_max_ns;
	struct sp_bench_side sides[2]; /* by enum sp_bench_side_of */
	uint64_t elapsed_ns;	       /* until the end of the class */
	uint64_t longest_wait_ns;      /* includes requests outstanding at the end */
	uint64_t longest_gap_ns;       /* between completions while requests were outstanding */
	uint64_t passed_over;	       /* maximum number of completions of other classes in a gap */
	bool starved;		       /* defined above */
	double depth_mean;	       /* mean number of outstanding requests */
	size_t nwindows;
	const struct sp_bench_window *windows;
	size_t depths; /* depth_ns[i], i < depths: time with i outstanding */
	const uint64_t *depth_ns;
};

#define SP_BENCH_ERRORS_MAX 16

/* Counts of a replay. */
struct sp_bench_replayed {
	uint64_t requests; /* requests of the trace */
	uint64_t skipped;  /* requests skipped */
	uint64_t extended; /* submitted requests extended to the alignment */
	/* From the first submission to the last completion in the trace. */
	uint64_t recorded_ns;
	unsigned recorded_depth; /* maximum number outstanding in the trace */
	unsigned depth;		 /* maximum number outstanding in the replay */
	size_t nvolumes;
	const struct sp_bench_volume {
		const char *name, *target;
		uint64_t begin_bytes, bytes; /* range in the target */
	} * volumes;
};

/* Failed requests of one kind: -errno, or SP_EFORMAT for a short transfer. */
struct sp_bench_error {
	int code;
	uint64_t count;
};

/* Results of a measurement. */
struct sp_bench_result {
	const char *engine; /* engine in use */
	bool simulated;
	bool fixed_buffers; /* registered with the kernel */
	bool stopped;	    /* by *stop */
	bool prio_fallback; /* RT was not permitted: RT became BE, and the others IDLE */
	struct sp_no_effects no_effects;
	uint64_t size_bytes; /* sum of the used parts of all targets */
	uint64_t elapsed_ns;
	/* Requests at a rate that were due before the end but never got a slot. */
	uint64_t overdue;
	uint64_t user_ns, system_ns; /* processor time of the process; 0 if simulated */
	uint64_t switches;	     /* context switches of the process; 0 if simulated */
	struct sp_bench_stats total;
	size_t nclasses;
	const struct sp_bench_stats *classes;
	size_t nerrors;
	struct sp_bench_error errors[SP_BENCH_ERRORS_MAX];
	const struct sp_bench_replayed *replay; /* NULL: no replay */
	const struct sp_bench_steady *steady;	/* NULL: a steady state was not requested */
	/* Simulated device, since it was opened: time with i requests in its window. */
	size_t device_depths;
	const uint64_t *device_depth_ns;
	uint64_t dispatched, merges, seeks, busy_ns;
};

struct sp_bench;

/*
 * Runs a measurement.  Free the result with sp_bench_free().
 * Returns 0, also if it was stopped, or an error.  If a request failed, *bench has the results so
 * far; after any other error it is NULL.
 *   -EINVAL: options contradict each other, or sizes do not suit the target
 *   -EPERM: data would be lost without overwrite, or class RT is not permitted
 *   -EEXIST: a file to create exists
 *   -ENOENT: a target does not exist, or a file to create has no size
 *   -EBUSY: the device is in use
 *   -ENOSPC: the file system is full
 *   -ENODATA: the trace to replay has no requests
 *   -EAGAIN: the system has no thread for a class
 *   SP_EUNSUP: a target is neither a file nor a block device, or the engine or direct I/O is not
 *       available
 *   SP_ESYNTAX: the simulated device is specified wrongly
 *   SP_EFORMAT: the trace is wrong, or a request moved fewer bytes than requested
 *   -errno: a request failed (-EIO and others), or a target could not be opened
 */
SP_API SP_MUST_CHECK int sp_bench_run(struct sp_bench **bench, const struct sp_bench_opts *opts,
				      struct sp_errinfo *err);

/* Returns the results, which are valid while the bench lives. */
SP_API const struct sp_bench_result *sp_bench_result(const struct sp_bench *bench);

/*
 * Returns a quantile of the latency of completed requests, in nanoseconds; 0 if there are none.
 * which: number of the class, counted from 0; nclasses: all classes.
 * share: 0 to 1.
 */
SP_API uint64_t sp_bench_quantile(const struct sp_bench *bench, size_t which, double share);

/*
 * Returns a quantile of the latency of reads or of writes of a class, in nanoseconds; 0 if there
 * are none.  With time_submissions it is a quantile of the time from the end of the submission.
 * which: number of the class, counted from 0.
 * share: 0 to 1.
 */
SP_API uint64_t sp_bench_side_quantile(const struct sp_bench *bench, size_t which,
				       enum sp_bench_side_of side, double share);

/*
 * Returns how many of these times are below a limit.  A limit of at least 128 ns is rounded down by
 * up to 1/64 of it.
 */
SP_API uint64_t sp_bench_side_below(const struct sp_bench *bench, size_t which,
				    enum sp_bench_side_of side, uint64_t limit_ns);

/* Frees a bench; NULL is accepted. */
SP_API void sp_bench_free(struct sp_bench *bench);

SP_ENUM(sp_bench_pattern)
SP_ENUM(sp_bench_rw)
SP_ENUM(sp_bench_create)
SP_ENUM(sp_bench_process) /* intervals of requests at a rate: linear (0), poisson (1) */

/* Sets the pattern and the share of reads (1/2 for a mix) from an sp_bench_rw. */
SP_API void sp_bench_class_rw(struct sp_bench_class *c, int rw);

/*
 * Sets the pattern from "seq", "random", "shuffled", "stride:SIZE", "zipf" or "zipf:THETA".
 * Returns 0, or -EINVAL if the text is not such a pattern.
 */
SP_API SP_MUST_CHECK int sp_bench_class_pattern(struct sp_bench_class *c, const char *text);

/*
 * Sets members of a class from a text NAME[:KEY=VALUE,...] with the keys of aiobench(1).
 * text: is cut after the name, and must live while the class lives.
 * Returns 0, or SP_ESYNTAX with the reason in err->text.
 */
SP_API SP_MUST_CHECK int sp_bench_class_parse(struct sp_bench_class *c, char *text,
					      struct sp_errinfo *err);

/* Writes a priority as text: "rt/4", "idle", "default".  Returns text. */
SP_API const char *sp_bench_prio_name(uint16_t prio, char text[16]);

/*
 * Parses a priority.  "rt" and "be" alone have level 4; "none" is "default".
 * Returns 0, or -EINVAL if the text is not a priority.
 */
SP_API SP_MUST_CHECK int sp_bench_prio_parse(const char *text, uint16_t *prio);

#endif
