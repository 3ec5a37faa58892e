/* SPDX-License-Identifier: MIT */
/*
 * Job files of fio(1): each job is a class of requests with an iodepth of its own.  The
 * jobs of one run are measured concurrently.  A job with stonewall or wait_for_previous
 * begins the next run.
 *
 * Understood, in sections and in [global] before them: rw or readwrite, bs or
 * blocksize, size (bytes or a percentage of the file), io_size, offset, filename
 * (one), directory, name, iodepth, numjobs, ioengine (io_uring, libaio, sync,
 * psync, pread, null), direct, buffered, invalidate, runtime, time_based,
 * ramp_time, rwmixread, rwmixwrite, random_distribution (random, zipf:THETA),
 * randseed, rate_iops, prioclass, prio, cmdprio_percentage, cmdprio_class,
 * cmdprio, iodepth_batch or iodepth_batch_submit, iodepth_batch_complete_min,
 * iodepth_batch_complete_max, fixedbufs, registerfiles, stonewall or
 * wait_for_previous.  Defaults are fio's: rw=read, bs=4k, iodepth=1,
 * ioengine=psync, direct=0, invalidate=1.
 *
 * A job ends after io_size bytes, by default after one pass over its size or
 * its file, at the latest after runtime; with time_based and runtime, after
 * runtime.  numjobs=N makes N classes with own offsets and an own end.  With
 * directory and without filename the files are DIRECTORY/NAME.I.0, with I from 0
 * to numjobs - 1.  Random offsets are drawn independently, as with norandommap.
 *
 * Keys that change neither the requests nor their timing here (logs, the form of
 * reports, buffer contents, norandommap, thread and the like) are ignored.  Keys
 * that switch something off (verify=0, fsync=0, thinktime=0, loops=1 and the like)
 * are understood with that value only.  All other lines are not understood, nor
 * are values that are not supported, and jobs of one run that differ where a
 * measurement has one value for all.
 *
 * Thread rule: a job belongs to one thread.
 */
#ifndef SPINDLE_FIOJOB_H
#define SPINDLE_FIOJOB_H

#include <stddef.h>
#include <spindle/api.h>
#include <spindle/bench.h>
#include <spindle/error.h>

struct sp_fiojob;

/* A line that is not understood. */
struct sp_fiojob_line {
	unsigned line;	/* from 1 */
	char text[128]; /* cut if longer */
	char reason[128];
};

/*
 * Reads path ("-": standard input), or text.  0, -errno, -ENODATA if it has no
 * job, -E2BIG beyond 1 MiB, 64 runs, or 64 classes or files of one run.
 */
SP_API SP_MUST_CHECK int sp_fiojob_load(struct sp_fiojob **job, const char *path,
					struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_fiojob_parse(struct sp_fiojob **job, const char *text, size_t bytes,
					 struct sp_errinfo *err);
SP_API void sp_fiojob_free(struct sp_fiojob *job); /* accepts NULL */

/* Lines that are not understood, in order; valid as long as the job. */
SP_API size_t sp_fiojob_lines(const struct sp_fiojob *job, const struct sp_fiojob_line **lines);
/* Keys that are ignored, separated by commas; "" if there are none.  Valid as long as the job. */
SP_API const char *sp_fiojob_ignored(const struct sp_fiojob *job);
/* The number of runs, at least 1. */
SP_API size_t sp_fiojob_runs(const struct sp_fiojob *job);
/*
 * Sets the members that a run of the job describes, and no others; run: from 0.
 * Targets, classes and names are valid as long as the job.  If opts has targets
 * already they stay, and all classes use them; else create becomes
 * SP_BENCH_CREATE_MISSING if it is not set.
 */
SP_API void sp_fiojob_apply(struct sp_fiojob *job, size_t run, struct sp_bench_opts *opts);

#endif
