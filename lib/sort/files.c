/* SPDX-License-Identifier: MIT */
/*
 * Sorts or merges named inputs into one or several outputs: scans, sorts and writes as one plan.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/outfile_impl.h"
#include "base/utf8mark.h"
#include "obs/progress.h"
#include "sort/firsts.h"
#include "sort/form/parts.h"
#include "sort/plan/plan.h"
#include "sort/splitters.h"
#include "sort/state.h"

#define MERGE_DESCRIPTORS 5
/* Share of the input after which the duration is predicted. */
#define EARLY_SHARE 4
/* Less of a pipe is sorted by the thread that reads it. */
#define BESIDE_BYTES (UINT64_C(1) << 20)

struct job {
	struct sp_sort_opts opts;
	const struct sp_sort_io *io;
	const struct sp__condition *where;
	struct sp_errinfo *err;
	struct sp__waits waits;
	struct sp__scan *scan;
	struct sp__parts *parts; /* instead of the scan, read by several threads */
	bool in_order;		 /* one thread reads: parts were cut wrongly, or it is quicker */
	struct sp_sort *sort;
	struct sp__resume *resume; /* NULL: there are no checkpoints */
	struct sp__tally skipped;  /* records of the inputs that are in the runs found */
	uint64_t *checksums;	   /* checksums of the inputs */
	unsigned sim_file;	   /* number of the first input on a simulated machine */
	struct sp__sort_result result;
	struct sp__bytes counted_header; /* with the column of numbers; or empty */
	struct sp__progress progress;
	double early_s; /* duration predicted while the inputs are read; 0: not yet */
	uint64_t total_bytes;
	uint64_t begin_ns;
};

static struct sp__scan_opts scan_options(struct job *j)
{
	struct sp__scan_opts o = {
		.format = j->opts.format,
		.inputs = j->io->inputs,
		.ninputs = j->io->ninputs,
		.header_records = j->io->header_records,
		.header_first = j->io->header_first,
		.separator = sp__key_separator(j->opts.keys),
		.keys = j->io->header_only ? NULL : j->opts.keys,
		.ahead = j->io->ahead,
		.skip_bytes = j->sort->shared.stats.input_bytes,
		.skipped = &j->skipped,
		.checksums = j->checksums,
		.where = j->io->header_only ? NULL : j->where,
		.skip_invalid = j->io->skip_invalid,
		.caller_checks = sp__ks(j->opts.keys)->encode_checks && !j->resume,
		.stream = sp__env_reading(&j->sort->shared.env),
		.waits = &j->waits,
		.err = j->err,
	};

	o.stream.sim_file = j->sim_file;
	o.stream.whole = true;
	return o;
}

static int open_scan(struct job *j)
{
	struct sp__scan_opts o = scan_options(j);

	return sp__scan_open(&j->scan, &o);
}

/*
 * True if two threads are to read inputs from a device: it is busy all the time only if one of them
 * does nothing but read and fill slots.  The other one sorts and stores them.
 */
static bool one_reads(const struct job *j)
{
	return j->opts.on_device && j->sort->shared.threads <= 2;
}

/* Opens the inputs in parts if that is possible and pays; then j->parts is set. */
static int open_parts(struct job *j)
{
	struct sp__scan_opts o = scan_options(j);
	int rc;

	j->in_order |= one_reads(j);
	if (j->in_order || j->resume || !j->total_bytes ||
	    !sp__sort_reads_parts(j->sort, &o.stream))
		return 0;
	o.turns = j->sort->shared.threads;
	rc = sp__parts_open(&j->parts, &o, sp__sort_part_bytes(j->sort, j->total_bytes));
	return rc == SP_EUNSUP ? 0 : rc;
}

static uint64_t bytes_read(const struct job *j)
{
	return j->parts ? sp__parts_bytes(j->parts) : j->scan ? sp__scan_bytes(j->scan) : 0;
}

