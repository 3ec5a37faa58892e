/* SPDX-License-Identifier: MIT */
/*
 * A job file while it is read, and the runs that it describes.
 */
#pragma once

#include "fiojob/fiojob.h"

#define SP__FIOJOB_LINES_MAX 1024
#define SP__FIOJOB_RUNS_MAX 64
#define SP__FIOJOB_PATH_BYTES 1200
#define SP__FIOJOB_CLASS_BYTES (SP__FIO_NAME_BYTES + 16)

#define SP__FIOJOB_VALUE_BYTES 1024
#define SP__FIOJOB_REASON_BYTES sizeof(((struct sp_fiojob_line *)0)->reason)

/* Jobs that run concurrently. */
struct sp__fiorun {
	struct sp__fiovalues first; /* values of the first job: the common ones */
	size_t njobs;
	bool shared;	    /* a job has cmdprio_percentage */
	bool sized;	    /* all jobs have a size in bytes */
	uint64_t end_bytes; /* the largest offset + size */
	unsigned depth;
	char names[SP_BENCH_CLASSES_MAX][SP__FIOJOB_CLASS_BYTES];
	struct sp_bench_class classes[SP_BENCH_CLASSES_MAX];
	size_t nclasses;
	char files[SP_BENCH_TARGETS_MAX][SP__FIOJOB_PATH_BYTES];
	const char *targets[SP_BENCH_TARGETS_MAX];
	size_t ntargets;
};

struct sp_fiojob {
	struct sp_fiojob_line lines[SP__FIOJOB_LINES_MAX];
	size_t nlines;
	char ignored[1024]; /* keys, separated by commas */
	struct sp__fiovalues global, job;
	bool in_job, in_global;
	unsigned job_line;
	struct sp__fiorun *runs[SP__FIOJOB_RUNS_MAX];
	size_t nruns;
};

/* fiojob.c: adds a line that is not understood, with the reason. */
__attribute__((format(printf, 4, 5))) void
sp__fiojob_complain(struct sp_fiojob *j, unsigned line, const char *text, const char *reason, ...);

/*
 * variables.c: copies a value with its variables replaced.  Returns false and sets the reason if
 * that is not possible.
 */
bool sp__fiojob_expand(const char *text, char out[SP__FIOJOB_VALUE_BYTES],
		       char reason[SP__FIOJOB_REASON_BYTES]);

#define SP__FIOJOB_REASONS_MAX 4

/*
 * settle.c: combines values of a job that depend on each other.  run: the run that the job joins.
 * reasons: receives the reason of each combination that cannot be kept.  Returns their number.
 */
size_t sp__fiojob_settle(struct sp__fiovalues *v, const struct sp__fiorun *run,
			 const char *reasons[SP__FIOJOB_REASONS_MAX]);
