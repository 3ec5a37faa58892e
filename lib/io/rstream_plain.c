/* SPDX-License-Identifier: MIT */
/*
 * A read stream in plain mode: each call is one read(2) into the buffer, at the descriptor's own
 * offset.  If the caller does not wait, a pipe or a terminal is polled first; if the caller waits,
 * a non-blocking descriptor is waited for.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>
#include "io/rstream_state.h"
#include "obs/trace.h"

static int get_buffer(struct sp__rstream *rs)
{
	if (rs->buf)
		return 0;
	rs->buf = malloc(rs->buf_bytes);
	return rs->buf ? 0 : -ENOMEM;
}

/* 1: readable (or failing, as read will report), 0: nothing yet. */
static int ready(const struct sp__rstream *rs, bool wait)
{
	struct pollfd p = { .fd = rs->fd, .events = POLLIN };
	int n;

	do {
		n = poll(&p, 1, wait ? -1 : 0);
	} while (n < 0 && errno == EINTR);
	return n != 0;
}

static void note_plain(struct sp__rstream *rs, uint64_t begun_ns, ssize_t n)
{
	rs->plain.read_requests++;
	if (n > 0)
		rs->plain.read_bytes += (uint64_t)n;
	if (rs->trace)
		sp__trace_request(rs->trace, 'R', rs->name, rs->offset, (uint32_t)rs->buf_bytes, 0,
				  begun_ns, sp__trace_now_ns(rs->trace), (int)n);
}

int sp__rplain_next(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	uint64_t begun_ns = rs->trace ? sp__trace_now_ns(rs->trace) : 0;
	ssize_t n;

	if (get_buffer(rs))
		return sp__rstream_fail(rs, -ENOMEM, rs->offset);
	if (!wait && rs->pollable && !ready(rs, false))
		return SP_LATER;
	while ((n = read(rs->fd, rs->buf, rs->buf_bytes)) < 0) {
		if (errno == EAGAIN && !wait)
			return SP_LATER;
		if (errno == EAGAIN)
			ready(rs, true);
		else if (errno != EINTR)
			break;
	}
	n = n < 0 ? -errno : n;
	note_plain(rs, begun_ns, n);
	if (n < 0)
		return sp__rstream_fail(rs, (int)n, rs->offset);
	if (n == 0)
		return rs->status = SP_END;
	*data = rs->buf;
	*bytes = (size_t)n;
	rs->offset += (uint64_t)n;
	return SP_READY;
}
