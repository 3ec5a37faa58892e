/* SPDX-License-Identifier: MIT */
/*
 * Groups named inputs into an output: workers read parts of the inputs, a sort brings their partial
 * records together, and results are written.
 */
#include <stdlib.h>
#include <unistd.h>
#include <spindle/group.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/outfile_impl.h"
#include "group/job.h"
#include "group/partial.h"
#include "group/split.h"
#include "run/memory.h"
#include "run/volume_spec.h"

/* Of the memory: the tables of all workers; another order of the result has a sort of its own. */
#define TABLES_SHARE 2
#define ORDER_SHARE 4

/* Sorts of records that end with NUL, as a whole. */

static int open_sort(struct sp__group_job *j, struct sp__sorter *s, uint64_t memory_bytes,
		     const struct sp__env *plan)
{
	const struct sp_keyset_opts order = { .format = { .kind = SP_REC_LINE,
							  .eol = SP__CODE_NUL },
					      .separator = -1,
					      .bytes = true };
	struct sp_sort_opts o = SP_SORT_OPTS_INIT;

	o.run = j->opts->run;
	o.run.memory_bytes = memory_bytes;
	if (plan) {
		o.run.trace_path = o.run.trace_tasks_path = NULL;
		o.run.decompress = o.run.compress_output = SP_PACKED_NONE;
		o.top = j->opts->limited ? j->opts->top : 0;
	}
	return sp__sorter_open(s, &order, &o, plan, j->err);
}

/* Opens the sort of partial records, and divides the memory. */
static int open_partials(struct sp__group_job *j)
{
	const uint64_t working = sp__working_memory(&j->opts->run, j->opts->run.memory_bytes);
	const uint64_t all = working - (j->io->source ? working / SP__SOURCE_SHARE : 0);
	const uint64_t tables = all / TABLES_SHARE;
	struct sp_sort_stats opened;
	int rc;

	if ((j->opts->order && strcmp(j->opts->order, "key") != 0) || j->opts->pivot ||
	    j->opts->npercent)
		j->rows_bytes = all / ORDER_SHARE;
	j->sort_bytes = all - tables - j->rows_bytes;
	rc = open_sort(j, &j->partials, j->sort_bytes, NULL);
	if (rc)
		return rc;
	sp_sort_stats(j->partials.sort, &opened);
	j->nworkers = sp__max(opened.plan.threads, 1);
	j->worker_bytes = (size_t)(tables / j->nworkers);
	if (j->worker_bytes > 2 * SP__GROUP_WORKER_REST)
		j->worker_bytes -= SP__GROUP_WORKER_REST;
	j->worker_bytes = sp__max(j->worker_bytes, SP__GROUP_TABLE_MIN);
	j->worker_bytes = sp__min(j->worker_bytes, SP__GROUP_TABLE_MAX);
	return 0;
}

/* Gives the groups that are left in the tables to the sort. */
static int put_rest(struct sp__group_job *j)
{
	struct sp_batch records;
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < j->nworkers; i++) {
		struct sp__group_worker *w = &j->workers[i];

		while (w->in && rc >= 0 && (rc = sp__group_worker_rest(w, &records)) == SP_READY)
			rc = records.bytes ? sp__sort_put_all(j->partials.sort, &records) : 0;
		if (w->in)
			sp__group_worker_release(w);
	}
	if (rc == -ENOMEM)
		return sp__group_job_no_memory(j);
	return rc < 0 ? rc : sp__sorter_finish(&j->partials);
}

/* Results. */

static int begin_output(struct sp__group_job *j)
{
	struct sp__wstream_opts writing = sp__env_writing(sp__group_job_env(j));
	const struct sp_batch none = { NULL, 0 };
	int rc;

	/* Each file of a group has a header. */
	if (j->split)
		return 0;
	rc = sp__result_begin(&j->write, &writing);
	if (!rc)
		rc = sp__result_put_header(&j->write, &none);
	/* The columns of a pivot are not known yet. */
	if (rc < 0 || !j->opts->header || j->opts->json || j->opts->pivot || j->io->rows_only)
		return rc;
	return sp__group_results_header(&j->results);
}

/* Combines partial records, up to the first ones already fetched (rc). */
static int combine(struct sp__group_job *j, int rc, struct sp_batch *batch)
{
	struct sp__group_results *r = &j->results;
	uint64_t done = 0;

	while (rc == SP_READY) {
		rc = sp__group_results_take(r, batch);
		if (rc)
			return rc;
		done += batch->bytes;
		sp__progress_report(&j->progress, SP_GROUP_COMBINE, done, 0);
		rc = sp__sort_get_next(j->partials.sort, batch);
	}
	return rc == SP_END ? sp__group_results_end(r) : rc;
}

