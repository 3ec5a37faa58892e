/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "join/state.h"

static int open_stream(struct sp__join *j)
{
	const char *name = j->io->output ? j->io->output : "standard output";
	struct sp__wstream_opts o = sp__env_writing(&j->env);
	int rc = sp__wstream_open(&j->result.ws, j->result.fd, name, &o, j->env.err);

	j->result.emit.ws = j->result.ws;
	return rc;
}

/* An output written in place is truncated before anything is read: refuses inputs. */
static int spare_inputs(struct sp__join *j)
{
	const char *path = j->io->output;

	if (!path || !sp_outfile_in_place(j->result.file))
		return 0;
	for (int i = 0; i < 2; i++)
		if (sp__source_is(&j->source[i], path))
			return sp__errf(j->env.err, SP_EUNSUP, "write", path, -1,
					"an input cannot be written in place");
	return 0;
}

static int open_file(struct sp__join *j)
{
	int rc = sp_outfile_open(&j->result.file, j->io->output, 0, j->env.err);

	if (!rc)
		rc = spare_inputs(j);
	return rc ? rc : sp_outfile_begin(j->result.file, j->env.err);
}

int sp__result_open(struct sp__join *j)
{
	j->result.fd = j->io->output ? open_file(j) : j->io->output_fd;
	return j->result.fd < 0 ? j->result.fd : open_stream(j);
}

static int write_all(struct sp__join *j)
{
	int rc = sp__emit_flush(&j->result.emit);

	return rc ? rc : sp__wstream_finish(j->result.ws);
}

/* Ends the stream and starts a new one at the descriptor's offset. */
int sp__result_flush(struct sp__join *j)
{
	int rc = write_all(j);

	if (rc < 0)
		return rc;
	sp__wstream_close(j->result.ws);
	j->result.ws = j->result.emit.ws = NULL;
	return open_stream(j);
}

int sp__result_end(struct sp__join *j, int rc)
{
	/* Pairs found before disorder or an error are written too. */
	int ended = j->result.ws ? write_all(j) : 0;

	if (j->result.ws && !ended)
		sp__env_sync(&j->env, NULL);
	rc = rc < 0 || ended >= 0 ? rc : ended;
	return rc ? rc : sp_outfile_commit(j->result.file, j->env.err);
}

void sp__result_close(struct sp__join *j)
{
	sp__wstream_close(j->result.ws);
	sp_outfile_close(j->result.file, j->env.err);
	sp__emit_release(&j->result.emit);
}
