/* SPDX-License-Identifier: MIT */
/*
 * Writes the first record of each key, in the order of the input (keep_order).
 *
 * Algorithm: a table of keys (records/distinct.h) shows whether a record is the first one with its
 * key; then it is written immediately.  When the table is full, two sorts find the first records
 * (twosorts.h), which are written except those that have been written before.
 *
 * If the inputs can be read by parts (flow/parts.h), the threads of the first sort number and sort
 * all of their records.  Otherwise the records of the table are put into it, and then the rest of
 * the input.
 *
 * States: seeing (there is a table), sorting (the sorts are open).
 *
 * Memory: the table and the first sort, then the two sorts, have 7/16 of the memory each; streams
 * of input and output have the rest.
 *
 * Rejected: a table that is kept as a filter while records are sorted.  It is useless where keys
 * are all different, and the first sort has tables of its own.
 */
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/err.h"
#include "base/output_set.h"
#include "base/whole.h"
#include "flow/scan.h"
#include "obs/progress.h"
#include "rec/collate.h"
#include "run/memory.h"
#include "sort/firsts.h"
#include "sort/twosorts.h"
#include "sort/records/runbuf.h"
#include "sort/result.h"
#include "sort/state.h"

#define SHARE(bytes) ((bytes) / 16 * 7)
#define HUGE_BYTES (UINT64_C(16) << 20)

struct firsts {
	struct sp_sort_opts opts;
	const struct sp_sort_io *io;
	struct sp_errinfo *err;
	struct sp__env env;
	struct sp__waits waits;
	struct sp__scan *scan;
	struct stat *inputs; /* as they were before the scan */
	struct sp__io_counters parts_io;
	struct sp__sort_result result;
	struct sp__progress progress;
	uint64_t total_bytes, begin_ns;

	bool hold; /* write nothing before the input has ended */
	struct sp__runbuf seen;
	char *memory; /* of `seen`; NULL: there is no table */
	size_t share; /* bytes for the table, or for a sort */

	struct sp__twosorts twosorts;

	uint64_t bytes; /* put so far */
	uint64_t written, written_bytes;
};

static bool full(const struct firsts *f)
{
	return f->opts.top && f->written == f->opts.top;
}

static int write_record(struct firsts *f, const char *rec, size_t bytes)
{
	if (full(f))
		return 0;
	f->written++;
	f->written_bytes += bytes;
	return sp__result_put(&f->result, &(struct sp_batch){ rec, bytes });
}

/* Writes a batch, without the first *already records, and reduces their number. */
static int write_records(struct firsts *f, const struct sp_batch *batch, uint64_t *already)
{
	const char *p = batch->data, *end = p + batch->bytes, *next;
	int rc = 0;

	for (; !rc && p < end; p = next) {
		next = sp__rec_end(&f->opts.format, p, (size_t)(end - p));
		if (*already)
			--*already;
		else
			rc = write_record(f, p, (size_t)(next - p));
	}
	return rc;
}

/* Writes the header, whose end is known with the first batch. */
static int begin_result(struct firsts *f)
{
	struct sp__wstream_opts writing;
	struct sp_batch header;
	int rc;

	if (f->result.stream)
		return 0;
	writing = sp__env_writing(&f->env);
	writing.expected_bytes = f->hold ? 0 : f->total_bytes;
	rc = sp__result_begin(&f->result, &writing);
	sp__scan_header(f->scan, &header);
	return rc < 0 ? rc : sp__result_put_header(&f->result, &header);
}

/* Writes the records of the table from number `from` on. */
static int write_seen(struct firsts *f, size_t from)
{
	int rc = begin_result(f);

	for (size_t i = from; !rc && i < f->seen.n; i++) {
		size_t bytes;
		const char *rec =
			sp__runbuf_record(&f->seen, &f->seen.entries[f->seen.n - 1 - i], &bytes);

		rc = write_record(f, rec, bytes);
	}
	return rc;
}

static void free_table(struct firsts *f)
{
	if (f->memory)
		sp__budget_credit(&f->env.budget, f->share);
	sp__pages_free(f->memory, f->share);
	f->memory = NULL;
}