static int write_sorted_rows(struct sp__group_job *j)
{
	struct sp_batch batch;
	int rc = sp__sorter_finish(&j->rows);

	if (!rc && j->opts->pivot && !j->opts->json)
		rc = sp__group_results_header(&j->results);
	while (!rc && (rc = sp__sort_get_next(j->rows.sort, &batch)) == SP_READY)
		rc = sp__group_results_rows(&j->results, &batch);
	return rc == SP_END ? 0 : rc;
}

/* Compares the records of all groups with those that were read. */
static int check_groups(struct sp__group_job *j)
{
	uint64_t records = 0;

	if (j->io->step == SP_GROUP_SECOND_STEP)
		return 0;
	for (unsigned i = 0; i < j->nworkers; i++)
		records += j->workers[i].records - j->workers[i].skipped - j->workers[i].filtered;
	return records == j->results.records ? 0 : sp__err(j->err, SP_EBALANCE, "group", NULL, -1);
}

int sp__group_job_open_rows(struct sp__group_job *j)
{
	return open_sort(j, &j->rows, j->rows_bytes, sp__group_job_env(j));
}

static int write_result(struct sp__group_job *j)
{
	struct sp__wstream_opts writing = sp__env_writing(sp__group_job_env(j));
	struct sp_batch batch;
	/* All input has been read before the output is touched. */
	int rc = sp__sort_get_next(j->partials.sort, &batch), first = rc;

	if (rc >= 0 && j->io->step == SP_GROUP_FIRST_STEP)
		return sp__group_partials_write(j->partials.sort, first, &batch, &j->write,
						&writing);
	if (rc >= 0 && j->rows_bytes)
		rc = sp__group_job_open_rows(j);
	j->results.sorter = rc >= 0 && j->rows_bytes ? &j->rows : NULL;
	if (rc >= 0)
		rc = sp__group_results_open(&j->results);
	if (rc >= 0)
		rc = begin_output(j);
	if (rc < 0)
		return rc;
	rc = combine(j, first, &batch);
	/* With enough rows the rest of the groups is not counted. */
	if (!rc)
		rc = check_groups(j);
	if (!rc && j->rows_bytes)
		rc = write_sorted_rows(j);
	if (rc < 0)
		return rc;
	if (j->split)
		return 0;
	rc = sp__group_results_flush(&j->results);
	if (!rc)
		rc = sp__result_finish(&j->write);
	if (!rc)
		sp__sort_sync(j->partials.sort);
	return rc < 0 ? rc : sp__result_commit(&j->write);
}

/* True if the result of a range of keys depends on other ranges. */
static bool is_whole(const struct sp_group_opts *o)
{
	return (o->order && strcmp(o->order, "key") != 0) || o->split || o->pivot || o->npercent ||
	       o->ncumulative;
}

int sp__group_job_open(struct sp__group_job *j)
{
	bool all;
	int rc = sp__group_options_check(j->opts, j->err);

	if (rc)
		return rc;
	if (j->io->step && is_whole(j->opts))
		return sp__invalid(j->err, NULL,
				   "rows of two steps have the order of the keys, and there is no "
				   "file for each group, pivot, percentage or running total");
	if (j->io->source &&
	    (j->io->step || j->io->ninputs != 1 || !j->opts->header ||
	     j->opts->format.kind != SP_REC_CSV || j->opts->format.separator != ','))
		return sp__invalid(j->err, NULL,
				   "the records of a source are CSV with a header, and are not "
				   "grouped in two steps");
	if (j->io->source && sp__volume_spec_simulated(&j->opts->run))
		return sp__errf(j->err, SP_EUNSUP, "open", j->io->source->name, -1,
				"is not read on a simulated volume: group what 'xtable scan' "
				"prints");
	rc = sp__output_set_check(j->io->output, j->opts->run.trace_path,
				  j->opts->run.trace_tasks_path, j->io->inputs, j->io->ninputs,
				  j->err);
	if (rc)
		return rc;
	j->total_bytes =
		sp__inputs_bytes(j->io->inputs, j->io->ninputs, j->opts->run.decompress, &all);
	if (!all)
		j->total_bytes = 0;
	if (j->opts->split)
		rc = sp__group_split_new(&j->split, j->opts->split, j->opts->nkeys, j->io->inputs,
					 j->io->ninputs, j->err);
	j->results.split = j->split;
	if (!rc)
		rc = open_partials(j);
	if (!rc)
		rc = sp__inputs_lay(sp__env_reading(sp__group_job_env(j)).device, j->io->inputs,
				    j->io->ninputs, &j->sim_file, j->err);
	return rc;
}

