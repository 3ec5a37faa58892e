/* SPDX-License-Identifier: MIT */
/*
 * Implements the read stream.
 *
 * States; a stream changes from queued to plain, never back:
 *
 *   queued  Requests of one chunk each are in order in a ring of `depth` slots; the head is the
 *           next to return.  A slot is requested (busy), then read (done), then pinned by the
 *           caller until the next call.  Requests begin and end at aligned offsets, the first one
 *           at or before the beginning of the stream, the last one at or after the size of the file
 *           at opening.
 *   plain   read(2) into one buffer, at the descriptor's own offset.  If the caller does not wait,
 *           a pipe or a terminal is polled first; if it does, a non-blocking descriptor is waited
 *           for.
 *
 * Queued mode ends at anything that it cannot decide: a short result, the end of the known size, a
 * direct read that is refused after opening.  The chunks ahead are dropped, and the descriptor's
 * offset is set to the end of the last byte returned.  Plain reading then finds more bytes, the
 * end, or the error.  So a growing file and a tail shorter than a block need no code of their own,
 * and the descriptor ends at the end of file as after read(2).
 *
 * Algorithm of read-ahead: `ahead` chunks are kept busy or done. `ahead` begins at 1, so that a
 * caller that stops early has read little.  It doubles up to depth when the caller requests a chunk
 * that is not yet read (a stall), and shrinks by 1 after STEADY consecutive chunks that were read
 * in time.  If the caller reads to the end, `ahead` is depth throughout: with writes in between,
 * single chunks cost more seeks (up to 4 % of a simulated sort).
 *
 * A regular file that is smaller at its end than it was at opening is an error.
 *
 * Memory: depth * chunk when queued, else a chunk of at most 256 KiB, or the file's size if that is
 * less.  A small input costs fstat, read, read, fstat.
 *
 * Rejected: shrinking after each chunk in time, as PostgreSQL's read streams do.  A disk as fast as
 * the caller then stalls at every other chunk.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "base/tasklog.h"
#include "base/utf8mark.h"
#include "base/whole.h"
#include "io/volume.h"
#include "io/engine.h"
#include "io/rstream.h"
#include "obs/trace.h"

#define DEPTH_MAX 64

struct slot {
	struct sp__request req; /* first */
	bool done;
};

struct sp__rstream {
	struct sp__io_owner owner;	 /* receives the completions of its requests */
	struct sp__unpacking *unpacking; /* does all the work; or NULL */
	struct sp_batch given;		 /* bytes read before, to be returned first; or none */
	struct sp__unmark unmark;
	int fd;
	char *name;
	struct sp_errinfo *err;
	struct sp__trace *trace;
	bool queued;
	bool refused;	 /* direct I/O is refused */
	bool pollable;	 /* can have nothing to read yet: pipe, terminal */
	int status;	 /* SP_READY until the end or an error, which stay */
	uint64_t offset; /* offset of the next byte to return */
	uint64_t limit;	 /* the stream ends there; UINT64_MAX: at the end of the file */
	size_t chunk_bytes;
	char *buf; /* with a queue: whole pages, allocated or the caller's */
	size_t buf_bytes;
	bool borrowed;
	struct sp__io_counters plain; /* counters of read(2) */

	struct sp__volume *volume;
	struct sp__queue *q;
	bool shared; /* q belongs to the caller */
	struct slot *slots;
	unsigned depth, head;
	unsigned nbusy; /* busy or done slots, from head on */
	unsigned ahead;
	unsigned in_time;	 /* consecutive chunks */
	bool stalled;		 /* the caller waits for the head */
	bool whole;		 /* see the options */
	bool short_read;	 /* a chunk was shorter than requested */
	uint64_t chunks, waited; /* see struct sp__read_state */
	uint64_t ask;		 /* offset of the next request */
	uint64_t known;		 /* size of a regular file at opening; else 0 */
};

/* Files smaller than this gain less from a queue than it costs. */
#define SMALL_BYTES ((uint64_t)1 << 20)
/*
 * Size of one read(2), and of a pipe: it stays in the processor's cache until it has been used.  A
 * pipe of 1 MiB triples the reader's time.
 */
#define PLAIN_BYTES 262144

/* Number of chunks in time before the read-ahead shrinks. */
#define STEADY 16

