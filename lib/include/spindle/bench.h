/* SPDX-License-Identifier: MIT */
/*
 * Measures asynchronous I/O: keeps requests outstanding, or submits them at a
 * rate, in one or more classes with priorities of their own, and reports the
 * throughput and latency of each class.
 *
 * Latency runs from the submission of a request until its completion is reaped;
 * of requests at a rate, from the moment when the request was due, so that a
 * device that falls behind cannot hide it.  Percentiles come from a histogram with
 * a relative error of at most 0.8 %; minimum, mean and maximum are exact.
 *
 * The distribution of outstanding requests is exact: for each number, the time
 * during which that number was submitted and not reaped.
 *
 * A class is starved if, while it had requests outstanding and none of them
 * completed, other classes completed at least 100 requests, and at least ten
 * times as many as are outstanding in total.
 *
 * A run can end at a steady state, by the rule of SNIA's performance test specification
 * for solid state storage: of the requests per second in the last 5 rounds, the
 * difference between the greatest and the least is at most 20 % of the mean, and the
 * rise or fall of the least-squares line through them at most 10 %.  Rounds are of
 * equal length; the results remain those of the whole measurement.
 *
 * Source: Hall & Bonnet 2005, sections 2.2 and 4.3.
 *
 * Thread rule: a run blocks its caller; several may run at once in different
 * threads, but not of simulated targets.
 */
#ifndef SPINDLE_BENCH_H
#define SPINDLE_BENCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/enum.h>

#define SP_BENCH_CLASSES_MAX 64
#define SP_BENCH_TARGETS_MAX 64
#define SP_BENCH_DEPTH_MAX 4096

enum sp_bench_pattern {
	SP_BENCH_SEQUENTIAL,
	SP_BENCH_RANDOM, /* uniform */
	SP_BENCH_STRIDED,
	SP_BENCH_ZIPF, /* rank k with a probability of 1 / k^theta; ranks are scattered */
};

/* What requests do, by fio's words: "randrw" is OP_RANDOM | OP_RW. */
enum sp_bench_rw {
	SP_BENCH_OP_READ = 1,
	SP_BENCH_OP_WRITE = 2,
	SP_BENCH_OP_RW = 3,
	SP_BENCH_OP_RANDOM = 4
};

/* Linux I/O priorities: class in bits 13 to 15, level in bits 0 to 2. */
enum sp_bench_prio { SP_BENCH_NONE, SP_BENCH_RT, SP_BENCH_BE, SP_BENCH_IDLE };
#define SP_BENCH_PRIO(class_, level) ((uint16_t)((class_) << 13 | (level)))

struct sp_bench_class {
	const char *name;
	/*
	 * depth 0, rate 0: the class is one of those that share the depth of the
	 * run; each new request belongs to it with a probability of share (the
	 * shares of these classes add up to 1).  Else it has requests of its own:
	 */
	double share;
	unsigned depth; /* outstanding requests; with a rate: the most (0: as the run) */
	double rate;	/* requests per second; 0: each follows a completion */
	uint16_t prio;	/* SP_BENCH_PRIO(); 0: that of the process */
	double reads;	/* the share of reads, 0 to 1 */
	uint32_t bytes; /* of a request */
	enum sp_bench_pattern pattern;
	uint64_t stride_bytes; /* SP_BENCH_STRIDED: from one request to the next */
	double theta;	       /* SP_BENCH_ZIPF: above 0 */
	unsigned target;       /* number of the target, from 1; 0: all in turn */
	/* Its range within the used part of each target; range 0: to the end. */
	uint64_t offset_bytes, range_bytes;
	double range_share; /* instead of range_bytes: of the used part, at most to its end; or 0 */
	/*
	 * The class ends after requests for this many bytes, counted from the end of the
	 * ramp; SP_BENCH_ONE_PASS: for all whole requests of its ranges.  0: it ends with the
	 * run.  A run in which every class has an end is over when the last one ends.
	 * Classes that share the depth of the run end together, after the largest number of
	 * theirs for all of them.
	 */
	uint64_t total_bytes;
};
#define SP_BENCH_ONE_PASS UINT64_MAX

enum sp_bench_create {
	SP_BENCH_CREATE_NO,
	SP_BENCH_CREATE_WRITTEN,  /* filled with random bytes */
	SP_BENCH_CREATE_RESERVED, /* space reserved, nothing written */
	SP_BENCH_CREATE_SPARSE,
	SP_BENCH_CREATE_MISSING, /* written, if there is no such file; others are used */
};

/* Counts of one interval. */
struct sp_bench_interval {
	uint64_t begin_ns, end_ns; /* since the measurement began */
	size_t nclasses;
	struct sp_bench_slice {
		const char *name;
		uint64_t requests, bytes;
		double latency_mean_ns;
		uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
		unsigned outstanding; /* at its end */
	} total, classes[SP_BENCH_CLASSES_MAX];
};