/* Predicts the duration, as if each pass over the data took as long as reading it for runs. */
static void predict_early(struct job *j, uint64_t bytes)
{
	const unsigned passes = sp__max(j->sort->shared.plan.passes, 1);
	const double now = (double)(sp__now_ns() - j->begin_ns) * 1e-9;

	if (j->total_bytes && bytes >= j->total_bytes / EARLY_SHARE)
		j->early_s = now / (double)bytes * (double)j->total_bytes * (1 + passes);
}

static void tell_read(void *job, uint64_t bytes)
{
	struct job *j = job;

	if (j->early_s == 0)
		predict_early(j, bytes);
	sp__progress_report(&j->progress, SP_PHASE_RUN_FORMATION, bytes, j->total_bytes);
}

/* Forms runs by several threads. */
static int take_parts(struct job *j)
{
	const struct sp__form_source source = {
		.parts = j->parts, .input_bytes = j->total_bytes, .tell = tell_read, .arg = j
	};
	int rc = sp__form_parts(&j->sort->forming, &source);

	if (!rc)
		rc = sp__parts_end(j->parts);
	if (!rc)
		rc = sp__balance_compare(&j->sort->shared, "bytes read", sp__parts_owed(j->parts),
					 j->sort->shared.stats.input_bytes);
	return rc < 0 ? rc : sp_sort_finish(j->sort);
}

/* Reads the rest of the input by a thread, and forms runs of it by others, if that is possible. */
static int take_blocks(struct job *j)
{
	const struct sp__form_source source = { .scan = { j->scan, sp__scan_next },
						.waits = &j->waits,
						.input_bytes = j->total_bytes,
						.tell = tell_read,
						.arg = j };

	if (!sp__form_by_blocks(&j->sort->forming))
		return SP_EUNSUP;
	sp__scan_check_records(j->scan);
	return sp__form_parts(&j->sort->forming, &source);
}

static int take_input(struct job *j)
{
	struct sp__iter it = { j->scan, sp__scan_next };
	struct sp_batch batch;
	bool tried = j->resume || j->in_order;
	size_t valid;
	int rc;

	while ((rc = sp__iter_next(&it, &j->waits, &batch)) == SP_READY) {
		rc = sp__sort_put_valid(j->sort, &batch, &valid);
		if (rc == SP_EFORMAT)
			rc = sp__scan_refuse(j->scan, batch.data + valid);
		if (rc < 0)
			return rc;
		tell_read(j, sp__scan_bytes(j->scan));
		if (tried || j->sort->shared.stats.input_bytes < BESIDE_BYTES)
			continue;
		tried = true;
		rc = take_blocks(j);
		if (rc != SP_EUNSUP)
			break;
	}
	if (rc < 0)
		return rc;
	rc = j->resume ? sp__resume_compare(j->resume, &j->skipped) : 0;
	if (!rc)
		rc = sp__balance_compare(&j->sort->shared, "bytes read", sp__scan_owed(j->scan),
					 j->sort->shared.stats.input_bytes);
	return rc < 0 ? rc : sp_sort_finish(j->sort);
}

static int next_result(void *operator, struct sp_batch * batch)
{
	struct job *j = operator;
	int rc = sp_sort_get(j->sort, batch);

	if (rc == SP_LATER)
		sp__sort_later(j->sort, &j->waits);
	return rc;
}

/* Returns the bytes that the final merge returns, as far as known. */
static uint64_t to_merge(const struct job *j)
{
	return j->scan || j->parts ? bytes_read(j) : j->total_bytes;
}

/* Writes the header again, with a column of numbers before the others. */
static int count_header(struct job *j, struct sp_batch *header)
{
	const struct sp_recfmt *f = &j->opts.format;
	const char *name = j->io->count_name ? j->io->count_name : "count";
	const char *at = header->data, *end = at + header->bytes, *next;
	size_t mark = sp__utf8_mark(at, header->bytes), bytes = strlen(name);
	char *field = malloc(2 * bytes + 2);
	int rc = field ? sp__bytes_set(&j->counted_header, at, mark, NULL) : -ENOMEM;

	bytes = rc ? 0 : sp__csv_quote(name, bytes, f->separator, field);
	/* Further records of the header have an empty field. */
	for (at += mark; !rc && at < end; at = next, bytes = 0) {
		next = sp__rec_end(f, at, (size_t)(end - at));
		if (sp__bytes_append(&j->counted_header, field, bytes, NULL) ||
		    sp__bytes_append(&j->counted_header, &f->separator, 1, NULL) ||
		    sp__bytes_append(&j->counted_header, at, (size_t)(next - at), NULL))
			rc = -ENOMEM;
	}
	free(field);
	*header = (struct sp_batch){ j->counted_header.data, j->counted_header.bytes };
	return rc < 0 ? sp__err(j->err, rc, "allocate", NULL, -1) : 0;
}

