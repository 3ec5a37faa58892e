/* SPDX-License-Identifier: MIT */
/*
 * Implements the write stream.
 *
 * States:
 *
 *   plain           Bytes are collected in one chunk, which write(2) writes to the descriptor; data
 *                   larger than the chunk bypasses it.  Every stream begins here; small outputs,
 *                   pipes and files opened for appending stay here.
 *   queued          Chunks form a ring of `depth`; the one at `fill` collects bytes, and the queue
 *                   writes full ones through a direct descriptor of the stream.  Entered at an
 *                   aligned offset of a regular file, once enough bytes pay for the set-up.  A put
 *                   waits only while the next chunk of the ring is still being written.  pwrite(2)
 *                   writes a tail shorter than a block.
 *   plain for good  Entered after the file system has refused a direct write (EINVAL).  The refused
 *                   chunks are written with pwrite(2), and the stream changes between two chunks.
 *
 * Invariants: the borrowed descriptor is written in order from its offset on, and ends at the end
 * of the last byte; pieces are written at offsets of their own.  Its file never looks longer than
 * the bytes written.  Space is reserved beyond the end (FALLOC_FL_KEEP_SIZE), so that chunks are
 * contiguous, and unused reserved space is released by truncating to the current size.  If the file
 * reached beyond the stream's start (as in 1<>file), its end is not the stream's, and nothing is
 * reserved or truncated.  The lowest offset of a chunk that could not be written is kept: an
 * abandoned file is complete up to there.
 *
 * Memory: one chunk when plain, depth * chunk when queued.
 *
 * Rejected: writing the tail through the direct descriptor and truncating (the file would look too
 * long for a moment); O_DIRECT set on the borrowed descriptor (other processes share it).
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/few.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/tasklog.h"
#include "io/wstream.h"
#include "obs/trace.h"

#define DEPTH_MAX 64

struct slot {
	struct sp__request req;
	bool busy;
};

struct sp__wstream {
	struct sp__io_owner owner;   /* receives the completions of its requests */
	struct sp__packing *packing; /* does all the work; or NULL */
	int fd;
	char *name;
	struct sp_errinfo *err;
	struct sp__wstream_opts opts;
	int error; /* the first one; every later call returns it */
	bool queued;
	bool finished;
	bool plain_only;    /* queueing was tried or is impossible */
	uint64_t put_bytes; /* total, by the caller */
	uint64_t offset;    /* queued: of the next chunk; plain: bytes written so far */
	char *buf;	    /* one chunk; once queued: pages for depth of them */
	size_t buf_bytes;
	bool paged;    /* buf has such pages */
	size_t filled; /* bytes in the current chunk */
	struct sp__io_counters plain;

	struct sp__volume *volume;
	struct sp__queue *q;
	struct slot *slots;
	unsigned depth, fill;
	bool ours; /* the file ends at the end of the stream */
	struct sp__reserved reserved;
	uint64_t bad_from; /* offset of the first chunk that failed */
};

/* Direct writing pays from this many bytes written or expected. */
#define LARGE_BYTES ((uint64_t)8 << 20)

/* Keeps and describes the first error, and returns it. */
static int fail(struct sp__wstream *ws, int code, long long offset)
{
	if (!ws->error && ws->volume)
		ws->error = sp__volume_err(ws->err, ws->volume, code, "write", offset);
	else if (!ws->error)
		ws->error = sp__err(ws->err, code, "write", ws->name, offset);
	return ws->error;
}

/* Plain. */

/* Writes with one write(2) or pwrite (at >= 0).  Returns bytes written or -errno. */
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
	if (n > 0) {
		sp__log_request(true, (uint64_t)n);
		ws->plain.write_bytes += (uint64_t)n;
	}
	if (ws->opts.trace)
		sp__trace_request(ws->opts.trace, 'W', ws->name, at < 0 ? ws->offset : (uint64_t)at,
				  (uint32_t)bytes, 0, begun_ns, sp__trace_now_ns(ws->opts.trace),
				  (int)n);
	return n ? n : -EIO;
}

/* Writes all bytes at an offset or, if that is negative, at the descriptor's. */
static int write_all(struct sp__wstream *ws, const char *data, size_t bytes, long long at)
{
	while (bytes) {
		ssize_t n = write_some(ws, data, bytes < INT32_MAX ? bytes : INT32_MAX / 2, at);

		if (n < 0)
			return fail(ws, (int)n, at);
		data += n;
		bytes -= (size_t)n;
		if (at < 0)
			ws->offset += (uint64_t)n;
		else
			at += n;
	}
	return 0;
}

