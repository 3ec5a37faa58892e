/* SPDX-License-Identifier: MIT */
/*
 * Implements the engine that completes every request immediately and moves no byte.  The time of a
 * workload with it is our own overhead.  Buffers keep their contents.  A read ends at the volume's
 * size_bytes, so that a reader reaches an end.
 *
 * It is apart from sync.c, since tests put an engine of their own in its place
 * (tests/unit/script.h).
 */
#include "io/engine.h"

static int32_t pretend(const struct sp__request *r)
{
	uint64_t size = r->volume->size_bytes, at = r->offset + r->moved;
	uint32_t rest = r->bytes - r->moved;

	if (r->op == SP__OP_WRITE)
		return (int32_t)rest;
	if (at >= size)
		return 0;
	return size - at < rest ? (int32_t)(size - at) : (int32_t)rest;
}

static int null_submit(void *engine, struct sp__request *const *reqs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		reqs[i]->result = pretend(reqs[i]);
		sp__donering_put(engine, reqs[i]);
	}
	return (int)n;
}

const struct sp__engine_ops sp__null_engine = {
	.name = "null",
	.caps = 0,
	.open = sp__donering_open,
	.close = free,
	.submit = null_submit,
	.reap = sp__donering_reap,
};
