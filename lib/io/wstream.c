/* SPDX-License-Identifier: MIT */
/*
 * The write stream, in three states:
 *
 *   plain: bytes are collected in one chunk, which write(2) writes to the descriptor.  Every stream
 *      begins so; small outputs, pipes and files opened for appending stay so.
 *   queued: chunks lie in a ring of `depth`; the one at `fill` collects bytes, full ones are with
 *      the queue, which writes them through a direct descriptor of our own.  Entered at an aligned
 *      offset of a regular file, once there are enough bytes to pay for the set-up.
 *   plain for good: after the file system has refused direct I/O late.
 *
 * The borrowed descriptor keeps its meaning: it is written in order from its offset on, and ends up
 * at the end of the last byte.  Its file never looks longer than what was written: space is
 * reserved beyond the end (FALLOC_FL_KEEP_SIZE), and unused reserved space is given back by
 * truncating to the current size; unless the file reached beyond our start, for then its end is
 * not ours (as in 1<>file) and nothing is reserved either.
 *
 * Rejected: writing the tail through the direct descriptor and truncating (the file would look too
 * long for a moment); O_DIRECT set on the borrowed descriptor (other processes share it).
 *
 * Memory: one chunk when plain, depth * chunk when queued.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/mem.h"
#include "io/wstream_state.h"

/* So much written, or expected: direct writing pays. */
#define LARGE_BYTES ((uint64_t)8 << 20)

int sp__wstream_fail(struct sp__wstream *ws, int code, long long offset)
{
	if (!ws->error && ws->volume)
		ws->error = sp__volume_err(ws->err, ws->volume, code, "write", offset);
	else if (!ws->error)
		ws->error = sp__err(ws->err, code, "write", ws->name, offset);
	return ws->error;
}

/* From plain to queued. */

bool sp__wstream_wants_queue(const struct sp__wstream *ws)
{
	return !ws->plain_only &&
	       (ws->opts.direct == SP__DIRECT_ALWAYS || ws->opts.device ||
		ws->put_bytes >= LARGE_BYTES || ws->opts.expected_bytes >= LARGE_BYTES);
}

/* Is it a file that can be written directly through a second descriptor? */
static bool suitable(struct sp__wstream *ws, uint64_t *at, uint64_t *size)
{
	struct stat st;
	off_t now;
	int flags;

	if (!ws->opts.device && (ws->opts.direct == SP__DIRECT_NEVER || sp__fds_scarce()))
		return false;
	flags = fcntl(ws->fd, F_GETFL);
	if (flags < 0 || flags & (O_APPEND | O_DSYNC | O_SYNC | O_DIRECT))
		return false;
	if (fstat(ws->fd, &st) || !S_ISREG(st.st_mode))
		return false;
	now = lseek(ws->fd, 0, SEEK_CUR);
	if (now < 0)
		return false;
	*at = (uint64_t)now;
	*size = (uint64_t)st.st_size;
	return true;
}

static void unqueue(struct sp__wstream *ws)
{
	sp__queue_close(ws->q);
	sp__volume_close(ws->volume);
	free(ws->slots);
	ws->q = NULL;
	ws->volume = NULL;
	ws->slots = NULL;
}

static int open_volume(struct sp__wstream *ws)
{
	int rc;

	if (!ws->opts.device)
		return sp__volume_reopen_direct(&ws->volume, ws->fd, true, ws->name, NULL);
	rc = sp__volume_adopt(&ws->volume, ws->fd, false, ws->name, ws->err);
	return rc ? rc
		  : sp__volume_simulate(ws->volume, ws->opts.device, SP__SIM_OUTPUT, 0, ws->err);
}

static int open_queue(struct sp__wstream *ws)
{
	struct sp__queue_opts qo = { .engine = ws->opts.engine,
				     .trace = ws->opts.trace,
				     .device = ws->opts.device };
	int rc = open_volume(ws);

	if (rc)
		return ws->opts.device ? sp__wstream_fail(ws, rc, -1) : rc;
	if (ws->opts.chunk_bytes % ws->volume->align_bytes)
		return SP_EUNSUP;
	ws->depth = ws->opts.depth < 1 ? 1 : ws->opts.depth;
	if (ws->depth > SP__WSTREAM_DEPTH_MAX)
		ws->depth = SP__WSTREAM_DEPTH_MAX;
	qo.depth = ws->depth;
	rc = sp__queue_open(&ws->q, &qo, ws->opts.engine ? ws->err : NULL);
	if (rc)
		return ws->opts.engine ? sp__wstream_fail(ws, rc, -1) : rc;
	ws->slots = calloc(ws->depth, sizeof(*ws->slots));
	return ws->slots ? 0 : -ENOMEM;
}