/*
 * The requests of a trace (spindle-trace(5)) instead of generated ones.  Its
 * volumes are numbered in the order of their first lines; volume i lies on
 * target i modulo the number of targets, and volumes of one target follow each
 * other at multiples of 1 MiB.  Requests that failed or moved nothing are left
 * out; direct ones are extended to the alignment of the target.  Each priority
 * of the trace is a class.
 */
struct sp_bench_replay {
	const char *trace; /* path; "-": standard input */
	bool no_stall;	   /* as fast as the depth allows, else at the recorded times, */
	double time_scale; /* divided by this; 0: 1 */
};

struct sp_bench_opts {
	/* Files, block devices, or one "sim:MODEL[,KEY=VALUE...]". */
	const char *const *targets;
	size_t ntargets;
	const struct sp_bench_class *classes;
	size_t nclasses;
	/*
	 * Or NULL.  A replay has no classes and no rate; depth 0 is the greatest
	 * number outstanding in the trace; the run ends with the trace.
	 */
	const struct sp_bench_replay *replay;
	/*
	 * NULL or "auto", "io_uring", "libaio", "sync", "null".  sync has a
	 * thread for each class with one request at a time; null moves nothing
	 * and opens no target.  A simulated target has an engine of its own.
	 */
	const char *engine;
	unsigned depth;	 /* of the classes that share; 1 to SP_BENCH_DEPTH_MAX */
	double rate;	 /* of these, requests per second; 0: each follows a completion */
	bool poisson;	 /* rates: at random instead of regular intervals */
	bool buffered;	 /* through the page cache, */
	bool invalidate; /* from which the targets are dropped before the run */
	bool fixed_buffers, register_files; /* io_uring: registered with the kernel */
	/*
	 * The most requests submitted in one call; completions waited for; the most
	 * completions taken at once.  0: 1, 1, batch_min.  On a simulated target all
	 * ready requests are submitted at once, and all completions taken if batch_max is 0.
	 */
	unsigned batch_submit, batch_min, batch_max;
	uint64_t runtime_ns;  /* 0: until total_bytes, or the end of all classes */
	uint64_t ramp_ns;     /* before the measurement */
	uint64_t total_bytes; /* of all requests; 0: until runtime_ns */
	uint64_t steady_ns;   /* a round; ends earlier at a steady state.  0: does not */
	/* The used part of each target; size 0: to its end. */
	uint64_t offset_bytes, size_bytes;
	uint64_t seed;
	/*
	 * Creates files of size_bytes (0: as large as ranges or a replay need); -EEXIST if one
	 * exists, except with SP_BENCH_CREATE_MISSING.
	 */
	enum sp_bench_create create;
	bool remove;	   /* created files; always done if nothing could be measured */
	bool overwrite;	   /* allows writing to targets that were not created */
	bool keep_going;   /* after a request has failed */
	bool no_fallback;  /* fail if class RT is not permitted */
	const char *trace; /* path of a spindle-trace(5) to write, or NULL */
	/* Of the caller's own options: the result lists them, too.  Or NULL. */
	const struct sp_no_effects *no_effects;
	/* Polled; not 0: stop and report what was measured. Or NULL. */
	const volatile sig_atomic_t *stop;
	uint64_t interval_ns; /* 0: none */
	void (*interval)(void *arg, const struct sp_bench_interval *i);
	void *interval_arg;
	/*
	 * Or NULL.  Called once before the first request, with the classes and the
	 * depth in effect, also those of a replay.
	 */
	void (*settled)(void *arg, const struct sp_bench_opts *opts);
	void *settled_arg;
};

/* One of at most 64 equal parts of the measurement, each of 1 ms or more; a rest is in none. */
struct sp_bench_window {
	uint64_t end_ns; /* since the measurement began */
	uint64_t requests, latency_sum_ns;
};

#define SP_BENCH_STEADY_WINDOW 5

struct sp_bench_round {
	uint64_t end_ns; /* since the measurement began */
	double iops;	 /* of all classes */
};

/* The rounds that are over.  iops, range and slope: 0 unless the window is full. */
struct sp_bench_steady {
	bool reached;	 /* the measurement has ended by it */
	uint64_t rounds; /* of the measurement; the last ones are the window, oldest first */
	size_t nwindow;
	struct sp_bench_round window[SP_BENCH_STEADY_WINDOW];
	double iops; /* the mean of the window */
	/* As shares of it; NAN if it is 0.  slope: from the first round to the last. */
	double range, slope;
};

