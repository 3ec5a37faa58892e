/* SPDX-License-Identifier: MIT */
/*
 * Runs a join of files: fills in what its options leave open, checks, opens inputs and result, runs
 * one algorithm after the other until all pairs are found, and closes everything.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/enum.h"
#include "base/err.h"
#include "base/outfile_impl.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "join/hash/stage.h"
#include "join/inl/inl.h"
#include "join/merge/merge.h"
#include "join/state.h"

void sp_join_expect(struct sp_join_opts *opts, const char *const inputs[2])
{
	for (int i = 0; i < 2; i++) {
		struct sp_sort_opts so = SP_SORT_OPTS_INIT;

		so.format = sp__join_format(opts, i);
		so.run.decompress = opts->run.decompress;
		sp_sort_expect(&so, &inputs[i], 1);
		if (!opts->input_bytes[i])
			opts->input_bytes[i] = so.input_bytes;
		if (!opts->record_bytes[i])
			opts->record_bytes[i] =
				opts->fixed_bytes[i] ? opts->fixed_bytes[i] : so.record_bytes;
	}
	if (opts->algorithm == SP_JOIN_AUTO && !opts->ordered && !opts->run.volume &&
	    !opts->run.decompress && opts->sorted == SP_JOIN_SORTED_UNKNOWN)
		opts->sorted = sp__join_detect(opts, inputs);
}

/* Refuses options that a join of JSON lines does not have. */
static int check_json(const struct sp_join_opts *o, const struct sp_join_io *io,
		      struct sp_errinfo *err)
{
	const char *what = NULL;

	if (!o->nkeys || !o->paths[0] || !o->paths[1])
		return sp__errf(err, -EINVAL, "plan", NULL, -1,
				"JSON lines need paths of the key in both files");
	if (o->csv || o->fixed_bytes[0] || o->header || o->eol != '\n')
		what = "another format of records, or a header";
	else if (o->auto_columns || o->filler || o->ignore_case)
		what = "the columns of first lines, a filler, or keys without case";
	else if (o->nested && o->ncolumns)
		what = "columns of nested records";
	else if (o->rows == SP_JOIN_ROWS_CSV && !o->ncolumns)
		what = "CSV without columns";
	else if (o->algorithm == SP_JOIN_MERGE || sp__is_inl(o->algorithm) || o->index[0] ||
		 o->index[1] || o->nthen)
		what = "a merge, indexes, or further files";
	else if (io->next)
		what = "batches of the caller";
	return what ? sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			       "a join of JSON lines does not support %s", what)
		    : 0;
}

/* Refuses formats of the result that other records cannot have. */
static int check_rows(const struct sp_join_opts *o, struct sp_errinfo *err)
{
	if (o->rows == SP_JOIN_ROWS_JSON && (!o->header || o->eol != '\n' || o->fixed_bytes[0]))
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"a result in JSON needs lines with a header");
	if (o->rows == SP_JOIN_ROWS_CSV && !o->csv)
		return sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
				"a result in CSV needs inputs in CSV or JSON");
	return 0;
}

/* Checks the options before anything is opened. */
static int check_opts(const struct sp_join_opts *o, const struct sp_join_io *io,
		      struct sp_errinfo *err)
{
	int rc = 0;

	if (o->fixed_bytes[0] || o->fixed_bytes[1])
		rc = sp__binary_check(o, err);
	if (!rc)
		rc = o->json ? check_json(o, io, err) : check_rows(o, err);
	if (!rc && o->where && o->fixed_bytes[0])
		rc = sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			      "--where: records of a fixed length have no fields for a condition");
	if (!rc && sp__is_inl(o->algorithm))
		rc = sp__inl_check(o, io, err);
	else if (!rc && o->nthen)
		rc = sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			      "further files are joined by index nested loops");
	if (!rc && io->next && sp__is_inl(o->algorithm))
		rc = sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			      "index nested loops read named files, no batches of the caller");
	if (!rc && o->run.compression != SP_SPILL_RAW)
		rc = sp__errf(err, SP_EUNSUP, "plan", NULL, -1,
			      "a join does not compress its temporary data");
	return rc ? rc
		  : sp__output_set_check(io->output, o->run.trace_path, o->run.trace_tasks_path,
					 io->inputs, 2, err);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return S_ISREG(a->st_mode) && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* False if path is NULL. */
static bool is_file(const char *path, const struct stat *file)
{
	struct stat st;

	return path && !stat(path, &st) && same_file(&st, file);
}