/* Adds bytes to the digest before they are written, in the order in which they were put. */
static void digest(const struct sp__wstream *ws, const char *data, size_t bytes)
{
	if (ws->opts.digest)
		sp__digest_add(ws->opts.digest, data, bytes);
}

/* Writes bytes that were put after all others, at the offset of the stream. */
static int write_next(struct sp__wstream *ws, const char *data, size_t bytes)
{
	const bool piece = ws->opts.piece;

	digest(ws, data, bytes);
	if (!write_all(ws, data, bytes, piece ? (long long)ws->offset : -1) && piece)
		ws->offset += bytes;
	return ws->error;
}

static int flush(struct sp__wstream *ws)
{
	size_t bytes = ws->filled;

	ws->filled = 0;
	return write_next(ws, ws->buf, bytes);
}

/* Queued. */

/* Releases the space reserved beyond the end. */
static void release(struct sp__wstream *ws)
{
	if (ws->ours && ws->reserved.to > ws->offset && ftruncate(ws->fd, (off_t)ws->offset))
		ws->reserved.refused = true; /* the space is lost until the file is removed */
}

/* Handles the result of one chunk.  If direct I/O is refused, writes the chunk plainly. */
static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	struct sp__wstream *ws = (void *)owner;
	int rc = 0;

	((struct slot *)r)->busy = false;
	if (r->result == -EINVAL) {
		ws->plain_only = true;
		rc = write_all(ws, r->data, r->bytes, (long long)r->offset);
	} else if (r->result < 0) {
		rc = fail(ws, r->result, (long long)r->offset);
	}
	if (rc && r->offset < ws->bad_from)
		ws->bad_from = r->offset;
}

/* Waits until at least min more chunks have been written. */
static int collect(struct sp__wstream *ws, size_t min)
{
	int n = sp__queue_complete(ws->q, min, -1);

	return n < 0 ? fail(ws, n, -1) : ws->error;
}

static int drain(struct sp__wstream *ws)
{
	while (sp__queue_outstanding(ws->q)) {
		if (collect(ws, 1))
			return ws->error;
	}
	return 0;
}

/* Submits the collected bytes: with direct writing a whole chunk. */
static int submit(struct sp__wstream *ws)
{
	struct slot *s = &ws->slots[ws->fill];
	struct sp__request *r = &s->req;
	int rc;

	*r = (struct sp__request){ .op = SP__OP_WRITE,
				   .volume = ws->volume,
				   .offset = ws->offset,
				   .data = ws->buf + ws->fill * ws->opts.chunk_bytes,
				   .bytes = (uint32_t)ws->filled,
				   .owner = &ws->owner };
	digest(ws, r->data, r->bytes);
	sp__file_reserve(ws->fd, &ws->reserved, ws->offset + r->bytes);
	rc = sp__queue_submit(ws->q, &r, 1);
	if (rc)
		return fail(ws, rc, (long long)ws->offset);
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

/* True if the queue should be tried now. */
static bool wants_queue(const struct sp__wstream *ws)
{
	return !ws->plain_only &&
	       (ws->opts.direct == SP__DIRECT_ALWAYS || ws->opts.device ||
		ws->put_bytes >= LARGE_BYTES || ws->opts.expected_bytes >= LARGE_BYTES);
}

/* True if a second descriptor can write the file directly. */
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
	now = ws->opts.piece ? (off_t)ws->offset : lseek(ws->fd, 0, SEEK_CUR);
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
		return sp__volume_reopen_direct(&ws->volume, ws->fd, true, ws->name);
	rc = sp__volume_adopt(&ws->volume, ws->fd, false, ws->name, ws->err);
	return rc ? rc
		  : sp__volume_simulate(ws->volume, ws->opts.device, SP__SIM_OUTPUT, 0, ws->err);
}

/*
 * Returns the alignment of direct writes.  Two parts that share a page both write it through the
 * cache.
 */
static size_t alignment(const struct sp__wstream *ws)
{
	size_t align = ws->volume->align_bytes;

	return ws->opts.piece ? sp__max(align, (size_t)sysconf(_SC_PAGESIZE)) : align;
}

static int open_queue(struct sp__wstream *ws)
{
	struct sp__queue_opts qo = { .engine = ws->opts.engine,
				     .trace = ws->opts.trace,
				     .device = ws->opts.device };
	int rc = open_volume(ws);

	if (rc)
		return ws->opts.device ? fail(ws, rc, -1) : rc;
	if (ws->opts.chunk_bytes % alignment(ws))
		return SP_EUNSUP;
	ws->depth = sp__min(sp__max(ws->opts.depth, 1), DEPTH_MAX);
	qo.depth = ws->depth;
	rc = sp__queue_open(&ws->q, &qo, ws->opts.engine ? ws->err : NULL);
	if (rc)
		return ws->opts.engine ? fail(ws, rc, -1) : rc;
	ws->slots = calloc(ws->depth, sizeof(*ws->slots));
	return ws->slots ? 0 : -ENOMEM;
}

