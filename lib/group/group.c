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
#include "flow/parts.h"
#include "group/result.h"
#include "obs/progress.h"
#include "run/memory.h"

/* Of the memory: the tables of all workers; another order of the result has a sort of its own. */
#define TABLES_SHARE 2
#define ORDER_SHARE 4
#define SHOWN 40 /* bytes of a value in a message */

struct job {
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
	uint64_t rows_bytes; /* memory for the sort of rows; 0: rows are in the order of the keys */
	struct sp__group_results results;
	struct sp_sort_io output;
	struct sp__sort_result write;
	struct sp__progress progress;
	uint64_t total_bytes, blank_lines;
	unsigned sim_file;
	uint64_t begin_ns, read_ns;
};

static int no_memory(struct job *j)
{
	return sp__err(j->err, -ENOMEM, "allocate", NULL, -1);
}

static struct sp__env *env_of(const struct job *j)
{
	return sp__sort_env(j->partials.sort);
}

/* Sorts of records that end with NUL, as a whole. */

static int open_sort(struct job *j, struct sp__sorter *s, uint64_t memory_bytes,
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
static int open_partials(struct job *j)
{
	const uint64_t all = sp__working_memory(&j->opts->run, j->opts->run.memory_bytes);
	const uint64_t tables = all / TABLES_SHARE;
	struct sp_sort_stats opened;
	int rc;

	if (j->opts->order && strcmp(j->opts->order, "key") != 0)
		j->rows_bytes = all / ORDER_SHARE;
	rc = open_sort(j, &j->partials, all - tables - j->rows_bytes, NULL);
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

/* Inputs. */

static char line_end(const struct job *j)
{
	return j->opts->format.kind == SP_REC_LINE ? j->opts->format.eol : '\n';
}

static struct sp__scan_opts scan_options(struct job *j)
{
	struct sp__scan_opts o = { .format = j->opts->format,
				   .inputs = j->io->inputs,
				   .ninputs = j->io->ninputs,
				   .header_records = j->opts->header,
				   .separator = j->opts->separator,
				   .remove_blank = j->opts->format.kind == SP_REC_CSV ||
						   j->opts->separator >= 0,
				   .count_lines = true,
				   .stream = sp__env_reading(env_of(j)),
				   .waits = &j->waits,
				   .err = j->err };

	o.stream.sim_file = j->sim_file;
	o.stream.whole = true;
	return o;
}

/* Opens the inputs in parts, if that is possible. */
static int open_parts(struct job *j)
{
	struct sp__scan_opts o = scan_options(j);
	int rc;

	if (j->in_order || !j->total_bytes || !sp__sort_reads_parts(j->partials.sort, &o.stream))
		return 0;
	o.turns = j->nworkers;
	rc = sp__parts_open(&j->parts, &o, sp__sort_part_bytes(j->partials.sort, j->total_bytes));
	return rc == SP_EUNSUP ? 0 : rc;
}

/* Resolves keys, aggregates and order by the header.  input_empty: there is none. */
static int resolve(struct job *j, const struct sp_batch *header, bool input_empty)
{
	struct sp__column_names names = { .unknown = input_empty };
	struct sp_batch first = *header;
	char **list = NULL;
	const char *order = j->opts->order;
	const struct sp__group_words words = {
		.keys = j->opts->keys,
		.nkeys = j->opts->nkeys,
		.aggregates = j->opts->aggregates ? j->opts->aggregates : "count()",
		.where = j->opts->where,
		.largest = j->opts->largest,
		.by = j->opts->by,
		.nby = j->opts->nby,
		.first_positions = order && !strcmp(order, "first"),
	};
	int rc = 0;

	if (j->opts->header && first.bytes) {
		(void)sp__record_next(&j->opts->format, first.data, first.data + first.bytes,
				      &first.bytes);
		rc = sp__header_names(&j->opts->format, j->opts->separator, &first, &list,
				      &names.n);
		names.names = list;
		if (!rc && first.bytes)
			rc = sp__bytes_set(&j->results.header, first.data, first.bytes, NULL);
	}
	if (rc)
		return no_memory(j);
	rc = sp__group_spec_parse(&j->spec, &words, &names, j->err);
	free(list);
	if (!rc)
		rc = sp__group_order_parse(&j->results.order, order, &j->spec, j->err);
	if (!rc && j->opts->having)
		rc = sp__group_having_parse(&j->results.having, j->opts->having, &j->spec, j->err);
	return rc;
}

static int open_workers(struct job *j)
{
	const char byte = j->opts->format.kind == SP_REC_CSV ? j->opts->format.separator
							     : (char)j->opts->separator;
	const bool csv = j->opts->format.kind == SP_REC_CSV;
	int rc;

	j->input = (struct sp__group_input){ .spec = &j->spec,
					     .format = j->opts->format,
					     .null_text = j->opts->null_text,
					     .null_bytes = j->opts->null_text
								   ? strlen(j->opts->null_text)
								   : 0,
					     .skip_invalid = j->opts->skip_invalid };
	sp__cut_init(&j->input.cut, csv || j->opts->separator >= 0 ? &byte : NULL, 1, csv);
	if (j->opts->header || j->opts->json) {
		rc = sp__group_names_check(&j->spec, &j->input.cut, line_end(j), j->opts->json,
					   j->err);
		if (rc)
			return rc;
	}
	j->workers =
		aligned_alloc(_Alignof(struct sp__group_worker), j->nworkers * sizeof(*j->workers));
	if (!j->workers)
		return no_memory(j);
	memset(j->workers, 0, j->nworkers * sizeof(*j->workers));
	return 0;
}

static void close_workers(struct job *j)
{
	for (unsigned i = 0; j->workers && i < j->nworkers; i++)
		if (j->workers[i].in)
			sp__group_worker_close(&j->workers[i]);
	free(j->workers);
	j->workers = NULL;
}

/* Reads records. */

/* Records the error of a value that is not what is needed. */
static int bad_value(const struct sp__group_worker *w, const char *input, uint64_t line,
		     struct sp_errinfo *err)
{
	return sp__errf(err, SP_EFORMAT, "group", input, -1,
			"line %llu: %s: '%.*s' is not %s; --null=TEXT names a text that stands "
			"for no value, --skip-invalid leaves such records out",
			(unsigned long long)line, w->bad_of, (int)sp__min(w->bad.text.n, SHOWN),
			w->bad.text.p, w->bad.wanted);
}

/* Records the error of a worker, which no value has caused. */
static int failed(int rc, const char *input, struct sp_errinfo *err)
{
	if (rc == -EMSGSIZE)
		return sp__errf(err, rc, "group", input, -1,
				"a record needs more than 2 GiB of a table of groups");
	return sp__err(err, rc, "allocate", NULL, -1);
}

static int take(struct job *j, unsigned worker, struct sp_batch *from, uint64_t position,
		struct sp_batch *records)
{
	struct sp__group_worker *w = &j->workers[worker];
	const size_t bytes = from->bytes;
	int rc = w->in ? 0 : sp__group_worker_open(w, &j->input, j->worker_bytes);

	if (!rc)
		rc = sp__group_worker_take(w, from, position, records);
	w->bytes += bytes - from->bytes;
	return rc;
}

/* Is a function sp__sort_encode_fn. */
static int take_part(void *arg, unsigned worker, struct sp__part *part, struct sp_batch *from,
		     struct sp_batch *records)
{
	struct job *j = arg;
	uint64_t lines = 0;
	int rc;

	if (!worker)
		sp__progress_report(&j->progress, SP_GROUP_READ, sp__parts_bytes(j->parts),
				    j->total_bytes);
	rc = take(j, worker, from, part->before + sp__part_at(part, from), records);
	if (rc == SP_EFORMAT) {
		/* A line that cannot be read again is not counted. */
		(void)!sp__lines_before(part->where.fd,
					part->from + sp__part_at(part, from) +
						sp__scan_blank_bytes(part->scan),
					line_end(j), &lines);
		return bad_value(&j->workers[worker], j->io->inputs[part->input], lines + 1,
				 &part->err);
	}
	return rc ? failed(rc, j->io->inputs[part->input], &part->err) : 0;
}

static int read_parts(struct job *j)
{
	int rc = sp__sort_put_parts(j->partials.sort, j->parts, j->total_bytes, take_part, j);

	if (!rc)
		rc = sp__parts_end(j->parts);
	j->blank_lines = sp__parts_blank_lines(j->parts);
	return rc;
}

/* Takes a batch in order. */
static int take_batch(struct job *j, struct sp_batch batch, uint64_t position)
{
	const char *begin = batch.data, *input;
	struct sp_batch records;
	uint64_t lines;
	size_t number;
	int rc = 0;

	sp__scan_place(j->scan, &number, &lines);
	input = j->io->inputs[number];
	while (rc >= 0 && batch.bytes) {
		rc = take(j, 0, &batch, position + (uint64_t)(batch.data - begin), &records);
		lines += rc ? sp__count_bytes(begin, (size_t)(batch.data - begin), line_end(j)) : 0;
		if (rc == SP_EFORMAT)
			return bad_value(&j->workers[0], input, lines + 1, j->err);
		if (rc)
			return failed(rc, input, j->err);
		if (records.bytes)
			rc = sp__sort_put_all(j->partials.sort, &records);
	}
	return rc < 0 ? rc : 0;
}

/* Reads the inputs in order, by this thread; begins with a batch, unless rc is SP_END. */
static int read_scan(struct job *j, int rc, struct sp_batch *batch)
{
	struct sp__iter it = { j->scan, sp__scan_next };
	uint64_t position = 0;

	while (rc == SP_READY) {
		rc = take_batch(j, *batch, position);
		if (rc)
			return rc;
		position += batch->bytes;
		sp__progress_report(&j->progress, SP_GROUP_READ, sp__scan_bytes(j->scan),
				    j->total_bytes);
		rc = sp__iter_next(&it, &j->waits, batch);
	}
	j->blank_lines = sp__scan_blank_lines(j->scan);
	return rc == SP_END ? 0 : rc;
}

/* Compares what the workers took with what was read. */
static int check_read(struct job *j)
{
	const uint64_t owed = j->parts ? sp__parts_owed(j->parts) : sp__scan_owed(j->scan);
	uint64_t bytes = 0;

	for (unsigned i = 0; i < j->nworkers; i++)
		bytes += j->workers[i].bytes;
	return bytes == owed ? 0 : sp__err(j->err, SP_EBALANCE, "group", NULL, -1);
}

static int read_input(struct job *j)
{
	struct sp__scan_opts o = scan_options(j);
	struct sp_batch header, batch = { 0 };
	int rc = open_parts(j), first = SP_READY;

	if (!rc && !j->parts) {
		rc = sp__scan_open(&j->scan, &o);
		if (!rc)
			first = sp__iter_next(&(struct sp__iter){ j->scan, sp__scan_next },
					      &j->waits, &batch);
		rc = first < 0 ? first : rc;
	}
	if (rc)
		return rc;
	if (j->parts)
		sp__parts_header(j->parts, &header);
	else
		sp__scan_header(j->scan, &header);
	rc = resolve(j, &header, first == SP_END && !header.bytes);
	if (!rc)
		rc = open_workers(j);
	if (!rc)
		rc = j->parts ? read_parts(j) : read_scan(j, first, &batch);
	return rc ? rc : check_read(j);
}

/* Gives the groups that are left in the tables to the sort. */
static int put_rest(struct job *j)
{
	struct sp_batch records;
	int rc = 0;

	for (unsigned i = 0; rc >= 0 && i < j->nworkers; i++) {
		struct sp__group_worker *w = &j->workers[i];

		while (w->in && rc >= 0 && (rc = sp__group_worker_rest(w, &records)) == SP_READY)
			rc = records.bytes ? sp__sort_put_all(j->partials.sort, &records) : 0;
		if (w->in)
			sp__group_table_close(&w->table);
	}
	if (rc == -ENOMEM)
		return no_memory(j);
	return rc < 0 ? rc : sp__sorter_finish(&j->partials);
}

/* Results. */

static int begin_output(struct job *j)
{
	struct sp__wstream_opts writing = sp__env_writing(env_of(j));
	const struct sp_batch none = { NULL, 0 };
	int rc = sp__result_begin(&j->write, &writing);

	if (!rc)
		rc = sp__result_put_header(&j->write, &none);
	return rc < 0 || !j->opts->header || j->opts->json ? rc
							   : sp__group_results_header(&j->results);
}

/* Combines partial records, up to the first ones already fetched (rc). */
static int combine(struct job *j, int rc, struct sp_batch *batch)
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

static int write_sorted_rows(struct job *j)
{
	struct sp_batch batch;
	int rc = sp__sorter_finish(&j->rows);

	while (!rc && (rc = sp__sort_get_next(j->rows.sort, &batch)) == SP_READY)
		rc = sp__group_results_rows(&j->results, &batch);
	return rc == SP_END ? 0 : rc;
}

/* Compares the records of all groups with those that were read. */
static int check_groups(struct job *j)
{
	uint64_t records = 0;

	for (unsigned i = 0; i < j->nworkers; i++)
		records += j->workers[i].records - j->workers[i].skipped - j->workers[i].filtered;
	return records == j->results.records ? 0 : sp__err(j->err, SP_EBALANCE, "group", NULL, -1);
}

static int write_result(struct job *j)
{
	struct sp_batch batch;
	/* All input has been read before the output is touched. */
	int rc = sp__sort_get_next(j->partials.sort, &batch), first = rc;

	if (rc >= 0 && j->rows_bytes)
		rc = open_sort(j, &j->rows, j->rows_bytes, env_of(j));
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
	rc = sp__group_results_flush(&j->results);
	if (!rc)
		rc = sp__result_finish(&j->write);
	if (!rc)
		sp__sort_sync(j->partials.sort);
	return rc < 0 ? rc : sp__result_commit(&j->write);
}

static int run(struct job *j)
{
	bool all;
	int rc = sp__group_options_check(j->opts, j->err);

	if (rc)
		return rc;

	if (j->opts->format.kind == SP_REC_FIXED)
		return sp__errf(j->err, SP_EUNSUP, "plan", NULL, -1,
				"records of a fixed length have no fields to group by");
	rc = sp__output_set_check(j->io->output, j->opts->run.trace_path,
				  j->opts->run.trace_tasks_path, j->io->inputs, j->io->ninputs,
				  j->err);
	if (rc)
		return rc;
	j->total_bytes =
		sp__inputs_bytes(j->io->inputs, j->io->ninputs, j->opts->run.decompress, &all);
	if (!all)
		j->total_bytes = 0;
	rc = open_partials(j);
	if (!rc)
		rc = sp__inputs_lay(sp__env_reading(env_of(j)).device, j->io->inputs,
				    j->io->ninputs, &j->sim_file, j->err);
	if (!rc)
		rc = read_input(j);
	if (!rc)
		rc = put_rest(j);
	if (rc)
		return rc;
	j->read_ns = sp__env_now_ns(env_of(j));
	return write_result(j);
}

static void note(const struct job *j, struct sp_group_stats *st)
{
	struct sp_sort_stats sorted = { 0 };
	struct sp__io_counters c;

	*st = (struct sp_group_stats){ .groups = j->results.groups,
				       .output_records = j->results.rows,
				       .output_bytes = j->results.bytes,
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
	if (!st->run.simulated)
		st->run.elapsed_s = (double)(sp__now_ns() - j->begin_ns) * 1e-9;
	if (j->read_ns) {
		const uint64_t begin_ns = st->run.simulated ? 0 : j->begin_ns;
		const double read_s = (double)(j->read_ns - begin_ns) * 1e-9;

		st->phase_elapsed_s[SP_GROUP_READ] = read_s;
		st->phase_elapsed_s[SP_GROUP_COMBINE] = st->run.elapsed_s - read_s;
	}
}

/* Returns SP__MISCUT if the inputs must be read in order. */
static int run_job(const struct sp_group_opts *opts, const struct sp_group_io *io, bool in_order,
		   struct sp_group_stats *stats, struct sp_errinfo *err)
{
	struct job j = { .opts = opts,
			 .io = io,
			 .in_order = in_order,
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
	int rc, closed;

	j.write = (struct sp__sort_result){ .io = &j.output, .err = err };
	j.results.in = &j.input;
	j.results.spec = &j.spec;
	j.results.write = &j.write;
	rc = run(&j);
	if (stats)
		note(&j, stats);
	close_workers(&j);
	sp__group_results_close(&j.results);
	sp__group_spec_free(&j.spec);
	sp__result_close(&j.write);
	sp__scan_close(j.scan);
	sp__parts_close(j.parts);
	(void)sp__sorter_close(&j.rows);
	/* A trace that cannot be written is an error, unless there was one before. */
	closed = sp__sorter_close(&j.partials);
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