/* Records the error that every later call returns. */
static int fail(struct sp__rstream *rs, int code, uint64_t offset)
{
	rs->status = sp__err(rs->err, code, "read", rs->name, (long long)offset);
	return rs->status;
}

/* Plain. */

static int end(struct sp__rstream *rs)
{
	int rc = sp__check_uncut(rs->fd, rs->known, rs->name, rs->err);

	return rs->status = rc < 0 ? rc : SP_END;
}

/*
 * Returns 1: readable (or failing, as read will report); 0: nothing yet.  timeout_ns -1: no limit.
 */
static int ready(const struct sp__rstream *rs, int64_t timeout_ns)
{
	struct timespec t = { timeout_ns / 1000000000, timeout_ns % 1000000000 };
	struct pollfd p = { .fd = rs->fd, .events = POLLIN };
	int n;

	do {
		n = ppoll(&p, 1, timeout_ns < 0 ? NULL : &t, NULL);
	} while (n < 0 && errno == EINTR);
	return n != 0;
}

static void note_plain(struct sp__rstream *rs, uint64_t begun_ns, ssize_t n)
{
	rs->plain.read_requests++;
	if (n > 0) {
		sp__log_request(false, (uint64_t)n);
		rs->plain.read_bytes += (uint64_t)n;
	}
	if (rs->trace)
		sp__trace_request(rs->trace, 'R', rs->name, rs->offset, (uint32_t)rs->buf_bytes, 0,
				  begun_ns, sp__trace_now_ns(rs->trace), (int)n);
}

static int next_plain(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	uint64_t begun_ns = rs->trace ? sp__trace_now_ns(rs->trace) : 0;
	ssize_t n;

	if (!rs->buf)
		rs->buf = malloc(rs->buf_bytes);
	if (!rs->buf)
		return fail(rs, -ENOMEM, rs->offset);
	if (!wait && rs->pollable && !ready(rs, 0))
		return SP_LATER;
	if (rs->offset == rs->limit)
		return end(rs);
	while ((n = read(rs->fd, rs->buf, sp__min(rs->buf_bytes, rs->limit - rs->offset))) < 0) {
		if (errno == EAGAIN && !wait)
			return SP_LATER;
		if (errno == EAGAIN)
			ready(rs, -1);
		else if (errno != EINTR)
			break;
	}
	n = n < 0 ? -errno : n;
	note_plain(rs, begun_ns, n);
	if (n < 0)
		return fail(rs, (int)n, rs->offset);
	if (n == 0)
		return end(rs);
	*data = rs->buf;
	*bytes = (size_t)n;
	rs->offset += (uint64_t)n;
	return SP_READY;
}

/* Queued. */

static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	(void)owner;
	((struct slot *)r)->done = true;
}

/* Collects completed reads of all streams of the queue. */
static int collect(struct sp__rstream *rs, bool wait)
{
	int n = sp__queue_complete(rs->q, wait ? 1 : 0, wait ? -1 : 0);

	return n < 0 ? n : 0;
}

/* Waits until nothing of this stream is outstanding. */
static int drain(struct sp__rstream *rs)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < rs->nbusy;)
		if (rs->slots[(rs->head + i) % rs->depth].done)
			i++;
		else
			rc = collect(rs, true);
	return rc;
}

/* Requests chunks, as one batch, until the lower of `ahead` and `most` slots are busy. */
static int read_ahead(struct sp__rstream *rs, unsigned most)
{
	unsigned want = sp__min(rs->ahead, most), n = 0;
	struct sp__request *batch[DEPTH_MAX];
	int rc;

	for (; rs->nbusy < want && rs->ask < rs->known; rs->nbusy++) {
		unsigned at = (rs->head + rs->nbusy) % rs->depth;
		struct sp__request *r = &rs->slots[at].req;
		uint64_t align = rs->volume->align_bytes;
		uint64_t rest = (rs->known - rs->ask + align - 1) / align * align;

		*r = (struct sp__request){ .op = SP__OP_READ,
					   .volume = rs->volume,
					   .offset = rs->ask,
					   .data = rs->buf + at * rs->chunk_bytes,
					   .owner = &rs->owner };
		r->bytes = (uint32_t)(rest < rs->chunk_bytes ? rest : rs->chunk_bytes);
		rs->slots[at].done = false;
		rs->ask += r->bytes;
		batch[n++] = r;
	}
	rc = n ? sp__queue_submit(rs->q, batch, n) : 0;
	if (rc)
		rs->nbusy -= n;
	return rc;
}

