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
	uint64_t rows_bytes; /* memory for the sort of rows; 0: they are written as they come */
	struct sp__group_split *split;
	struct sp__group_results results;
	struct sp_sort_io output;
	struct sp__sort_result write;
	struct sp__progress progress;
	uint64_t total_bytes, blank_lines;
	unsigned sim_file;
	uint64_t begin_ns, read_ns;
};

static inline int sp__group_job_no_memory(struct sp__group_job *j)
{
	return sp__err(j->err, -ENOMEM, "allocate", NULL, -1);
}

static inline struct sp__env *sp__group_job_env(const struct sp__group_job *j)
{
	return sp__sort_env(j->partials.sort);
}

/*
 * reading.c: reads all records into the tables and the sort of partial records; the names of the
 * header and the workers are set on the way.  Returns 0; SP__MISCUT: the inputs must be read in
 * order; or another error.
 */
SP_MUST_CHECK int sp__group_job_read(struct sp__group_job *j);
void sp__group_job_close_workers(struct sp__group_job *j);