/* True if the file is an input, or the index of one. */
static bool is_read(const struct sp__join *j, const struct stat *file)
{
	const struct sp_join_opts *o = &j->opts;
	bool is = false;
	struct stat st;

	for (int i = 0; i < 2; i++) {
		const struct sp__scan *scan = j->in.source[i].scan;

		is |= scan ? !fstat(sp__scan_fd(scan), &st) && same_file(&st, file)
			   : is_file(j->io->inputs[i], file);
		is |= is_file(o->index[i], file);
	}
	for (size_t i = 0; i < o->nthen; i++)
		is |= is_file(o->then[i].input, file) || is_file(o->then[i].index, file);
	return is;
}

/* Refuses an output that is written in place, and so truncated first, if it is an input. */
static int spare_inputs(struct sp__join *j)
{
	const char *path = j->io->output;
	struct stat st;

	if (!path || !sp_outfile_in_place(j->result.file) || stat(path, &st) || !is_read(j, &st))
		return 0;
	return sp__errf(j->env.err, SP_EUNSUP, "write", path, -1,
			"an input cannot be written in place");
}

static int open_file(struct sp__join *j)
{
	int rc = sp_outfile_open(&j->result.file, j->io->output, 0, j->env.err);

	if (!rc)
		rc = spare_inputs(j);
	return rc ? rc : sp_outfile_begin(j->result.file, j->env.err);
}

/* True if file 1 begins with a byte order mark. */
static bool file1_marked(void *join)
{
	struct sp__join *j = join;
	char text[SP__UTF8_MARK_BYTES];
	bool marked = false;
	int fd;

	if (j->in.source[0].scan)
		return sp__scan_marked(j->in.source[0].scan);
	if (j->io->next)
		return false;
	/* Index nested loops read file 1 by its index, so it is a regular file. */
	fd = sp__input_open(j->io->inputs[0], NULL);
	if (fd < 0)
		return false;
	if (sp__read_whole(fd, text, sizeof(text), 0) == sizeof(text))
		marked = sp__utf8_mark(text, sizeof(text));
	sp__input_close(j->io->inputs[0], fd);
	return marked;
}

/* Opens the output, which stays unchanged until it is complete, unless it is written in place. */
static int open_result(struct sp__join *j)
{
	struct sp__emit *e = &j->result.emit;

	e->marked = file1_marked;
	e->marked_arg = j;
	e->mark_due = j->opts.csv && j->opts.rows != SP_JOIN_ROWS_JSON;
	j->result.fd = j->io->output ? open_file(j) : j->io->output_fd;
	return j->result.fd < 0 ? j->result.fd : sp__result_open(&j->result);
}

/* Begins a result without records: file 1 might not have been read. */
static int begin_empty(struct sp__join *j)
{
	struct sp__source *file1 = &j->in.source[0];
	int rc = 0;

	if (!j->result.emit.mark_due || j->opts.limited)
		return 0;
	if (file1->scan && !file1->bytes && !file1->ended)
		rc = sp__source_fill(file1);
	return rc < 0 ? rc : sp__emit_begin(&j->result.emit);
}

/* Ends the records and writes everything; returns rc, or an error if rc is 0. */
static int end_result(struct sp__join *j, int rc)
{
	int ended;

	rc = rc == SP__LIMIT_REACHED ? 0 : rc;
	if (j->result.emit.error == SP__LIMIT_REACHED)
		j->result.emit.error = 0;
	if (!rc && j->result.ws && !j->result.emit.records)
		rc = begin_empty(j);
	/*
	 * Pairs found before disorder or an error are written too, except those of a damaged file
	 * or of a file that is not JSON.
	 */
	ended = j->result.ws && !(rc == SP_EFORMAT && (j->in.read.unpack || j->opts.json))
			? sp__result_write(&j->result)
			: 0;
	sp__timeline_end(&j->result.timeline);

	if (j->result.ws && !ended)
		sp__env_sync(&j->env, NULL);
	rc = rc < 0 || ended >= 0 ? rc : ended;
	return rc ? rc : sp_outfile_commit(j->result.file, j->env.err);
}

static int open_source(struct sp__join *j, int side)
{
	const struct sp_recfmt format = sp__join_format(&j->opts, side);
	int rc = format.json
			 ? sp__json_keyset(&j->in.json[side], &j->opts, side, &format, j->env.err)
			 : 0;

	if (rc)
		return rc;
	rc = j->io->next ? 0
			 : sp__inputs_lay(j->in.read.device, &j->io->inputs[side], 1,
					  &j->in.read.sim_file, j->env.err);

	return rc ? rc : sp__source_open(&j->in, side);
}

/* Opens the file of a source, and notes its state. */
static int begin_file(struct sp__join *j, int side)
{
	struct sp__scan *scan = j->in.source[side].scan;
	int rc = sp__scan_begin(scan);

	if (rc < 0 || !fstat(sp__scan_fd(scan), &j->in.file[side]))
		return rc;
	return sp__err(j->env.err, -errno, "read", j->io->inputs[side], -1);
}