/*
 * Makes the bytes before the records of the result: the first input's byte order mark, and the
 * header.
 */
static int make_header(struct job *j, struct sp_batch *header)
{
	*header = (struct sp_batch){ SP__UTF8_MARK, SP__UTF8_MARK_BYTES };
	if (j->parts)
		sp__parts_header(j->parts, header);
	else if (j->scan)
		sp__scan_header(j->scan, header);
	else if (!j->sort->merging.inputs.n || !j->sort->merging.inputs.list[0].marked)
		header->bytes = 0;
	if (!j->opts.count || j->opts.format.kind != SP_REC_CSV || !header->bytes)
		return 0;
	return count_header(j, header);
}

static int begin_result(struct job *j)
{
	struct sp__wstream_opts o = sp__env_writing(&j->sort->shared.env);
	struct sp_batch header;
	int rc;

	o.expected_bytes = j->total_bytes;
	rc = sp__result_begin(&j->result, &o);
	if (!rc)
		rc = make_header(j, &header);
	return rc < 0 ? rc : sp__result_put_header(&j->result, &header);
}

static void tell_merged(void *job, uint64_t done)
{
	struct job *j = job;

	sp__progress_report(&j->progress, SP_PHASE_MERGE, done, to_merge(j));
}

/*
 * Writes the result in ranges; if there are checkpoints, continues them.  Returns 1; 0 if that is
 * not possible; or an error.
 */
static int give_ranges(struct job *j)
{
	const bool marked = j->resume && j->sort->spilled.store;
	struct sp__wstream_opts writing = sp__env_writing(&j->sort->shared.env);
	struct sp__ranges_out out;
	struct sp_batch header;
	int rc;

	if (!marked && !sp__divide_possible(&j->sort->merging))
		return 0;
	rc = sp__sort_reduce(j->sort);
	if (rc < 0)
		return rc;
	tell_merged(j, 0);
	if (marked) {
		rc = make_header(j, &header);
		if (!rc)
			rc = sp__result_continue(&j->result, &writing, &header, &out);
	} else {
		rc = begin_result(j);
		if (!rc)
			sp__result_place(&j->result, &out);
	}
	if (rc < 0)
		return rc;
	out.tell = tell_merged;
	out.arg = j;
	rc = sp__ranges_write(&j->sort->merging, &out);
	if (rc <= 0)
		return rc;
	rc = sp__sort_given(j->sort);
	return rc < 0 ? rc : 1;
}

static int commit(struct job *j)
{
	int rc = 0;

	if (j->resume)
		rc = sp__resume_complete(j->resume, j->io,
					 sp_outfile_begin(j->result.files[0], j->err),
					 j->checksums);
	if (rc == 0)
		rc = sp__result_commit(&j->result);
	if (rc == 0 && j->resume)
		rc = sp__resume_remove(j->resume, j->io->output);
	return rc;
}

/* Ends a result that has been written completely. */
static int complete(struct job *j)
{
	int rc = sp__result_finish(&j->result);

	if (rc == 0)
		sp__sort_sync(j->sort);
	return rc < 0 ? rc : commit(j);
}