/* Grows the read-ahead, since the caller wants a chunk that is still being read. */
static int stall(struct sp__rstream *rs)
{
	if (rs->stalled)
		return 0;
	rs->stalled = true;
	rs->waited++;
	rs->in_time = 0;
	rs->ahead = sp__min(2 * rs->ahead, rs->depth);
	return read_ahead(rs, rs->depth);
}

/* Hands the slot at the head to the caller. */
static int lend(struct sp__rstream *rs)
{
	if (!rs->stalled && !rs->whole && ++rs->in_time == STEADY) {
		rs->in_time = 0;
		rs->ahead = sp__max(rs->ahead - 1, 1u);
	}
	rs->stalled = false;
	rs->chunks++;
	rs->head = (rs->head + 1) % rs->depth;
	rs->nbusy--;
	return read_ahead(rs, rs->depth - 1);
}

/* Waits for the chunk at the head.  Returns 0; SP_LATER if !wait; or an error. */
static int await_head(struct sp__rstream *rs, bool wait)
{
	struct slot *s = &rs->slots[rs->head];
	int rc = read_ahead(rs, rs->depth);

	if (!rc && rs->nbusy && !s->done)
		rc = collect(rs, false);
	while (!rc && rs->nbusy && !s->done) {
		rc = stall(rs);
		if (!rc && !wait)
			return SP_LATER;
		if (!rc)
			rc = collect(rs, true);
	}
	return rc;
}

static int go_plain(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	int rc = drain(rs);

	if (rc)
		return fail(rs, rc, rs->offset);
	rs->queued = false;
	if (lseek(rs->fd, (off_t)rs->offset, SEEK_SET) < 0)
		return fail(rs, -errno, rs->offset);
	return next_plain(rs, data, bytes, wait);
}

static int next_queued(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	struct slot *s = &rs->slots[rs->head];
	uint64_t skip;
	int rc;

	if (rs->short_read)
		return go_plain(rs, data, bytes, wait);
	rc = await_head(rs, wait);
	if (rc == SP_LATER)
		return rc;
	if (rc)
		return fail(rs, rc, rs->offset);
	if (!rs->nbusy || (s->req.result == -EINVAL && rs->volume->direct))
		return go_plain(rs, data, bytes, wait);
	if (s->req.result < 0)
		return fail(rs, s->req.result, s->req.offset);
	/* The first chunk begins at an aligned offset before the stream. */
	skip = rs->offset - s->req.offset;
	if ((uint64_t)s->req.result <= skip)
		return go_plain(rs, data, bytes, wait);
	*data = (char *)s->req.data + skip;
	*bytes = (size_t)sp__min((size_t)s->req.result - skip, rs->limit - rs->offset);
	rs->offset += *bytes;
	if ((uint32_t)s->req.result < s->req.bytes)
		rs->short_read = true;
	rc = lend(rs);
	return rc ? fail(rs, rc, rs->offset) : SP_READY;
}

/* Opening. */

static void unqueue(struct sp__rstream *rs)
{
	if (!rs->shared)
		sp__queue_close(rs->q);
	sp__volume_close(rs->volume);
	free(rs->slots);
	if (rs->q && !rs->borrowed)
		sp__pages_free(rs->buf, rs->buf_bytes);
	else if (!rs->borrowed)
		free(rs->buf);
	rs->q = NULL;
	rs->shared = false;
	rs->volume = NULL;
	rs->slots = NULL;
	rs->buf = NULL;
}

/*
 * Chooses the volume to read: direct if that is wanted and possible.  Buffered reading gains
 * nothing from a queue (measured: the same time, 0.13 s of processor time per GB either way), so it
 * gets one only with a named engine.
 */
