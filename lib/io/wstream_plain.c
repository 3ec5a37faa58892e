/* SPDX-License-Identifier: MIT */
/*
 * A write stream in plain mode: bytes are collected in one chunk, which write(2) writes to the
 * borrowed descriptor, at its own offset; where that would block, it waits.  Data larger than the
 * chunk bypasses it.
 *
 * pwrite(2) writes what queued mode leaves: a tail that is no whole block, and chunks for which
 * the file system refused direct I/O.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "io/wstream_state.h"
#include "obs/trace.h"

/* One write(2) or pwrite (at >= 0) of the rest; bytes written or -errno. */
static ssize_t write_some(struct sp__wstream *ws, const char *data, size_t bytes, off_t at)
{
	uint64_t begun_ns = ws->opts.trace ? sp__trace_now_ns(ws->opts.trace) : 0;
	struct pollfd p = { .fd = ws->fd, .events = POLLOUT };
	ssize_t n;

	for (;;) {
		n = at < 0 ? write(ws->fd, data, bytes) : pwrite(ws->fd, data, bytes, at);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
		if (errno == EAGAIN)
			poll(&p, 1, -1);
	}
	n = n < 0 ? -errno : n;
	ws->plain.write_requests++;
	if (n > 0)
		ws->plain.write_bytes += (uint64_t)n;
	if (ws->opts.trace)
		sp__trace_request(ws->opts.trace, 'W', ws->name, at < 0 ? ws->offset : (uint64_t)at,
				  (uint32_t)bytes, 0, begun_ns, sp__trace_now_ns(ws->opts.trace),
				  (int)n);
	return n ? n : -EIO;
}

static int write_all(struct sp__wstream *ws, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t n = write_some(ws, data, bytes < INT32_MAX ? bytes : INT32_MAX / 2, -1);

		if (n < 0)
			return sp__wstream_fail(ws, (int)n, -1);
		data += n;
		bytes -= (size_t)n;
		ws->offset += (uint64_t)n;
	}
	return 0;
}

int sp__wplain_write_at(struct sp__wstream *ws, const char *data, size_t bytes, uint64_t at)
{
	while (bytes) {
		ssize_t n = write_some(ws, data, bytes, (off_t)at);

		if (n < 0)
			return sp__wstream_fail(ws, (int)n, (long long)at);
		data += n;
		bytes -= (size_t)n;
		at += (uint64_t)n;
	}
	return 0;
}

int sp__wplain_flush(struct sp__wstream *ws)
{
	size_t bytes = ws->filled;

	ws->filled = 0;
	return write_all(ws, ws->buf, bytes);
}

int sp__wplain_put(struct sp__wstream *ws, const char *data, size_t bytes)
{
	size_t room;

	if (!ws->buf) {
		ws->buf_bytes = ws->opts.chunk_bytes;
		ws->buf = malloc(ws->buf_bytes);
		if (!ws->buf)
			return sp__wstream_fail(ws, -ENOMEM, -1);
	}
	room = ws->buf_bytes - ws->filled;
	if (bytes > room && sp__wstream_wants_queue(ws)) {
		memcpy(ws->buf + ws->filled, data, room);
		ws->filled += room;
		if (sp__wstream_go_queued(ws))
			return ws->error;
		return sp__wstream_go_on(ws, data + room, bytes - room);
	}
	if (bytes > room) {
		if (sp__wplain_flush(ws))
			return ws->error;
		if (bytes >= ws->buf_bytes)
			return write_all(ws, data, bytes);
	}
	memcpy(ws->buf + ws->filled, data, bytes);
	ws->filled += bytes;
	return 0;
}
