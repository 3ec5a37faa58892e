/* SPDX-License-Identifier: MIT */
/*
 * One run of grouping: its inputs, workers, sorts and result.
 *
 * Thread rule: the calling thread; a worker belongs to the thread that has its part.
 */
#pragma once

#include "base/err.h"
#include "flow/parts.h"
#include "group/result.h"
#include "obs/progress.h"

struct sp__group_job {
	const struct sp_group_opts *opts;
	const struct sp_group_io *io;
	struct sp_errinfo *err;
	bool in_order; /* parts were cut wrongly: one thread reads */
	struct sp__waits waits;
	struct sp__scan *scan;
	struct sp__parts *parts;
	struct sp__group_spec spec;
	struct sp__group_input input;
	struct sp__group_worker *workers;
	unsigned nworkers;
	size_t worker_bytes;
	struct sp__sorter partials, rows;
	uint64_t sort_bytes; /* memory for the sort of partial records */
	uint64_t rows_bytes; /* memory for the sort of rows; 0: they are written as they come */
	struct sp__group_split *split;
	struct sp__group_results results;
	struct sp_sort_io output;
	struct sp__sort_result write;
	struct sp__progress progress;
	uint64_t total_bytes, blank_lines;
	size_t reading;		 /* in order: number of the input that is read, ... */
	uint64_t records_before; /* ... and of the records of those before it */
	unsigned sim_file;
	uint64_t begin_ns, read_ns;
};

/* What was read of a sample. */
struct sp__group_sample {
	uint64_t bytes; /* of records */
	bool all;	/* of the inputs: nothing was left out */
	/* Partial records of values that never go through a table. */
	uint64_t direct, direct_bytes;
};

static inline int sp__group_job_no_memory(struct sp__group_job *j)
{
	return sp__err(j->err, -ENOMEM, "allocate", NULL, -1);
}

/* True if inputs begin with the names of columns. */
static inline bool sp__group_job_has_header(const struct sp__group_job *j)
{
	return j->opts->header && !j->opts->format.json && j->opts->format.kind != SP_REC_FIXED;
}

static inline struct sp__env *sp__group_job_env(const struct sp__group_job *j)
{
	return sp__sort_env(j->partials.sort);
}

/* group.c: sets the members that follow from the arguments, which must stay valid. */
void sp__group_job_begin(struct sp__group_job *j, const struct sp_group_opts *opts,
			 const struct sp_group_io *io, struct sp_errinfo *err);
/* group.c: checks the options, finds the length of the inputs, and divides the memory. */
SP_MUST_CHECK int sp__group_job_open(struct sp__group_job *j);
/* group.c: opens the sort of rows.  Returns 0 or an error. */
SP_MUST_CHECK int sp__group_job_open_rows(struct sp__group_job *j);
/* group.c: frees all, also after an error.  Returns the error of the trace. */
int sp__group_job_close(struct sp__group_job *j);

/*
 * reading.c: adds records of a sample of the inputs, which are regular files or a source, to the
 * table of the first worker: the first max_bytes of each part of about part_bytes, or of short
 * inputs as a whole.  The table has worker_bytes; records that it cannot hold are left out, as are
 * those with values that are not numbers.  Names, columns and the worker are set, also if there are
 * no records.  Returns 0 or an error.
 */
SP_MUST_CHECK int sp__group_job_sample(struct sp__group_job *j, uint64_t part_bytes,
				       uint64_t max_bytes, struct sp__group_sample *sample);

/*
 * reading.c: reads all records into the tables and the sort of partial records; the names of the
 * header and the workers are set on the way.  Returns 0; SP__MISCUT: the inputs must be read in
 * order; or another error.
 */
SP_MUST_CHECK int sp__group_job_read(struct sp__group_job *j);
void sp__group_job_close_workers(struct sp__group_job *j);