static int open_all(struct sp__join *j, struct sp_errinfo *err)
{
	int rc = sp__env_open(&j->env, &j->opts.run, err);

	j->in.read = sp__env_reading(&j->env);
	j->in.read.whole = !j->opts.limited;
	j->in.read.unpack_bytes /= 2; /* both are open at the same time */
	j->in.read.unpack_share *= 2;
	if (!rc)
		rc = sp__emit_init(&j->result.emit, &j->opts, j->env.err);
	j->result.emit.inputs = j->io->inputs;
	for (int i = 0; i < 2 && !rc; i++)
		if (sp__join_scans(&j->opts, i))
			rc = open_source(j, i);
	/* Before anything is read, since the writer of a FIFO can be waiting for that. */
	for (int i = 0; i < 2 && !rc; i++)
		if (j->in.source[i].scan)
			rc = begin_file(j, i);
	if (rc < 0)
		return rc;
	return open_result(j);
}

/* Reports a failure to write the trace, unless there was an error before. */
static int close_all(struct sp__join *j, int rc)
{
	int closed;

	sp__wstream_close(j->result.ws);
	sp_outfile_close(j->result.file, j->env.err);
	sp__emit_release(&j->result.emit);
	sp__joincondition_free(j->result.where);
	for (int i = 0; i < 2; i++)
		sp__source_close(&j->in.source[i]);
	for (int i = 0; i < 2; i++)
		sp_keyset_free(j->in.json[i]);
	closed = sp__env_close(&j->env);
	return rc < 0 || closed >= 0 ? rc : closed;
}

/* Records the reads of an input since it was opened. */
static void note_reading(struct sp__join *j, struct sp__source *src)
{
	struct sp__io_counters c;

	if (!src->scan)
		return;
	snprintf(j->counts.stats.run.input_engine, sizeof(j->counts.stats.run.input_engine), "%s",
		 sp__scan_engine(src->scan));
	sp__scan_counters(src->scan, &c);
	sp__env_note_io(&j->counts.stats.run, &c);
	if (sp__scan_refused(src->scan))
		sp__env_note_cached(&j->env, &j->counts.stats.run,
				    j->io->inputs[src - j->in.source]);
}

static void note(struct sp__join *j)
{
	struct sp_join_stats *st = &j->counts.stats;
	struct sp__io_counters c;

	for (int i = 0; i < 2; i++) {
		note_reading(j, &j->in.source[i]);
		st->records[i] = j->in.source[i].lines;
		st->input_bytes[i] = j->in.source[i].bytes;
		if (j->in.source[i].scan)
			st->blank_lines[i] = sp__scan_blank_lines(j->in.source[i].scan);
		st->merged_records[i] = j->in.merged[i];
	}
	if (st->prediction.seconds > 0)
		st->prediction.revised_s = sp__progress_end_s(&j->counts.progress, j->env.begin_ns);
	for (int i = 0; i < SP_JOIN_PHASES; i++)
		st->phase_elapsed_s[i] = (double)j->counts.phase_ns[i] * 1e-9;
	st->filtered = j->result.emit.filtering.records;
	st->output_records = j->result.emit.records;
	st->output_bytes = j->result.emit.bytes;
	if (j->result.ws) {
		sp__wstream_counters(j->result.ws, &c);
		sp__env_note_io(&st->run, &c);
	}
	sp__env_note(&j->env, &st->run, false);
}

static int merge(struct sp__join *j)
{
	int rc = sp__merge_check(&j->opts, j->env.err);

	if (rc < 0)
		return rc;
	j->counts.stats.algorithm = SP_JOIN_MERGE;
	j->counts.stats.ordered_by = j->opts.ordered ? SP_JOIN_BY_MERGING : SP_JOIN_ANY_ORDER;
	rc = sp__join_begin_rows(&j->in, &j->result);
	return rc ? rc : sp__join_merge(&j->in, &j->result);
}

/* Opens both inputs again and skips their headers. */
static int read_again(struct sp__join *j)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct sp__source *src = &j->in.source[i];
		size_t bytes;

		note_reading(j, src);
		sp__source_close(src);
		rc = sp__source_open(&j->in, i);
		if (!rc)
			rc = sp__scan_begin(src->scan);
		if (!rc)
			rc = sp__check_continues(sp__scan_fd(src->scan), &j->in.file[i],
						 j->io->inputs[i], j->env.err);
		if (rc || !j->opts.header)
			continue;
		rc = sp__source_fill(src);
		if (rc == SP_READY)
			sp__header_pass(src,
					sp__record_next(&src->format, src->at, src->end, &bytes));
		rc = rc < 0 ? rc : 0;
	}
	j->in.resumed = true;
	return rc;
}