static int give_batches(struct job *j)
{
	struct sp__iter it = { j, next_result };
	struct sp_batch batch;
	uint64_t done = 0, total = to_merge(j);
	/*
	 * The first batch is fetched before the output is touched: all input has then been read,
	 * and run formation has not failed.
	 */
	int rc = sp__iter_next(&it, &j->waits, &batch), begun;

	if (rc < 0)
		return rc;
	if (!j->result.stream) {
		sp__progress_report(&j->progress, SP_PHASE_MERGE, 0, total);
		begun = begin_result(j);
		if (begun < 0)
			return begun;
	}
	for (; rc == SP_READY; rc = sp__iter_next(&it, &j->waits, &batch)) {
		rc = sp__result_put(&j->result, &batch);
		if (rc < 0)
			return rc;
		done += batch.bytes;
		sp__progress_report(&j->progress, SP_PHASE_MERGE, done, total);
	}
	if (rc == SP_END)
		rc = sp__balance_compare(&j->sort->shared, "bytes written",
					 j->sort->shared.stats.output_bytes, done);
	return rc < 0 ? rc : complete(j);
}

static int give_output(struct job *j)
{
	int rc = give_ranges(j);

	return rc < 0 ? rc : rc ? complete(j) : give_batches(j);
}

void sp__sort_note_left_out(struct sp_sort_stats *st, const struct sp__left_out *l,
			    const struct sp_sort_io *io, char eol)
{
	st->filtered = l->filtered;
	st->skipped = l->skipped;
	st->skipped_input = l->input;
	if (l->skipped)
		sp__left_out_name(l, io->inputs[l->input], eol, st->skipped_first,
				  sizeof(st->skipped_first));
}

static void note(struct job *j, struct sp_sort_stats *st)
{
	struct sp__left_out left_out = { 0 };
	struct sp__io_counters c;

	if (!j->sort)
		return;
	sp__sort_stats(j->sort, st, j->io->device_counters);
	sp__parts_report(j->parts, j->scan, &st->run);
	if (j->parts)
		sp__parts_left_out(j->parts, &left_out);
	else if (j->scan)
		sp__scan_left_out(j->scan, &left_out);
	sp__sort_note_left_out(st, &left_out, j->io, j->opts.format.eol);
	sp__result_counters(&j->result, &c);
	sp__env_note_io(&st->run, &c);
	if (st->prediction.seconds > 0) {
		st->prediction.early_s = j->early_s;
		st->prediction.revised_s = sp__progress_end_s(&j->progress, j->begin_ns);
	}
	if (!st->run.simulated)
		st->run.elapsed_s = (double)(sp__now_ns() - j->begin_ns) * 1e-9;
}

/*
 * A merge reads while it writes, and needs two inputs, the output and the spill store open at the
 * same time.  True if the inputs must instead be sorted, which reads all of them first: there are
 * too few descriptors; the output is one of the inputs and can only be written in place; inputs
 * have headers; or they are decompressed or checked, so that a fault can be found late.  Returns a
 * negative code if the output cannot be written.
 */
static int must_read_first(struct job *j)
{
	struct stat in;
	int rc;

	if (j->io->header_records || j->opts.run.decompress || sp__ks(j->opts.keys)->checks ||
	    sp__fds_free(MERGE_DESCRIPTORS) < MERGE_DESCRIPTORS)
		return true;
	rc = sp__result_prepare(&j->result);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < j->io->ninputs; i++) {
		const char *name = j->io->inputs[i];

		if ((strcmp(name, "-") ? stat(name, &in) : fstat(0, &in)) == 0 &&
		    sp__result_overwrites(&j->result, &in))
			return true;
	}
	return false;
}

static int check_outputs(struct job *j)
{
	const struct sp_sort_io *io = j->io;
	const char *trace = j->opts.run.trace_path, *tasks = j->opts.run.trace_tasks_path;
	int rc = 0;

	if (!io->splitters)
		return sp__output_set_check(io->output, trace, tasks, io->inputs, io->ninputs,
					    j->err);
	for (size_t i = 0; !rc && i <= sp_splitters_count(io->splitters); i++)
		rc = sp__output_set_check(io->parts[i], trace, tasks, io->inputs, io->ninputs,
					  j->err);
	return rc;
}

/* Reads only as much as the header takes, and writes it. */
static int give_header(struct job *j)
{
	struct sp_batch batch;
	int rc = open_scan(j);

	if (!rc)
		rc = sp__iter_next(&(struct sp__iter){ j->scan, sp__scan_next }, &j->waits, &batch);
	if (rc >= 0)
		rc = begin_result(j);
	return rc < 0 ? rc : complete(j);
}