struct sp_bench_stats {
	const char *name; /* of the class; "total" */
	uint16_t prio;	  /* in effect */
	uint64_t requests, read_requests, bytes;
	uint64_t errors;
	uint64_t unfinished;		    /* outstanding at the end of the measurement */
	double iops, bandwidth_bytes_per_s; /* of a class that has ended: until then */
	/* Of completed requests; all 0 if there are none. */
	double latency_mean_ns;
	uint64_t latency_min_ns, latency_p50_ns, latency_p90_ns, latency_p99_ns, latency_p999_ns,
		latency_p9999_ns, latency_max_ns;
	uint64_t longest_wait_ns; /* requests outstanding at the end included */
	uint64_t longest_gap_ns;  /* between completions while some were outstanding */
	uint64_t passed_over;	  /* the most completions of others in such a gap */
	bool starved;
	double depth_mean;
	size_t nwindows;
	const struct sp_bench_window *windows;
	size_t depths; /* depth_ns[i], i < depths: time with i outstanding */
	const uint64_t *depth_ns;
};

#define SP_BENCH_ERRORS_MAX 16

/* What was replayed. */
struct sp_bench_replayed {
	uint64_t requests; /* in the trace */
	uint64_t skipped;  /* of these */
	uint64_t extended; /* of the submitted ones */
	/* From the first submission to the last completion in the trace. */
	uint64_t recorded_ns;
	unsigned recorded_depth; /* the most outstanding in the trace */
	unsigned depth;		 /* allowed here */
	size_t nvolumes;
	const struct sp_bench_volume {
		const char *name, *target;
		uint64_t begin_bytes, bytes; /* its range in the target */
	} * volumes;
};

/* Failed requests of one kind: -errno, or SP_EFORMAT for a short transfer. */
struct sp_bench_error {
	int code;
	uint64_t count;
};

struct sp_bench_result {
	const char *engine; /* in use */
	bool simulated;
	bool fixed_buffers; /* registered with the kernel */
	bool stopped;	    /* by *stop */
	bool prio_fallback; /* RT was not permitted: RT became BE, and the others IDLE */
	struct sp_no_effects no_effects;
	uint64_t size_bytes; /* used of all targets */
	uint64_t elapsed_ns;
	/* With a rate: due before the end, but never submitted because the depth was used up. */
	uint64_t overdue;
	uint64_t user_ns, system_ns; /* processor time of the process; 0 if simulated */
	struct sp_bench_stats total;
	size_t nclasses;
	const struct sp_bench_stats *classes;
	size_t nerrors;
	struct sp_bench_error errors[SP_BENCH_ERRORS_MAX];
	const struct sp_bench_replayed *replay; /* or NULL */
	const struct sp_bench_steady *steady;	/* or NULL: not asked for */
	/* Simulated device, since it was opened: requests inside its window. */
	size_t device_depths;
	const uint64_t *device_depth_ns;
	uint64_t dispatched, merges, seeks, busy_ns;
};

struct sp_bench;

/*
 * Runs a measurement.  0, also if it was stopped; or an error with its reason in
 * err: -EINVAL (contradictory options, sizes that the target does not allow),
 * -EPERM (data would be lost, or class RT is not permitted), -EBUSY (the device is
 * in use), -ENOSPC, SP_EUNSUP, SP_ESYNTAX, -EIO and the like (a request failed:
 * *bench is valid and has the results so far).  After other errors *bench is NULL.
 */
SP_API SP_MUST_CHECK int sp_bench_run(struct sp_bench **bench, const struct sp_bench_opts *opts,
				      struct sp_errinfo *err);
/* Valid as long as the bench. */
SP_API const struct sp_bench_result *sp_bench_result(const struct sp_bench *bench);
/*
 * The latency quantile, in ns, of the completed requests of class number which;
 * nclasses: of all.  share: 0 to 1.  0 if there are none.
 */
SP_API uint64_t sp_bench_quantile(const struct sp_bench *bench, size_t which, double share);
SP_API void sp_bench_free(struct sp_bench *bench); /* accepts NULL */

SP_ENUM(sp_bench_pattern)
SP_ENUM(sp_bench_rw)
SP_ENUM(sp_bench_create)
SP_ENUM(sp_bench_process) /* of requests at a rate: linear (0), poisson (1) */

/* Sets the pattern and the share of reads, which is half in a mix, from an sp_bench_rw. */
SP_API void sp_bench_class_rw(struct sp_bench_class *c, int rw);
/* Sets the pattern from "seq", "random", "stride:SIZE", "zipf" or "zipf:THETA".  0 or -EINVAL. */
SP_API SP_MUST_CHECK int sp_bench_class_pattern(struct sp_bench_class *c, const char *text);
/*
 * A class as text, NAME[:KEY=VALUE,...] with the keys of aiobench(1).  Sets the members that it
 * names; the name is the beginning of text, which is cut there and must live as long as c.
 * 0 or SP_ESYNTAX.
 */
SP_API SP_MUST_CHECK int sp_bench_class_parse(struct sp_bench_class *c, char *text,
					      struct sp_errinfo *err);

/* A priority as text: "rt/4", "idle", "default"; returns text. */
SP_API const char *sp_bench_prio_name(uint16_t prio, char text[16]);
/* The reverse; "rt" and "be" alone have level 4, "none" is "default". 0 or -EINVAL. */
SP_API SP_MUST_CHECK int sp_bench_prio_parse(const char *text, uint16_t *prio);

#endif
