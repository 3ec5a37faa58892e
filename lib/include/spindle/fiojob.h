/* SPDX-License-Identifier: MIT */
/*
 * Reads job files of fio(1) as measurements for spindle/bench.h.  Each job is a class of requests
 * with an iodepth of its own.  This module runs nothing.
 *
 * The jobs of one run are measured concurrently.  A job with stonewall or wait_for_previous begins
 * the next run.
 *
 * Supported keys, in jobs and in [global] before them: rw or readwrite, bs or blocksize, size
 * (bytes or a percentage of the file), io_size or io_limit, offset
 * (bytes or a percentage), kb_base, filename (one),
 * directory, name, iodepth, numjobs, ioengine (io_uring, libaio, sync, psync, pread, null),
 * direct, buffered, invalidate, runtime, time_based, ramp_time, rwmixread, rwmixwrite,
 * random_distribution (random, zipf:THETA), randseed, rate_iops, rate, prioclass, prio,
 * cmdprio_percentage, cmdprio_class, cmdprio, iodepth_batch or iodepth_batch_submit,
 * iodepth_batch_complete_min, iodepth_batch_complete_max, fixedbufs, registerfiles, stonewall
 * or wait_for_previous.  Defaults are those of fio: rw=read, bs=4k, iodepth=1, ioengine=psync,
 * direct=0, invalidate=1.
 *
 * ${NAME} in a value is the variable NAME of the environment; a line with a variable that is not
 * set is not supported.
 *
 * Units are those of fio: with kb_base 1024, the default, k, ki and kb are 1024 and kib is 1000;
 * with kb_base 1000 it is the other way round.  kb_base holds for the lines after it, so it is
 * refused after a size of its section.  Numbers have no decimals, which fio ignores.
 *
 * A job ends after io_size bytes, by default after one pass over its size or its file, and at the
 * latest after runtime.  With time_based and runtime it ends after runtime. numjobs=N makes N
 * classes, each with its own offsets and its own end.  With directory and without filename the
 * files are DIRECTORY/NAME.I.0, with I from 0 to numjobs - 1.  The number of requests is that of
 * fio (fio_passes).  Random offsets come once per pass, or independently with norandommap.
 *
 * filesize is the end of the file and of the range of a job without a size.  loops repeats a pass
 * over a size in bytes, with direct=1 or invalidate=0, since fio empties the page cache before each
 * pass.  rate, in bytes per second, is converted into requests per second.  rate_process is that
 * of all jobs of a run.  With allow_file_create=0 no file is created.  bsrange has two equal sizes,
 * and timeout is runtime.
 *
 * Keys that change neither the requests nor their timing (buffer contents, thread and similar ones)
 * are ignored.  Keys that ask for output (logs, percentiles) are not supported, except
 * group_reporting: the total is the report of the group; and new_group, unless a run would have two
 * such totals.  exitall is supported for a job that runs alone.  Keys that switch something off
 * (verify=0, fsync=0, thinktime=0, nrfiles=1, io_submit_mode=inline and similar ones) are supported
 * with that value only.
 * Unsupported lines are all others, unsupported values, and jobs of one run that differ where a
 * measurement has one value for all.  A rate of a mix of reads and writes is not supported, since
 * fio limits reads and writes apart.
 *
 * Thread rule: a job belongs to one thread.
 */
#ifndef SPINDLE_FIOJOB_H
#define SPINDLE_FIOJOB_H

#include <spindle/bench.h>

struct sp_fiojob;

/* A line that is not supported. */
struct sp_fiojob_line {
	unsigned line;	/* counted from 1 */
	char text[128]; /* the line, cut after 127 bytes */
	char reason[128];
};

/*
 * Reads a job file.  Free the job with sp_fiojob_free().
 * path: "-": standard input.
 * Returns 0 or an error, with *job NULL:
 *   -ENODATA: the file has no job
 *   -E2BIG: the file has more than 1 MiB, 64 runs, or 64 classes or files in one run
 *   -ENOMEM: memory is short
 *   -errno: the file could not be opened or read
 */
SP_API SP_MUST_CHECK int sp_fiojob_load(struct sp_fiojob **job, const char *path,
					struct sp_errinfo *err);

/*
 * Reads a job file from memory: see sp_fiojob_load().
 * text: `bytes` bytes of the caller, borrowed during the call.
 * Returns 0, -ENODATA, -E2BIG or -ENOMEM as sp_fiojob_load() does.
 */
SP_API SP_MUST_CHECK int sp_fiojob_parse(struct sp_fiojob **job, const char *text, size_t bytes,
					 struct sp_errinfo *err);

/* Frees a job; NULL is accepted. */
SP_API void sp_fiojob_free(struct sp_fiojob *job);

/*
 * Reports the lines that are not supported, in their order.
 * lines: receives an array that is valid while the job lives.
 * Returns the number of lines.
 */
SP_API size_t sp_fiojob_lines(const struct sp_fiojob *job, const struct sp_fiojob_line **lines);

/*
 * Returns the keys that are ignored, separated by commas; "" if there are none.  The text is valid
 * while the job lives.
 */
SP_API const char *sp_fiojob_ignored(const struct sp_fiojob *job);

/* Returns the number of runs, at least 1. */
SP_API size_t sp_fiojob_runs(const struct sp_fiojob *job);

/*
 * Sets the members of opts that a run of the job describes, and no others.  Targets, classes and
 * names are valid while the job lives.  If opts has targets, they stay, and all classes use them.
 * Otherwise create becomes SP_BENCH_CREATE_MISSING if it is not set.
 * run: counted from 0, below sp_fiojob_runs().
 */
SP_API void sp_fiojob_apply(struct sp_fiojob *job, size_t run, struct sp_bench_opts *opts);

#endif
