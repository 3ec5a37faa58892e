/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/err.h"
#include "join/state.h"
#include "sort/plan.h"

static enum sp__direct direct_of(const struct sp_join_opts *o)
{
	return o->direct < 0 ? SP__DIRECT_AUTO : o->direct ? SP__DIRECT_ALWAYS : SP__DIRECT_NEVER;
}

static int open_stream(struct sp__join *j)
{
	int rc = sp__wstream_open(&j->ws, j->out.fd, j->out.name, &j->write, j->err);

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
					     .direct = direct_of(&j->opts),
					     .chunk_bytes = b.chunk_bytes,
					     .depth = b.chunks };
	j->write = (struct sp__wstream_opts){ .engine = j->opts.engine,
					      .direct = direct_of(&j->opts),
					      .chunk_bytes = b.write_bytes,
					      .depth = b.writes };
}

static int open_all(struct sp__join *j)
{
	struct sp_recfmt format = { .kind = SP_REC_LINE, .eol = j->opts.eol };
	int rc = sp__emit_init(&j->emit, &j->opts, j->err);

	set_streams(j);
	for (int i = 0; i < 2 && !rc; i++)
		rc = sp__source_open(&j->source[i], j->io->inputs[i], &format, &j->read, j->err);
	if (rc < 0)
		return rc;
	sp__outfile_prepare(&j->out, j->io->output, j->io->output_fd);
	rc = sp__outfile_open(&j->out, j->err);
	return rc < 0 ? rc : open_stream(j);
}

static int end(struct sp__join *j)
{
	int rc = sp__emit_flush(&j->emit);

	return rc < 0 ? rc : sp__wstream_finish(j->ws);
}

static void note(struct sp__join *j, struct sp_join_stats *st)
{
	*st = (struct sp_join_stats){ 0 };
	for (int i = 0; i < 2; i++) {
		st->records[i] = j->source[i].lines;
		st->input_bytes[i] = j->source[i].bytes;
	}
	st->output_records = j->emit.records;
	st->output_bytes = j->emit.bytes;
	st->elapsed_s = (double)(sp__now_ns() - j->begin_ns) * 1e-9;
}

int sp_join_run(const struct sp_join_opts *opts, const struct sp_join_io *io,
		struct sp_join_stats *stats, struct sp_errinfo *err)
{
	struct sp_errinfo own = SP_ERRINFO_INIT;
	struct sp__join j = { .opts = *opts,
			      .io = io,
			      .err = err ? err : &own,
			      .out.fd = -1,
			      .begin_ns = sp__now_ns() };
	int rc = open_all(&j), ended;

	if (!rc)
		rc = sp__join_merge(&j);
	/* What was joined before disorder or an error is output too. */
	if (j.ws) {
		ended = end(&j);
		rc = rc < 0 ? rc : ended < 0 ? ended : rc;
	}
	if (rc == 0)
		rc = sp__outfile_commit(&j.out, j.err);
	if (stats)
		note(&j, stats);
	sp__wstream_close(j.ws);
	sp__outfile_close(&j.out);
	for (int i = 0; i < 2; i++)
		sp__source_close(&j.source[i]);
	sp__emit_release(&j.emit);
	return rc;
}