/* Writes the head of the collected bytes, and moves the rest to an aligned offset in pages. */
static int change_buffer(struct sp__wstream *ws, size_t head)
{
	size_t bytes = sp__pages_whole(ws->depth * ws->opts.chunk_bytes), rest = ws->filled - head;
	char *buf = ws->paged ? ws->buf : sp__pages_alloc(bytes, true);

	if (!buf)
		return -ENOMEM;
	ws->filled = head;
	if (!flush(ws))
		memmove(buf, ws->buf + head, rest);
	if (!ws->paged)
		free(ws->buf);
	ws->buf = buf;
	ws->buf_bytes = bytes;
	ws->paged = true;
	ws->filled = rest;
	return ws->error;
}

/*
 * Changes to queued, with a full chunk collected, or on a simulated machine with any bytes.  The
 * bytes before an aligned offset are written plainly.  If queueing is impossible, the stream stays
 * plain for good.
 */
static int go_queued(struct sp__wstream *ws)
{
	uint64_t at, size, align;
	size_t head;

	if (!suitable(ws, &at, &size) || (!ws->q && open_queue(ws)))
		goto never;
	align = ws->volume->direct ? alignment(ws) : 1;
	head = (size_t)((align - at % align) % align);
	if (change_buffer(ws, head))
		goto never;
	ws->fill = 0;
	ws->offset = at + head;
	ws->bad_from = UINT64_MAX;
	ws->ours = size <= ws->offset && !ws->opts.piece;
	ws->reserved = (struct sp__reserved){ .to = ws->offset,
					      .expected_end = UINT64_MAX,
					      .refused = !ws->ours };
	if (ws->opts.expected_bytes > ws->put_bytes)
		ws->reserved.expected_end = ws->offset + (ws->opts.expected_bytes - ws->put_bytes);
	ws->queued = true;
	return ws->filled == ws->opts.chunk_bytes ? submit(ws) : 0;
never:
	ws->plain_only = true;
	unqueue(ws);
	return ws->error;
}

/* Changes to write(2) after the last byte written; only between chunks. */
static int go_plain(struct sp__wstream *ws)
{
	if (drain(ws))
		return ws->error;
	ws->queued = false;
	if (!ws->opts.piece && lseek(ws->fd, (off_t)ws->offset, SEEK_SET) < 0)
		return fail(ws, -errno, (long long)ws->offset);
	return 0;
}

/* Takes some or all of the bytes, and returns their number; put_queued() does the same. */
static size_t put_plain(struct sp__wstream *ws, const char *data, size_t bytes)
{
	size_t free_bytes;

	if (!ws->buf) {
		ws->buf_bytes = ws->opts.chunk_bytes;
		ws->buf = malloc(ws->buf_bytes);
		if (!ws->buf) {
			fail(ws, -ENOMEM, -1);
			return 0;
		}
	}
	free_bytes = ws->opts.chunk_bytes - ws->filled;
	if (bytes > free_bytes && wants_queue(ws)) {
		memcpy(ws->buf + ws->filled, data, free_bytes);
		ws->filled += free_bytes;
		go_queued(ws);
		return free_bytes;
	}
	if (bytes > free_bytes) {
		if (flush(ws))
			return 0;
		if (bytes >= ws->opts.chunk_bytes) {
			write_next(ws, data, bytes);
			return bytes;
		}
	}
	sp__copy_record(ws->buf + ws->filled, data, bytes);
	ws->filled += bytes;
	return bytes;
}

/* Returns where the next byte of the current chunk goes. */
static char *next_byte(const struct sp__wstream *ws)
{
	return ws->buf + ws->fill * ws->opts.chunk_bytes + ws->filled;
}

/* Counts bytes of the current chunk as put, and submits the chunk if it is full. */
static void fill_chunk(struct sp__wstream *ws, size_t bytes)
{
	ws->filled += bytes;
	if (ws->filled == ws->opts.chunk_bytes && submit(ws))
		return;
	if (ws->plain_only && ws->filled == 0)
		go_plain(ws);
}

static size_t put_queued(struct sp__wstream *ws, const char *data, size_t bytes)
{
	size_t n = sp__min(bytes, ws->opts.chunk_bytes - ws->filled);

	sp__copy_record(next_byte(ws), data, n);
	fill_chunk(ws, n);
	return n;
}

