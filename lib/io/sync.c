/* SPDX-License-Identifier: MIT */
/*
 * Implements the engine that defines the semantics: one pread or pwrite for each request, within
 * submit, in order.  Priorities have no effect, since only one request is outstanding at the
 * device.
 */
#include <unistd.h>
#include "io/engine.h"

int sp__donering_open(void **engine, const struct sp__engine_opts *opts, struct sp_errinfo *err)
{
	(void)err;
	*engine = sp__donering_new(opts->depth);
	return *engine ? 0 : -ENOMEM;
}

int sp__donering_reap(void *engine, struct sp__request **done, size_t max, size_t min,
		      int64_t timeout_ns)
{
	(void)min;
	(void)timeout_ns;
	return (int)sp__donering_take(engine, done, max);
}

int32_t sp__engine_transfer(const struct sp__request *r)
{
	char *at = (char *)r->data + r->moved;
	size_t rest = r->bytes - r->moved;
	off_t offset = (off_t)(r->offset + r->moved);
	ssize_t n;

	if (r->op == SP__OP_READ)
		n = pread(r->volume->fd, at, rest, offset);
	else
		n = pwrite(r->volume->fd, at, rest, offset);
	return n < 0 ? -errno : (int32_t)n;
}

static int sync_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		reqs[i]->result = sp__engine_transfer(reqs[i]);
		sp__donering_put(engine, reqs[i]);
	}
	return (int)n;
}

const struct sp__engine_ops sp__sync_engine = {
	.name = "sync",
	.caps = SP__CAP_MOVES | SP__CAP_AUTO,
	.open = sp__donering_open,
	.close = free,
	.submit = sync_submit,
	.reap = sp__donering_reap,
};