static int choose_volume(struct sp__rstream *rs, const struct sp__rstream_opts *opts)
{
	enum sp__direct direct = opts->direct;
	int rc;

	if (opts->device) {
		rc = sp__volume_adopt(&rs->volume, rs->fd, false, rs->name, NULL);
		if (rc == 0)
			sp__volume_place(rs->volume, opts->device, opts->sim_file);
		return rc;
	}
	if (direct == SP__DIRECT_AUTO && sp__file_cached(rs->fd, rs->offset, rs->known))
		direct = SP__DIRECT_NEVER;
	if (direct != SP__DIRECT_NEVER &&
	    sp__volume_reopen_direct(&rs->volume, rs->fd, false, rs->name) == 0) {
		if (rs->chunk_bytes % rs->volume->align_bytes == 0)
			return 0;
		sp__volume_close(rs->volume);
		rs->volume = NULL;
	}
	rs->refused = direct != SP__DIRECT_NEVER;
	posix_fadvise(rs->fd, (off_t)rs->offset, 0, POSIX_FADV_SEQUENTIAL);
	if (sp__engine_is_auto(opts->engine))
		return SP_EUNSUP;
	return sp__volume_adopt(&rs->volume, rs->fd, false, rs->name, NULL);
}

static int start_queue(struct sp__rstream *rs, const struct sp__rstream_opts *opts,
		       struct sp_errinfo *err)
{
	struct sp__queue_opts qo = { .engine = opts->engine,
				     .trace = opts->trace,
				     .device = opts->device };
	uint64_t left = (rs->known - rs->offset + rs->chunk_bytes - 1) / rs->chunk_bytes;
	int rc;

	rs->depth = (unsigned)sp__min(sp__min(opts->depth, DEPTH_MAX), left);
	qo.depth = rs->depth;
	rc = choose_volume(rs, opts);
	if (rc)
		return rc;
	rs->q = opts->queue;
	rs->shared = rs->q;
	if (!rs->q)
		rc = sp__queue_open(&rs->q, &qo, err);
	if (rc)
		return rc;
	rs->slots = calloc(rs->depth, sizeof(*rs->slots));
	/* Borrowed memory ends there: the next stream's memory can follow. */
	rs->buf_bytes = rs->depth * rs->chunk_bytes;
	if (!rs->borrowed)
		rs->buf_bytes = sp__pages_whole(rs->buf_bytes);
	rs->buf = rs->borrowed ? opts->memory : sp__pages_alloc(rs->buf_bytes, true);
	if (!rs->slots || !rs->buf)
		return -ENOMEM;
	rs->ask = rs->offset - rs->offset % rs->volume->align_bytes;
	rs->ahead = rs->whole ? rs->depth : 1;
	rs->stalled = true; /* waiting for the first chunk is not a stall */
	rc = read_ahead(rs, rs->depth);
	rs->queued = rc == 0;
	return rc;
}

/* True if the file is large enough for a queue; then offset is set. */
static bool is_large(struct sp__rstream *rs, const struct stat *st, uint64_t small)
{
	off_t at;

	if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size <= small)
		return false;
	at = lseek(rs->fd, 0, SEEK_CUR);
	if (at < 0)
		return false;
	rs->offset = (uint64_t)at;
	return rs->known > rs->offset + small;
}

static int start(struct sp__rstream *rs, const struct sp__rstream_opts *opts,
		 struct sp_errinfo *err)
{
	bool must = !sp__engine_is_auto(opts->engine) || opts->device;
	struct stat st;
	off_t at;
	int rc;

	if (fstat(rs->fd, &st))
		return -errno;
	rs->known = S_ISREG(st.st_mode) ? sp__min((uint64_t)st.st_size, rs->limit) : 0;
	if (rs->limit < UINT64_MAX && (at = lseek(rs->fd, 0, SEEK_CUR)) >= 0)
		rs->offset = (uint64_t)at;
	/* A simulated machine needs no second descriptor, and even small reads take time there. */
	if ((opts->device || !sp__fds_scarce()) &&
	    is_large(rs, &st, opts->device ? 0 : SMALL_BYTES)) {
		rc = start_queue(rs, opts, must ? err : NULL);
		if (rc == 0 || must)
			return rc;
		unqueue(rs);
	}
	rs->buf = opts->memory;
	rs->pollable = !S_ISREG(st.st_mode);
	rs->buf_bytes = rs->chunk_bytes < PLAIN_BYTES ? rs->chunk_bytes : PLAIN_BYTES;
	if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size < rs->buf_bytes)
		rs->buf_bytes = (size_t)st.st_size + 1;
	/* A larger pipe needs fewer context switches between writer and reader. */
	if (S_ISFIFO(st.st_mode) && fcntl(rs->fd, F_GETPIPE_SZ) < PLAIN_BYTES)
		(void)fcntl(rs->fd, F_SETPIPE_SZ, PLAIN_BYTES);
	return 0;
}