static int finish_queued(struct sp__wstream *ws)
{
	const char *tail = ws->buf + ws->fill * ws->opts.chunk_bytes;
	size_t bytes = ws->filled;

	if (bytes && !ws->volume->direct) {
		if (submit(ws))
			return ws->error;
		bytes = 0;
	}
	if (go_plain(ws))
		return ws->error;
	ws->filled = 0;
	return write_next(ws, tail, bytes);
}

/* Truncates to the longest prefix without a gap and releases reserved space. */
static void abandon(struct sp__wstream *ws)
{
	uint64_t end;
	int n;

	while ((n = sp__queue_complete(ws->q, 1, -1)) > 0)
		;
	end = ws->offset < ws->bad_from ? ws->offset : ws->bad_from;
	if (ws->ours && n == 0 && ftruncate(ws->fd, (off_t)end) == 0)
		(void)lseek(ws->fd, (off_t)end, SEEK_SET);
}

/* Entry points. */

int sp__wstream_put(struct sp__wstream *ws, const void *data, size_t bytes)
{
	const char *at = data, *end = at + bytes;

	if (ws->packing)
		return sp__packing_put(ws->packing, data, bytes);
	if (ws->finished)
		return SP_ESTATE;
	while (at < end && !ws->error)
		at += ws->queued ? put_queued(ws, at, (size_t)(end - at))
				 : put_plain(ws, at, (size_t)(end - at));
	ws->put_bytes += bytes;
	return ws->error;
}

int sp__wstream_put_near(struct sp__wstream *ws, const char *data, size_t bytes, size_t reach)
{
	size_t free_bytes = ws->opts.chunk_bytes - ws->filled;

	/* Only bytes that do not fill the chunk are copied here. */
	if (!ws->queued || ws->error || bytes >= free_bytes)
		return sp__wstream_put(ws, data, bytes);
	sp__copy_near(next_byte(ws), data, bytes, sp__min(reach, free_bytes));
	ws->filled += bytes;
	ws->put_bytes += bytes;
	return 0;
}

char *sp__wstream_pin(struct sp__wstream *ws, size_t *bytes)
{
	if (!ws->queued || ws->error || ws->finished)
		return NULL;
	*bytes = ws->opts.chunk_bytes - ws->filled;
	return next_byte(ws);
}

int sp__wstream_put_pinned(struct sp__wstream *ws, size_t bytes)
{
	ws->put_bytes += bytes;
	fill_chunk(ws, bytes);
	return ws->error;
}

int sp__wstream_flush(struct sp__wstream *ws)
{
	return ws->error || ws->queued || ws->packing ? ws->error : flush(ws);
}

int sp__wstream_move(struct sp__wstream *ws, uint64_t at)
{
	int rc = ws->error;

	if (!rc)
		rc = ws->queued ? finish_queued(ws) : flush(ws);
	ws->offset = at;
	return rc;
}

int sp__wstream_finish(struct sp__wstream *ws)
{
	int rc;

	if (ws->packing)
		return sp__packing_finish(ws->packing);
	if (ws->error)
		return ws->error;
	/* On a simulated machine, even less than a chunk must take time. */
	if (ws->opts.device && ws->filled && !ws->queued && !ws->plain_only && go_queued(ws))
		return ws->error;
	rc = ws->queued ? finish_queued(ws) : flush(ws);
	if (rc == 0 && ws->q)
		release(ws);
	ws->finished = rc == 0;
	return rc;
}

void sp__wstream_close(struct sp__wstream *ws)
{
	if (!ws)
		return;
	sp__packing_close(ws->packing);
	if (ws->q && !ws->finished)
		abandon(ws);
	if (ws->paged)
		sp__pages_free(ws->buf, ws->buf_bytes);
	else
		free(ws->buf);
	unqueue(ws);
	free(ws->name);
	free(ws);
}

int sp__wstream_open(struct sp__wstream **out, int fd, const char *name,
		     const struct sp__wstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__wstream *ws = calloc(1, sizeof(*ws));
	int rc = 0;

	if (!ws)
		return sp__err(err, -ENOMEM, "open", name, -1);
	ws->owner.completed = completed;
	ws->fd = fd;
	ws->err = err;
	ws->opts = *opts;
	ws->name = strdup(name);
	if (!ws->name)
		rc = sp__err(err, -ENOMEM, "open", name, -1);
	else if (opts->pack != SP_PACKED_NONE)
		rc = sp__packing_open(&ws->packing, fd, name, opts, err);
	if (rc) {
		sp__wstream_close(ws);
		return rc;
	}
	*out = ws;
	return 0;
}

void sp__wstream_counters(const struct sp__wstream *ws, struct sp__io_counters *c)
{
	*c = ws->plain;
	if (ws->packing)
		sp__packing_counters(ws->packing, c);
	if (ws->q)
		sp__io_add(c, sp__queue_counters(ws->q));
}
