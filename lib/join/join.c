/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include "base/err.h"
#include "base/outset.h"
#include "join/binary.h"
#include "join/plan.h"
#include "join/presorted.h"
#include "join/state.h"
#include "obs/trace.h"
#include "sort/plan.h"
#include "spill/where.h"

static int open_stream(struct sp__join *j)
{
	const char *name = j->io->output ? j->io->output : "standard output";
	int rc = sp__wstream_open(&j->ws, j->out_fd, name, &j->write, j->err);

	j->emit.ws = j->ws;
	return rc;
}

/*
 * The stream is ended and begun anew: it goes on where the descriptor stands.
 * Done twice in a join at most.
 */
int sp__join_flush(struct sp__join *j)
{
	int rc = sp__emit_flush(&j->emit);

	if (!rc)
		rc = sp__wstream_finish(j->ws);
	if (rc < 0)
		return rc;
	sp__wstream_close(j->ws);
	j->ws = j->emit.ws = NULL;
	return open_stream(j);
}

static void set_streams(struct sp__join *j)
{
	struct sp__plan_buffers b;

	sp__plan_buffers(sp__plan_working(j->opts.memory_bytes), &b);
	j->read = (struct sp__rstream_opts){ .engine = j->opts.engine,
					     .direct = sp__direct_of(j->opts.direct),
					     .chunk_bytes = b.chunk_bytes,
					     .depth = b.chunks,
					     .trace = j->trace,
					     .machine = sp__machine_for(j->machine,
									SP__SIM_FILES_IN) };
	j->write = (struct sp__wstream_opts){ .engine = j->opts.engine,
					      .direct = sp__direct_of(j->opts.direct),
					      .chunk_bytes = b.write_bytes,
					      .depth = b.writes,
					      .trace = j->trace,
					      .machine = sp__machine_for(j->machine,
									 SP__SIM_FILES_OUT) };
}

static int open_machine(struct sp__join *j)
{
	const struct sp_join_opts *o = &j->opts;
	struct sp__where where = { o->volume, o->overwrite, o->placement, o->geometry };
	int rc = sp__where_check(&where, j->err);

	if (!rc)
		rc = sp__where_machine(o->volume, o->geometry, &j->machine, j->err);
	if (!rc)
		rc = sp__outset_check(j->io->output, o->trace_path, j->io->inputs, 2, j->err);
	if (!rc && o->trace_path)
		rc = sp__trace_open(&j->trace, o->trace_path, j->err);
	if (!rc && j->trace && j->machine)
		sp__trace_virtual(j->trace, sp__machine_clock_ns, j->machine);
	j->begin_ns = sp__join_now_ns(j);
	return rc;
}

/* An output that is written in place is cut before anything is read. */
static int spare_inputs(struct sp__join *j)
{
	const char *path = j->io->output;

	if (!path || !sp_outfile_in_place(j->out))
		return 0;
	for (int i = 0; i < 2; i++)
		if (sp__source_is(&j->source[i], path))
			return sp__errf(j->err, SP_EUNSUP, "write", path, -1,
					"an input cannot be written in place");
	return 0;
}

static int open_output(struct sp__join *j)
{
	int rc;

	j->out_fd = j->io->output_fd;
	if (!j->io->output)
		return 0;
	rc = sp_outfile_open(&j->out, j->io->output, 0, j->err);
	if (!rc)
		rc = spare_inputs(j);
	if (!rc)
		rc = j->out_fd = sp_outfile_begin(j->out, j->err);
	return rc;
}

static int open_all(struct sp__join *j)
{
	int rc = j->opts.fixed_bytes[0] || j->opts.fixed_bytes[1]
			 ? sp__binary_check(&j->opts, j->err)
			 : 0;

	if (!rc)
		rc = open_machine(j);
	if (!rc)
		rc = sp__emit_init(&j->emit, &j->opts, j->err);
	j->emit.inputs = j->io->inputs;
	set_streams(j);
	if (!rc)
		rc = sp__inputs_lay(j->read.machine, j->io->inputs, 2, &j->read.sim_file, j->err);
	for (int i = 0; i < 2 && !rc; i++, j->read.sim_file++) {
		struct sp_recfmt format = sp__join_format(&j->opts, i);

		rc = sp__source_open(&j->source[i], j->io->inputs[i], &format, &j->read, j->err);
		j->source[i].join = j;
	}
	for (int i = 0; i < 2 && !rc; i++)
		rc = sp__source_begin(&j->source[i]);
	if (rc < 0)
		return rc;
	rc = open_output(j);
	return rc < 0 ? rc : open_stream(j);
}