/* Returns 1 if the result already has its name. */
static int open_resume(struct job *j)
{
	int rc;

	if (!j->io->resume || j->io->header_only)
		return 0;
	rc = sp__resume_open(&j->resume, &j->opts, j->io, j->err);
	if (rc < 0)
		return rc;
	if (j->resume->committed) {
		rc = sp__resume_remove(j->resume, j->io->output);
		return rc < 0 ? rc : 1;
	}
	j->checksums = calloc(j->io->ninputs, sizeof(*j->checksums));
	if (!j->checksums)
		return sp__err(j->err, -ENOMEM, "allocate", NULL, -1);
	j->result.staging = &j->resume->dir;
	j->result.staged = SP__RESUME_RESULT;
	return sp__result_prepare(&j->result);
}

static int run(struct job *j)
{
	bool all;
	int rc = check_outputs(j);

	if (!rc && j->io->splitters)
		rc = sp__result_prepare(&j->result);
	if (rc < 0)
		return rc;
	j->total_bytes =
		sp__inputs_bytes(j->io->inputs, j->io->ninputs, j->opts.run.decompress, &all);
	if (!all)
		j->total_bytes = 0;
	sp_sort_expect(&j->opts, j->io->inputs, j->io->ninputs);
	rc = open_resume(j);
	if (rc)
		return rc < 0 ? rc : 0;
	rc = sp_sort_new(&j->sort, &j->opts, j->err);
	if (!rc)
		j->sort->merging.seeks = j->io->device_counters;
	if (!rc && j->resume)
		rc = sp__sort_adopt(j->sort, j->resume);
	if (!rc)
		rc = sp__inputs_lay(sp__env_reading(&j->sort->shared.env).device, j->io->inputs,
				    j->io->ninputs, &j->sim_file, j->err);
	if (rc < 0 || j->io->header_only)
		return rc < 0 ? rc : give_header(j);
	rc = j->io->merge ? must_read_first(j) : true;
	if (rc < 0)
		return rc;
	if (rc == 0) {
		rc = sp__sort_merge_inputs(j->sort, j->io, j->sim_file);
	} else {
		rc = open_parts(j);
		if (!rc && !j->parts)
			rc = open_scan(j);
		if (!rc)
			rc = j->parts ? take_parts(j) : take_input(j);
	}
	return rc < 0 ? rc : give_output(j);
}

/* Returns SP__MISCUT if the inputs must be read in order. */
static int run_job(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
		   const struct sp__condition *where, bool in_order, struct sp_sort_stats *stats,
		   struct sp_errinfo *err)
{
	struct job j = { .opts = *opts,
			 .in_order = in_order,
			 .io = io,
			 .where = where,
			 .err = err,
			 .result = { .io = io, .counted = opts->count },
			 .progress = { .tell = io->progress,
				       .arg = io->progress_arg,
				       .phase = -1,
				       .last = SP_PHASE_MERGE },
			 .begin_ns = sp__now_ns() };
	int rc, closed;

	j.result.err = j.err;
	rc = run(&j);
	if (j.sort)
		sp__sort_stop(j.sort);
	if (stats)
		note(&j, stats);
	sp__result_close(&j.result);
	sp__scan_close(j.scan);
	sp__parts_close(j.parts);
	sp__bytes_release(&j.counted_header, NULL);
	/* A trace that cannot be written is an error, unless there was one before. */
	closed = sp__sort_free(j.sort);
	sp__resume_close(j.resume);
	free(j.checksums);
	return rc < 0 ? rc : closed;
}

int sp__sort_files(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
		   const struct sp__condition *where, struct sp_sort_stats *stats,
		   struct sp_errinfo *err)
{
	int rc = run_job(opts, io, where, false, stats, err);

	if (rc != SP__MISCUT)
		return rc;
	*err = (struct sp_errinfo)SP_ERRINFO_INIT;
	return run_job(opts, io, where, true, stats, err);
}