static struct sp__scan_opts scan_options(struct firsts *f)
{
	const struct sp_sort_io *io = f->io;
	struct sp__scan_opts o = { .format = f->opts.format,
				   .inputs = io->inputs,
				   .ninputs = io->ninputs,
				   .header_records = io->header_records,
				   .header_first = io->header_first,
				   .separator = sp__key_separator(f->opts.keys),
				   .keys = f->opts.keys,
				   .ahead = io->ahead,
				   .stream = sp__env_reading(&f->env),
				   .waits = &f->waits,
				   .err = f->err };

	o.stream.whole = true;
	return o;
}

static int open_scan(struct firsts *f)
{
	struct sp__scan_opts o = scan_options(f);

	return sp__scan_open(&f->scan, &o);
}

static int take_input(struct firsts *f);

static void tell_read(void *firsts, uint64_t bytes)
{
	struct firsts *f = firsts;

	sp__progress_report(&f->progress, SP_PHASE_RUN_FORMATION, bytes, f->total_bytes);
}

/* SP_EUNSUP: the inputs have changed since the scan began, or it reads what has no name. */
static int compare_inputs(const struct firsts *f)
{
	for (size_t i = 0; i < f->io->ninputs; i++) {
		const char *name = f->io->inputs[i];
		struct stat now;

		if (!strcmp(name, "-") || stat(name, &now) || !sp__same_file(&now, &f->inputs[i]))
			return SP_EUNSUP;
	}
	return 0;
}

static int open_twosorts(struct firsts *f)
{
	return sp__twosorts_open(&f->twosorts, &f->opts, f->share, f->err);
}

static int put_parts(struct firsts *f, struct sp__parts *parts)
{
	int rc = sp__twosorts_put_parts(&f->twosorts, parts, f->total_bytes, tell_read, f);

	f->bytes = sp__twosorts_bytes(&f->twosorts);
	if (!rc)
		rc = sp__parts_end(parts);
	if (!rc && f->bytes != sp__parts_owed(parts))
		rc = sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return rc;
}

/* Reads all inputs again by a scan, after parts were cut wrongly. */
static int scan_again(struct firsts *f)
{
	int rc;

	*f->err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__twosorts_close(&f->twosorts);
	sp__scan_close(f->scan);
	f->scan = NULL;
	f->bytes = 0;
	rc = open_scan(f);
	if (!rc)
		rc = open_twosorts(f);
	return rc ? rc : take_input(f);
}

/*
 * Puts the records of all inputs, read by parts, into the first sort.  Returns SP_END; SP_EUNSUP,
 * if the scan must go on; or an error.
 */
static int sort_parts(struct firsts *f)
{
	struct sp__scan_opts o = scan_options(f);
	struct sp__parts *parts;
	int rc;

	if (!f->total_bytes || !sp__sort_reads_parts(f->twosorts.by_key.sort, &o.stream))
		return SP_EUNSUP;
	rc = sp__parts_open(&parts, &o,
			    sp__sort_part_bytes(f->twosorts.by_key.sort, f->total_bytes));
	if (rc)
		return rc;
	rc = compare_inputs(f);
	if (!rc) {
		f->seen.dropped = (struct sp__tally){ 0 }; /* is counted again */
		free_table(f);
		rc = put_parts(f, parts);
	}
	sp__parts_counters(parts, &f->parts_io);
	sp__parts_close(parts);
	return rc == SP__MISCUT ? scan_again(f) : rc ? rc : SP_END;
}

/* Puts the records of the full table into the first sort. */
static int put_seen(struct firsts *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && f->memory && i < f->seen.n; i++) {
		size_t bytes;
		const char *rec =
			sp__runbuf_record(&f->seen, &f->seen.entries[f->seen.n - 1 - i], &bytes);

		rc = sp__twosorts_put(&f->twosorts, rec, bytes);
	}
	free_table(f);
	return rc;
}

/* Returns SP_READY if the scan must go on; SP_END if all is in the first sort; or an error. */
static int start_sorting(struct firsts *f)
{
	int rc = open_twosorts(f);

	if (rc)
		return rc;
	rc = sort_parts(f);
	if (rc != SP_EUNSUP)
		return rc;
	rc = put_seen(f);
	return rc ? rc : SP_READY;
}