static int end(struct sp__join *j)
{
	int rc = sp__emit_flush(&j->emit);

	if (!rc)
		rc = sp__wstream_finish(j->ws);
	/* On a simulated device the result is there at the end. */
	if (!rc && sp__machine_for(j->machine, SP__SIM_FILES_OUT))
		sp__machine_sync(j->machine);
	return rc;
}

/* A trace that could not be written is an error, unless there was one before. */
static int close_all(struct sp__join *j, int rc)
{
	int closed;

	sp__wstream_close(j->ws);
	sp_outfile_close(j->out, j->err);
	for (int i = 0; i < 2; i++)
		sp__source_close(&j->source[i]);
	sp__emit_release(&j->emit);
	closed = sp__trace_close(j->trace, j->err);
	sp__machine_close(j->machine);
	return rc < 0 || closed >= 0 ? rc : closed;
}

/* Requests and bytes of all streams; closes the inputs. */
static void note_io(struct sp__join *j, struct sp_join_stats *st)
{
	struct sp__io_counters c;

	for (int i = 0; i < 2; i++) {
		if (!j->source[i].scan)
			continue;
		snprintf(st->input_engine, sizeof(st->input_engine), "%s",
			 sp__scan_engine(j->source[i].scan));
		sp__scan_counters(j->source[i].scan, &c);
		st->read_requests += c.read_requests;
		st->read_bytes += c.read_bytes;
	}
	st->read_requests += j->read_before.read_requests;
	st->read_bytes += j->read_before.read_bytes;
	if (!j->ws)
		return;
	sp__wstream_counters(j->ws, &c);
	st->write_requests = c.write_requests;
	st->write_bytes = c.write_bytes;
}

static void note_hash(const struct sp__join_counts *c, struct sp_join_stats *st)
{
	st->algorithm = c->algorithm;
	st->ordered_by = c->ordered_by;
	st->sort_runs = c->sort_runs;
	st->build = c->build;
	st->partitions = c->partitions;
	st->spilled_partitions = c->spilled_partitions;
	st->resident_share = c->resident_share;
	st->groups = c->groups;
	st->depth = c->depth;
	st->reversals = c->reversals;
	st->nested_blocks = c->nested_blocks;
	st->filter_probes = c->filter_probes;
	st->filter_drops = c->filter_drops;
	st->spill_read_bytes = c->spill_read_bytes;
	st->spill_write_bytes = c->spill_write_bytes;
	st->spill_peak_bytes = c->spill_peak_bytes;
	snprintf(st->engine, sizeof(st->engine), "%s", c->engine);
	for (int i = 0; i < SP_JOIN_PHASES; i++)
		st->phase_elapsed_s[i] = (double)c->phase_ns[i] * 1e-9;
}

static void note(struct sp__join *j, struct sp_join_stats *st)
{
	struct rusage ru;

	*st = (struct sp_join_stats){ .memory_limit_bytes = j->opts.memory_bytes };
	note_hash(&j->counts, st);
	note_io(j, st);
	for (int i = 0; i < 2; i++) {
		st->records[i] = j->source[i].lines;
		st->input_bytes[i] = j->source[i].bytes;
		st->merged_records[i] = j->merged[i];
	}
	st->output_records = j->emit.records;
	st->output_bytes = j->emit.bytes;
	st->elapsed_s = (double)(sp__join_now_ns(j) - j->begin_ns) * 1e-9;
	sp__join_note_machine(j, st);
	if (getrusage(RUSAGE_SELF, &ru) == 0)
		st->memory_peak_bytes = (uint64_t)ru.ru_maxrss << 10;
}

/* The record at the beginning of the batch is a header, and ends there. */
static void pass_header(struct sp__source *src, const char *end)
{
	sp__tally_count(&src->done, (uint64_t)(end - src->at));
	src->at = end;
	src->lines++;
}

/*
 * The first records of both files: as many columns as they have, if that is wanted,
 * and they themselves, if they are headers.
 */