static bool can_be_read_again(const char *name)
{
	struct stat st;

	return strcmp(name, "-") && !stat(name, &st) && S_ISREG(st.st_mode);
}

/* Merges files that seem sorted; 1 if they prove not to be. */
static int try_merge(struct sp__join *j)
{
	int rc = sp__join_layout(&j->opts, &j->layout, j->env.err);

	if (rc < 0)
		return rc;
	if (!sp__join_merges(&j->opts, &j->layout) || j->io->next ||
	    !can_be_read_again(j->io->inputs[0]) || !can_be_read_again(j->io->inputs[1]))
		return 1;
	j->counts.stats.algorithm = SP_JOIN_MERGE;
	rc = sp__join_presorted(&j->in, &j->result, &j->layout);
	if (rc <= 0)
		return rc;
	rc = read_again(j);
	return rc < 0 ? rc : 1;
}

static int join(struct sp__join *j)
{
	int rc;

	j->opts.ordered = sp__join_ordered(&j->opts);
	if (j->opts.algorithm == SP_JOIN_MERGE)
		return merge(j);
	if (sp__is_inl(j->opts.algorithm))
		return sp__join_inl(&j->in, &j->result);
	if (!j->io->next)
		sp_join_expect(&j->opts, j->io->inputs);
	rc = sp__join_begin_rows(&j->in, &j->result);
	if (!rc)
		rc = try_merge(j);
	if (rc <= 0)
		return rc;
	return sp__join_hash(&j->in, &j->result, &j->layout);
}

/* Chooses index nested loops if an index is given; that needs the input sizes before opening. */
static void choose_inl(struct sp_join_opts *o, const char *const inputs[2])
{
	double index_s, hash_s;

	if (o->algorithm == SP_JOIN_AUTO && o->nthen)
		o->algorithm = SP_JOIN_ASYNC_INL;
	if (!o->index[0] && !o->index[1])
		return;
	sp_join_expect(o, inputs);
	if (sp__inl_pays(o, &index_s, &hash_s))
		o->algorithm = SP_JOIN_ASYNC_INL;
}

void sp__join_set(struct sp__join *j, const struct sp_join_opts *opts, const struct sp_join_io *io)
{
	static const size_t first[SP__JSON_KEYS]; /* 0, of each part of a key of JSON */

	j->opts = *opts;
	if (opts->json || !opts->nkeys) {
		j->opts.nkeys = opts->json ? opts->nkeys : 1;
		j->opts.keys[0] = j->opts.keys[1] = first;
	}
	j->io = io;
	j->in.opts = &j->opts;
	j->in.io = io;
	j->in.env = j->result.env = &j->env;
	j->in.counts = &j->counts;
	j->counts.progress.phase = -1;
}

int sp_join_run(const struct sp_join_opts *opts, const struct sp_join_io *io,
		struct sp_join_stats *stats, struct sp_errinfo *err)
{
	struct sp__join j = { .counts.progress = { .tell = io->progress,
						   .arg = io->progress_arg,
						   .last = SP_JOIN_PHASE_JOIN } };
	int rc;

	sp__join_set(&j, opts, io);
	j.result.name = io->output ? io->output : "standard output";
	choose_inl(&j.opts, io->inputs);
	rc = check_opts(&j.opts, io, err);
	if (rc < 0) {
		if (stats)
			*stats = j.counts.stats;
		return rc;
	}
	rc = open_all(&j, err);
	if (!rc)
		rc = join(&j);
	rc = end_result(&j, rc);
	if (stats) {
		note(&j);
		*stats = j.counts.stats;
	}
	return close_all(&j, rc);
}

SP__ENUM_TABLE(sp_join_type, { "inner", SP_JOIN_INNER }, { "left", SP_JOIN_LEFT },
	       { "right", SP_JOIN_RIGHT }, { "full", SP_JOIN_FULL }, { "semi", SP_JOIN_SEMI },
	       { "anti", SP_JOIN_ANTI })

SP__ENUM_TABLE(sp_join_algorithm, { "auto", SP_JOIN_AUTO }, { "hybrid", SP_JOIN_HYBRID },
	       { "grace", SP_JOIN_GRACE }, { "shj", SP_JOIN_SHJ }, { "merge", SP_JOIN_MERGE },
	       { "nested", SP_JOIN_NESTED }, { "inl", SP_JOIN_INL },
	       { "async-inl", SP_JOIN_ASYNC_INL })

SP__ENUM_TABLE(sp_join_ordering, { "probing", SP_JOIN_BY_PROBING },
	       { "sorting", SP_JOIN_BY_SORTING }, { "merging", SP_JOIN_BY_MERGING })