/* Looks up a batch; sets how many of its bytes the table took. */
static int look_up(struct firsts *f, const struct sp_batch *batch, size_t *taken)
{
	size_t before = f->seen.n;
	int rc = sp__runbuf_add(&f->seen, batch->data, batch->bytes, taken);

	if (rc < 0)
		return sp__err(f->err, rc, "allocate", NULL, -1);
	if (f->seen.added.records != f->seen.n + f->seen.dropped.records)
		return sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return f->hold ? 0 : write_seen(f, before);
}

/* Returns SP_READY; SP_END if it has read all the rest; or an error. */
static int take(struct firsts *f, const struct sp_batch *batch)
{
	size_t taken = 0;
	int rc = f->memory ? look_up(f, batch, &taken) : 0;

	f->bytes += batch->bytes;
	if (rc)
		return rc;
	if (f->memory && taken == batch->bytes)
		return SP_READY;
	rc = sp__twosorts_is_open(&f->twosorts) ? SP_READY : start_sorting(f);
	if (rc != SP_READY)
		return rc;
	rc = sp__twosorts_put(&f->twosorts, batch->data + taken, batch->bytes - taken);
	return rc ? rc : SP_READY;
}

/* Reads the input, up to the record that completes the result. */
static int take_input(struct firsts *f)
{
	struct sp__iter it = { f->scan, sp__scan_next };
	struct sp_batch batch;
	int rc;

	while ((rc = sp__iter_next(&it, &f->waits, &batch)) == SP_READY) {
		rc = take(f, &batch);
		if (rc != SP_READY || full(f))
			return rc;
		tell_read(f, sp__scan_bytes(f->scan));
	}
	if (rc == SP_END && f->bytes != sp__scan_owed(f->scan))
		return sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return rc;
}

/* Writes the first records, except those that have been written before. */
static int write_sorted(struct firsts *f)
{
	uint64_t already = f->written;
	struct sp_batch records;
	int rc = sp__twosorts_finish(&f->twosorts);

	if (!rc)
		rc = begin_result(f);
	while (!rc && (rc = sp__twosorts_get(&f->twosorts, &records)) == SP_READY) {
		rc = write_records(f, &records, &already);
		sp__progress_report(&f->progress, SP_PHASE_MERGE, f->written_bytes, f->bytes);
	}
	if (rc == SP_END && !f->opts.top && f->written != sp__twosorts_given(&f->twosorts))
		return sp__err(f->err, SP_EBALANCE, "sort", NULL, -1);
	return rc < 0 ? rc : 0;
}

/* True if nothing can be written while the input is read. */
static bool must_hold(const struct firsts *f)
{
	struct stat in;

	/* Damage, or a wrong value, can be found late. */
	if (f->opts.run.decompress || sp__ks(f->opts.keys)->checks)
		return true;
	for (size_t i = 0; i < f->io->ninputs; i++) {
		const char *name = f->io->inputs[i];

		if ((strcmp(name, "-") ? stat(name, &in) : fstat(0, &in)) == 0 &&
		    sp__result_overwrites(&f->result, &in))
			return true;
	}
	return false;
}

static int open_table(struct firsts *f)
{
	/* Without a byte key a record cannot be in the table. */
	if (sp__ks(f->opts.keys)->form == SP__KEY_COLLATED)
		return 0;
	f->memory = sp__pages_alloc(f->share, f->total_bytes >= HUGE_BYTES);
	if (!f->memory)
		return sp__err(f->err, -ENOMEM, "allocate", NULL, -1);
	sp__budget_charge(&f->env.budget, f->share);
	sp__runbuf_init(&f->seen, f->opts.keys);
	sp__runbuf_use(&f->seen, f->memory, f->share);
	sp__runbuf_collapse_always(&f->seen);
	return 0;
}