static void free_buffer(struct sp__wstream *ws)
{
	if (ws->mapped)
		sp__pages_free(ws->buf, ws->buf_bytes);
	else
		free(ws->buf);
	ws->buf = NULL;
	ws->mapped = false;
}

/* Moves what has been gathered to an aligned beginning in new, larger memory. */
static int change_buffer(struct sp__wstream *ws, size_t head)
{
	size_t bytes = ws->depth * ws->opts.chunk_bytes, rest = ws->filled - head;
	char *buf = sp__pages_alloc(bytes, true);

	if (!buf)
		return -ENOMEM;
	memcpy(buf, ws->buf + head, rest);
	ws->filled = head;
	if (sp__wplain_flush(ws)) {
		sp__pages_free(buf, bytes);
		return ws->error;
	}
	free_buffer(ws);
	ws->buf = buf;
	ws->buf_bytes = bytes;
	ws->mapped = true;
	ws->filled = rest;
	return 0;
}

/* The gathered bytes up to an aligned offset are written plainly. */
int sp__wstream_go_queued(struct sp__wstream *ws)
{
	uint64_t at, size, align;
	size_t head;

	if (!suitable(ws, &at, &size) || open_queue(ws))
		goto never;
	align = ws->volume->direct ? ws->volume->align_bytes : 1;
	head = (size_t)((align - at % align) % align);
	if (change_buffer(ws, head))
		goto never;
	ws->offset = ws->reserved = at + head;
	ws->bad_from = UINT64_MAX;
	ws->ours = size <= ws->offset;
	ws->no_reserve = !ws->ours;
	ws->expected_end = UINT64_MAX;
	if (ws->opts.expected_bytes > ws->put_bytes)
		ws->expected_end = ws->offset + (ws->opts.expected_bytes - ws->put_bytes);
	ws->queued = true;
	return ws->filled == ws->opts.chunk_bytes ? sp__wqueued_submit(ws) : 0;
never:
	ws->plain_only = true;
	unqueue(ws);
	return ws->error;
}

/* And back. */

int sp__wstream_go_plain(struct sp__wstream *ws)
{
	if (sp__wqueued_drain(ws))
		return ws->error;
	ws->queued = false;
	if (lseek(ws->fd, (off_t)ws->offset, SEEK_SET) < 0)
		return sp__wstream_fail(ws, -errno, (long long)ws->offset);
	return 0;
}

/* What the caller sees. */

int sp__wstream_go_on(struct sp__wstream *ws, const char *data, size_t bytes)
{
	return ws->queued ? sp__wqueued_put(ws, data, bytes) : sp__wplain_put(ws, data, bytes);
}

int sp__wstream_put(struct sp__wstream *ws, const void *data, size_t bytes)
{
	int rc;

	if (ws->error)
		return ws->error;
	if (ws->finished)
		return SP_ESTATE;
	rc = sp__wstream_go_on(ws, data, bytes);
	ws->put_bytes += bytes;
	return rc;
}

int sp__wstream_finish(struct sp__wstream *ws)
{
	int rc;

	if (ws->error)
		return ws->error;
	/* On a machine even what is smaller than a chunk takes its time. */
	if (ws->opts.device && ws->filled && !ws->queued && !ws->plain_only &&
	    sp__wstream_go_queued(ws))
		return ws->error;
	rc = ws->queued ? sp__wqueued_finish(ws) : sp__wplain_flush(ws);
	if (rc == 0 && ws->q)
		sp__wqueued_release(ws);
	ws->finished = rc == 0;
	return rc;
}

void sp__wstream_close(struct sp__wstream *ws)
{
	if (!ws)
		return;
	if (ws->q && !ws->finished)
		sp__wqueued_abandon(ws);
	unqueue(ws);
	free_buffer(ws);
	free(ws->name);
	free(ws);
}

int sp__wstream_open(struct sp__wstream **out, int fd, const char *name,
		     const struct sp__wstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__wstream *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return sp__err(err, -ENOMEM, "open", name, -1);
	ws->fd = fd;
	ws->err = err;
	ws->opts = *opts;
	ws->name = strdup(name);
	if (!ws->name) {
		sp__wstream_close(ws);
		return sp__err(err, -ENOMEM, "open", name, -1);
	}
	*out = ws;
	return 0;
}

void sp__wstream_counters(const struct sp__wstream *ws, struct sp__io_counters *c)
{
	*c = ws->plain;
	if (ws->q) {
		struct sp__io_counters queued;

		sp__queue_counters(ws->q, &queued);
		c->write_requests += queued.write_requests;
		c->write_bytes += queued.write_bytes;
	}
}