int sp__rstream_open(struct sp__rstream **out, int fd, const char *name,
		     const struct sp__rstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__rstream *rs = calloc(1, sizeof(*rs));
	int rc;

	if (!rs)
		return sp__err(err, -ENOMEM, "open", name, -1);
	rs->owner.completed = completed;
	rs->fd = fd;
	rs->err = err;
	rs->trace = opts->trace;
	rs->whole = opts->whole;
	rs->limit = opts->limited ? opts->limit : UINT64_MAX;
	rs->borrowed = opts->memory;
	rs->status = SP_READY;
	rs->unmark.over = !opts->drop_mark;
	rs->chunk_bytes = opts->chunk_bytes;
	rs->name = strdup(name);
	if (!rs->name)
		rc = -ENOMEM;
	else if (sp__unpacking_wanted(fd, opts))
		rc = sp__unpacking_open(&rs->unpacking, fd, name, opts, err);
	else
		rc = start(rs, opts, err);
	if (!rs->unpacking)
		rs->given = opts->ahead;
	if (rc) {
		sp__rstream_close(rs);
		return sp__err(err, rc, "read", name, -1);
	}
	*out = rs;
	return 0;
}

/* Returns the span to the caller and clears it. */
static int give(struct sp_batch *span, const char **data, size_t *bytes)
{
	*data = span->data;
	*bytes = span->bytes;
	span->bytes = 0;
	return SP_READY;
}

static int next_bytes(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	if (rs->unpacking)
		return sp__unpacking_next(rs->unpacking, data, bytes, wait);
	if (rs->given.bytes)
		return give(&rs->given, data, bytes);
	if (rs->status != SP_READY)
		return rs->status;
	return rs->queued ? next_queued(rs, data, bytes, wait) : next_plain(rs, data, bytes, wait);
}

/* Returns the next span at the beginning of a text that can have a byte order mark. */
static int next_unmarked(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	struct sp_batch span = { 0 };
	int rc;

	do {
		rc = next_bytes(rs, &span.data, &span.bytes, wait);
		if (rc != SP_READY && rc != SP_END)
			return rc;
		if (rc == SP_END)
			span = (struct sp_batch){ 0 };
	} while (!sp__unmark(&rs->unmark, &span, rc == SP_END) && rc != SP_END);
	return span.bytes ? give(&span, data, bytes) : rc;
}

int sp__rstream_next(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	if (rs->unmark.rest.bytes)
		return give(&rs->unmark.rest, data, bytes);
	return rs->unmark.over ? next_bytes(rs, data, bytes, wait)
			       : next_unmarked(rs, data, bytes, wait);
}

bool sp__rstream_marked(const struct sp__rstream *rs)
{
	return rs->unmark.marked;
}

int sp__rstream_wait(struct sp__rstream *rs, int64_t timeout_ns)
{
	int rc;

	if (rs->unpacking)
		return sp__unpacking_wait(rs->unpacking, timeout_ns);
	rc = rs->queued ? sp__queue_wait(rs->q, timeout_ns) : ready(rs, timeout_ns);
	return rc < 0 ? fail(rs, rc, rs->offset) : rc;
}

int sp__rstream_fd(const struct sp__rstream *rs)
{
	if (rs->unpacking)
		return -1;
	return rs->queued ? sp__queue_fd(rs->q) : rs->fd;
}

void sp__rstream_close(struct sp__rstream *rs)
{
	if (!rs)
		return;
	sp__unpacking_close(rs->unpacking);
	unqueue(rs);
	free(rs->name);
	free(rs);
}

void sp__rstream_counters(const struct sp__rstream *rs, struct sp__io_counters *c)
{
	*c = rs->plain;
	if (rs->unpacking)
		sp__unpacking_counters(rs->unpacking, c);
	if (rs->q && !rs->shared)
		sp__io_add(c, sp__queue_counters(rs->q));
}

void sp__rstream_state(const struct sp__rstream *rs, struct sp__read_state *r)
{
	*r = (struct sp__read_state){ .direct = rs->queued && rs->volume->direct,
				      .asked = rs->ask >= rs->known,
				      .chunks = rs->chunks,
				      .waited = rs->waited };
}

bool sp__rstream_refused(const struct sp__rstream *rs)
{
	return rs->refused;
}

const char *sp__rstream_engine(const struct sp__rstream *rs)
{
	return rs->q ? sp__queue_engine(rs->q) : "read";
}