static int run(struct sp__group_job *j)
{
	int rc = sp__group_job_open(j);

	if (!rc)
		rc = sp__group_job_read(j);
	if (!rc)
		rc = put_rest(j);
	if (rc)
		return rc;
	j->read_ns = sp__env_now_ns(sp__group_job_env(j));
	return write_result(j);
}

static void note(const struct sp__group_job *j, struct sp_group_stats *st)
{
	struct sp_sort_stats sorted = { 0 };
	struct sp__io_counters c;

	*st = (struct sp_group_stats){ .groups = j->results.groups,
				       .output_records = j->results.rows,
				       .output_bytes = j->results.bytes,
				       .output_files = sp__group_split_files(j->split),
				       .blank_lines = j->blank_lines,
				       .threads = j->nworkers };
	if (!j->partials.sort)
		return;
	sp_sort_stats(j->partials.sort, &sorted);
	st->run = sorted.run;
	st->spilled_runs = sorted.spilled_runs;
	sp__parts_report(j->parts, j->scan, &st->run);
	sp__result_counters(&j->write, &c);
	sp__env_note_io(&st->run, &c);
	st->run.memory_limit_bytes = j->opts->run.memory_bytes;
	for (unsigned i = 0; j->workers && i < j->nworkers; i++) {
		const struct sp__group_worker *w = &j->workers[i];

		st->records += w->records;
		st->input_bytes += w->bytes;
		st->skipped += w->skipped;
		st->filtered += w->filtered;
		st->partials += w->partials;
		st->tables_emptied += w->fills;
	}
	if (j->io->step == SP_GROUP_SECOND_STEP)
		st->records = j->results.records;
	if (!st->run.simulated)
		st->run.elapsed_s = (double)(sp__now_ns() - j->begin_ns) * 1e-9;
	if (j->read_ns) {
		const uint64_t begin_ns = st->run.simulated ? 0 : j->begin_ns;
		const double read_s = (double)(j->read_ns - begin_ns) * 1e-9;

		st->phase_elapsed_s[SP_GROUP_READ] = read_s;
		st->phase_elapsed_s[SP_GROUP_COMBINE] = st->run.elapsed_s - read_s;
	}
}

void sp__group_job_begin(struct sp__group_job *j, const struct sp_group_opts *opts,
			 const struct sp_group_io *io, struct sp_errinfo *err)
{
	*j = (struct sp__group_job){ .opts = opts,
				     .io = io,
				     .err = err,
				     .output = { .output = io->output, .output_fd = io->output_fd },
				     .results = { .json = opts->json,
						  .limited = opts->limited,
						  .top = opts->top,
						  .err = err },
				     .progress = { .tell = io->progress,
						   .arg = io->progress_arg,
						   .phase = -1,
						   .last = SP_GROUP_COMBINE },
				     .begin_ns = sp__now_ns() };
	j->write = (struct sp__sort_result){ .io = &j->output, .err = err };
	j->results.in = &j->input;
	j->results.spec = &j->spec;
	j->results.write = &j->write;
}

int sp__group_job_close(struct sp__group_job *j)
{
	sp__group_job_close_workers(j);
	sp__group_results_close(&j->results);
	sp__group_split_free(j->split);
	sp__group_spec_free(&j->spec);
	sp__result_close(&j->write);
	sp__scan_close(j->scan);
	sp__parts_close(j->parts);
	(void)sp__sorter_close(&j->rows);
	return sp__sorter_close(&j->partials);
}

/* Returns SP__MISCUT if the inputs must be read in order. */
static int run_job(const struct sp_group_opts *opts, const struct sp_group_io *io, bool in_order,
		   struct sp_group_stats *stats, struct sp_errinfo *err)
{
	struct sp__group_job j;
	int rc, closed;

	sp__group_job_begin(&j, opts, io, err);
	j.in_order = in_order;
	rc = run(&j);
	if (stats)
		note(&j, stats);
	/* A trace that cannot be written is an error, unless there was one before. */
	closed = sp__group_job_close(&j);
	return rc < 0 ? rc : closed;
}

int sp_group_run(const struct sp_group_opts *opts, const struct sp_group_io *io,
		 struct sp_group_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	int rc;

	err = err ? err : &own;
	rc = run_job(opts, io, false, stats, err);
	if (rc != SP__MISCUT)
		return rc;
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return run_job(opts, io, true, stats, err);
}
