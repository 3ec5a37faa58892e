/* SPDX-License-Identifier: MIT */
/*
 * Job files of fio(1), as far as they describe one measurement: each job is a
 * class of requests with an iodepth of its own, and all run at once.
 *
 * Understood, in sections and in [global] before them: rw or readwrite, bs or
 * blocksize, size, io_size, offset, filename (one), iodepth, numjobs, ioengine
 * (io_uring, libaio, sync, psync, pread, null), direct, runtime, time_based,
 * ramp_time, rwmixread, rwmixwrite, random_distribution (random, zipf:THETA),
 * randseed, rate_iops, prioclass, prio, cmdprio_percentage, cmdprio_class,
 * cmdprio, iodepth_batch or iodepth_batch_submit, iodepth_batch_complete_min,
 * iodepth_batch_complete_max, fixedbufs, registerfiles.  Defaults are fio's:
 * rw=read, bs=4k, iodepth=1, ioengine=psync, direct=0.  group_reporting, thread,
 * description, norandommap, randrepeat and refill_buffers change nothing here and
 * are ignored.  All other lines are not understood, nor are values that are not
 * supported, and jobs that differ where a measurement has one value for all.
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
	char why[128];
};

/*
 * Reads path ("-": standard input), or text.  0, -errno, -ENODATA if it has no
 * job, -E2BIG beyond 1 MiB or 16 classes.
 */
SP_API SP_MUST_CHECK int sp_fiojob_load(struct sp_fiojob **job, const char *path,
					struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_fiojob_parse(struct sp_fiojob **job, const char *text, size_t bytes,
					 struct sp_errinfo *err);
SP_API void sp_fiojob_free(struct sp_fiojob *job); /* accepts NULL */

/* Lines that are not understood, in order; valid as long as the job. */
SP_API size_t sp_fiojob_lines(const struct sp_fiojob *job, const struct sp_fiojob_line **lines);
/*
 * Sets the members that the job describes, and no others; targets, classes and
 * names are valid as long as the job.  If opts has targets already they stay, and
 * all classes use them.
 */
SP_API void sp_fiojob_apply(struct sp_fiojob *job, struct sp_bench_opts *opts);

#endif