static int check(const struct firsts *f)
{
	const struct sp_sort_opts *o = &f->opts;
	const char *with = !o->unique		     ? "without unique"
			   : o->count		     ? "with count"
			   : f->io->merge	     ? "for a merge"
			   : f->io->splitters	     ? "with parts"
			   : f->io->resume	     ? "with checkpoints"
			   : o->run.volume	     ? "with a volume"
			   : o->run.trace_path	     ? "with a trace"
			   : o->run.trace_tasks_path ? "with a log of tasks"
						     : NULL;

	if (with)
		return sp__errf(f->err, SP_EUNSUP, "plan", NULL, -1,
				"the order of the input cannot be kept %s", with);
	return sp__output_set_check(f->io->output, NULL, NULL, f->io->inputs, f->io->ninputs,
				    f->err);
}

static int open_all(struct firsts *f)
{
	bool all;
	int rc = check(f);

	if (rc < 0)
		return rc;
	f->total_bytes =
		sp__inputs_bytes(f->io->inputs, f->io->ninputs, f->opts.run.decompress, &all);
	if (!all)
		f->total_bytes = 0;
	f->inputs = calloc(f->io->ninputs, sizeof(*f->inputs));
	if (!f->inputs)
		return sp__err(f->err, -ENOMEM, "allocate", NULL, -1);
	for (size_t i = 0; i < f->io->ninputs; i++)
		(void)!stat(f->io->inputs[i], &f->inputs[i]);
	sp_sort_expect(&f->opts, f->io->inputs, f->io->ninputs);
	rc = sp__env_open(&f->env, &f->opts.run, f->err);
	f->share = SHARE(sp__working_memory(&f->opts.run, f->opts.run.memory_bytes)) & ~4095u;
	if (!rc)
		rc = sp__result_prepare(&f->result);
	f->hold = !rc && must_hold(f);
	if (!rc)
		rc = open_table(f);
	return rc ? rc : open_scan(f);
}

static int run(struct firsts *f)
{
	int rc = open_all(f);

	if (!rc)
		rc = take_input(f);
	if (rc < 0)
		return rc;
	if (sp__twosorts_is_open(&f->twosorts))
		rc = write_sorted(f);
	else
		rc = write_seen(f, f->hold ? 0 : f->seen.n);
	if (!rc)
		rc = sp__collate_check(f->opts.keys, f->err);
	if (!rc)
		rc = sp__result_finish(&f->result);
	return rc ? rc : sp__result_commit(&f->result);
}

static void note(struct firsts *f, struct sp_sort_stats *st)
{
	const bool sorted = sp__twosorts_is_open(&f->twosorts);
	struct sp__io_counters c;

	*st = (struct sp_sort_stats){ 0 };
	if (sorted)
		sp__twosorts_stats(&f->twosorts, st);
	else
		(void)!sp_sort_plan(&f->opts, &st->plan, NULL);
	sp__env_note(&f->env, &st->run, f->io->device_counters);
	if (f->scan) {
		sp__scan_counters(f->scan, &c);
		sp__env_note_io(&st->run, &c);
	}
	sp__env_note_io(&st->run, &f->parts_io);
	sp__result_counters(&f->result, &c);
	sp__env_note_io(&st->run, &c);
	st->records = sorted ? f->seen.dropped.records + st->records : f->seen.added.records;
	st->collapsed += f->seen.dropped.records;
	st->output_records = f->written;
	st->input_bytes = f->bytes;
	st->output_bytes = f->written_bytes;
	st->run.elapsed_s = (double)(sp__now_ns() - f->begin_ns) * 1e-9;
}

int sp__firsts_run(const struct sp_sort_opts *opts, const struct sp_sort_io *io,
		   struct sp_sort_stats *stats, struct sp_errinfo *err)
{
	struct firsts f = { .opts = *opts,
			    .io = io,
			    .err = err,
			    .result = { .io = io, .err = err },
			    .progress = { .tell = io->progress,
					  .arg = io->progress_arg,
					  .phase = -1,
					  .last = SP_PHASE_MERGE },
			    .begin_ns = sp__now_ns() };
	int rc, closed;

	rc = run(&f);
	if (stats && f.env.opts)
		note(&f, stats);
	sp__result_close(&f.result);
	sp__scan_close(f.scan);
	sp__runbuf_release(&f.seen);
	free_table(&f);
	sp__twosorts_close(&f.twosorts);
	free(f.inputs);
	closed = sp__env_close(&f.env);
	return rc < 0 ? rc : closed;
}
