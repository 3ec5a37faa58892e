/* SPDX-License-Identifier: MIT */
/* Writes the result of a join to its stream. */
#include "join/result/result.h"

int sp__result_open(struct sp__result *r)
{
	struct sp__wstream_opts o = sp__env_writing(r->env);
	int rc = sp__wstream_open(&r->ws, r->fd, r->name, &o, r->env->err);

	r->emit.ws = r->ws;
	return rc;
}

int sp__result_write(struct sp__result *r)
{
	int rc = sp__emit_flush(&r->emit);

	return rc ? rc : sp__wstream_finish(r->ws);
}

/* Ends the stream and starts a new one at the descriptor's offset. */
int sp__result_flush(struct sp__result *r)
{
	int rc;

	if (r->emit.sink) /* an operator writes nothing */
		return 0;
	rc = sp__result_write(r);
	if (rc < 0)
		return rc;
	sp__wstream_close(r->ws);
	r->ws = r->emit.ws = NULL;
	return sp__result_open(r);
}
