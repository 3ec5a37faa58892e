/* SPDX-License-Identifier: MIT */
/*
 * A write stream in queued mode: a ring of chunks, of which one collects bytes while the full ones
 * are written, by a queue, through a volume of our own.  A put waits only while the next chunk of
 * the ring is still being written.
 *
 * Space is reserved ahead of the chunks, so that they lie together in the file; it is reserved
 * beyond the end of the file, which therefore never looks longer than it is.
 *
 * A chunk that comes back with EINVAL shows that the file system does no direct I/O here: it is
 * written plainly, like others that come back so, and between two chunks the stream goes plain.
 * Of the chunks that could not be written at all the lowest offset is kept: up to there the file
 * is whole if it is abandoned.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "io/wstream_state.h"

/* Space reserved at a time where the size is not known beforehand. */
#define RESERVE_BYTES ((uint64_t)256 << 20)

/* Space. */

/*
 * In moderate steps: where space is short, one that fails may leave all that
 * there was reserved, and others need it too.
 */
static void reserve(struct sp__wstream *ws, uint64_t end)
{
	uint64_t to = ws->reserved + RESERVE_BYTES;

	if (ws->no_reserve || end <= ws->reserved)
		return;
	if (to > ws->expected_end)
		to = ws->expected_end;
	if (to < end)
		to = end;
	/* A refusal is no error: the write itself will succeed or fail. */
	if (fallocate(ws->fd, FALLOC_FL_KEEP_SIZE, (off_t)ws->reserved, (off_t)(to - ws->reserved)))
		ws->no_reserve = true;
	ws->reserved = to;
}

void sp__wqueued_release(struct sp__wstream *ws)
{
	if (ws->ours && ws->reserved > ws->offset && ftruncate(ws->fd, (off_t)ws->offset))
		ws->no_reserve = true; /* space lost until the file goes; no harm else */
}

/* Chunks. */

/* What came of one chunk.  Where direct I/O is refused late, write it plainly. */
static void settle(struct sp__wstream *ws, struct sp__request *r)
{
	int rc = 0;

	ws->slots[r->tag].busy = false;
	if (r->result == -EINVAL) {
		ws->plain_only = true;
		rc = sp__wplain_write_at(ws, r->data, r->bytes, r->offset);
	} else if (r->result < 0) {
		rc = sp__wstream_fail(ws, r->result, (long long)r->offset);
	}
	if (rc && r->offset < ws->bad_from)
		ws->bad_from = r->offset;
}

/* Waits until at least min more chunks have been written. */
static int collect(struct sp__wstream *ws, size_t min)
{
	struct sp__request *done[SP__WSTREAM_DEPTH_MAX];
	int n = sp__queue_reap(ws->q, done, SP__WSTREAM_DEPTH_MAX, min, -1);

	if (n < 0)
		return sp__wstream_fail(ws, n, -1);
	for (int i = 0; i < n; i++)
		settle(ws, done[i]);
	return ws->error;
}

int sp__wqueued_drain(struct sp__wstream *ws)
{
	while (sp__queue_outstanding(ws->q)) {
		if (collect(ws, 1))
			return ws->error;
	}
	return 0;
}

int sp__wqueued_submit(struct sp__wstream *ws)
{
	struct sp__wslot *s = &ws->slots[ws->fill];
	struct sp__request *r = &s->req;
	int rc;

	*r = (struct sp__request){ .op = SP__OP_WRITE,
				   .volume = ws->volume,
				   .offset = ws->offset,
				   .data = ws->buf + ws->fill * ws->opts.chunk_bytes,
				   .bytes = (uint32_t)ws->filled,
				   .tag = ws->fill };
	reserve(ws, ws->offset + r->bytes);
	rc = sp__queue_submit(ws->q, &r, 1);
	if (rc)
		return sp__wstream_fail(ws, rc, (long long)ws->offset);
	s->busy = true;
	ws->offset += r->bytes;
	ws->filled = 0;
	ws->fill = (ws->fill + 1) % ws->depth;
	while (ws->slots[ws->fill].busy) {
		rc = collect(ws, 1);
		if (rc)
			return rc;
	}
	return collect(ws, 0);
}

int sp__wqueued_put(struct sp__wstream *ws, const char *data, size_t bytes)
{
	while (bytes) {
		size_t room = ws->opts.chunk_bytes - ws->filled;
		size_t n = bytes < room ? bytes : room;

		memcpy(ws->buf + ws->fill * ws->opts.chunk_bytes + ws->filled, data, n);
		ws->filled += n;
		data += n;
		bytes -= n;
		if (ws->filled == ws->opts.chunk_bytes && sp__wqueued_submit(ws))
			return ws->error;
		if (ws->plain_only && ws->filled == 0)
			return sp__wstream_go_plain(ws) ? ws->error
							: sp__wstream_go_on(ws, data, bytes);
	}
	return 0;
}

int sp__wqueued_finish(struct sp__wstream *ws)
{
	size_t tail = ws->filled;

	if (tail && !ws->volume->direct) {
		if (sp__wqueued_submit(ws))
			return ws->error;
		tail = 0;
	}
	if (sp__wqueued_drain(ws))
		return ws->error;
	ws->filled = 0;
	if (sp__wplain_write_at(ws, ws->buf + ws->fill * ws->opts.chunk_bytes, tail, ws->offset))
		return ws->error;
	ws->offset += tail;
	if (lseek(ws->fd, (off_t)ws->offset, SEEK_SET) < 0)
		return sp__wstream_fail(ws, -errno, (long long)ws->offset);
	return 0;
}

void sp__wqueued_abandon(struct sp__wstream *ws)
{
	struct sp__request *done[SP__WSTREAM_DEPTH_MAX];
	uint64_t end;
	int n;

	while ((n = sp__queue_reap(ws->q, done, SP__WSTREAM_DEPTH_MAX, 1, -1)) > 0) {
		for (int i = 0; i < n; i++)
			settle(ws, done[i]);
	}
	end = ws->offset < ws->bad_from ? ws->offset : ws->bad_from;
	if (ws->ours && n == 0 && ftruncate(ws->fd, (off_t)end) == 0)
		(void)lseek(ws->fd, (off_t)end, SEEK_SET);
}