static int first_lines(struct sp__join *j)
{
	struct sp__line first[2];
	bool have[2];

	if (!j->opts.header && !j->emit.padded)
		return 0;
	for (int i = 0; i < 2; i++) {
		struct sp__source *src = &j->source[i];
		int rc = sp__source_fill(src);
		const char *next;

		if (rc < 0)
			return rc;
		have[i] = rc == SP_READY;
		if (!have[i])
			continue;
		first[i].data = src->at;
		next = sp__record_next(&src->format, src->at, src->end, &first[i].bytes);
		sp__line_set(j, i, first[i].data, first[i].bytes, &first[i]);
		rc = sp__emit_auto(&j->emit, i, &first[i]);
		if (rc < 0)
			return rc;
		if (j->opts.header)
			pass_header(src, next);
	}
	if (j->opts.header && (have[0] || have[1]))
		sp__emit_pair(&j->emit, have[0] ? &first[0] : NULL, have[1] ? &first[1] : NULL);
	return 0;
}

static int merge(struct sp__join *j)
{
	const struct sp_join_opts *o = &j->opts;

	if (o->ordered && o->unpaired[o->ordered == 1] && (o->pairs || o->unpaired[o->ordered - 1]))
		return sp__errf(j->err, SP_EUNSUP, "plan", NULL, -1,
				"a merge cannot put lines of file %u without partner last",
				3 - o->ordered);
	j->counts.algorithm = SP_JOIN_MERGE;
	j->counts.ordered_by = o->ordered ? SP_JOIN_BY_MERGING : SP_JOIN_ANY_ORDER;
	return sp__join_merge(j);
}

/* Both inputs from the beginning, behind their headers. */
static int read_again(struct sp__join *j)
{
	struct sp__io_counters c;
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		struct sp__source *src = &j->source[i];
		struct sp_recfmt format = src->format;
		size_t bytes;

		sp__scan_counters(src->scan, &c);
		j->read_before.read_requests += c.read_requests;
		j->read_before.read_bytes += c.read_bytes;
		sp__source_close(src);
		rc = sp__source_open(src, j->io->inputs[i], &format, &j->read, j->err);
		src->join = j;
		if (rc || !j->opts.header)
			continue;
		rc = sp__source_fill(src);
		if (rc == SP_READY)
			pass_header(src, sp__record_next(&format, src->at, src->end, &bytes));
		rc = rc < 0 ? rc : 0;
	}
	j->resumed = true;
	return rc;
}

static bool can_be_read_again(const char *name)
{
	struct stat st;

	return strcmp(name, "-") && !stat(name, &st) && S_ISREG(st.st_mode);
}

/* Files that seem sorted are merged until they turn out not to be: 1 then. */
static int try_merge(struct sp__join *j)
{
	struct sp__join_layout l;
	int rc = sp__join_layout(&j->opts, &l, j->err);

	if (rc < 0)
		return rc;
	if (!sp__join_merges(&j->opts, &l) || !can_be_read_again(j->io->inputs[0]) ||
	    !can_be_read_again(j->io->inputs[1]))
		return 1;
	j->counts.algorithm = SP_JOIN_MERGE;
	rc = sp__join_presorted(j);
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
	sp_join_expect(&j->opts, j->io->inputs);
	rc = first_lines(j);
	if (!rc)
		rc = try_merge(j);
	if (rc <= 0)
		return rc;
	return sp__join_hash(j);
}

int sp_join_run(const struct sp_join_opts *opts, const struct sp_join_io *io,
		struct sp_join_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	static const size_t first = 0;
	struct sp__join j = {
		.opts = *opts,
		.io = io,
		.err = err ? err : &own,
		.progress = { .tell = io->progress, .arg = io->progress_arg, .phase = -1 },
	};
	int rc, ended;

	if (!j.opts.nkeys) {
		j.opts.nkeys = 1;
		j.opts.keys[0] = j.opts.keys[1] = &first;
	}
	rc = open_all(&j);
	if (!rc)
		rc = join(&j);
	/* What was joined before disorder or an error is output too. */
	if (j.ws) {
		ended = end(&j);
		rc = rc < 0 ? rc : ended < 0 ? ended : rc;
	}
	if (rc == 0)
		rc = sp_outfile_commit(j.out, j.err);
	if (stats)
		note(&j, stats);
	return close_all(&j, rc);
}
