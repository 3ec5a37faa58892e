/* SPDX-License-Identifier: MIT */
/*
 * The read stream has two modes, and goes from the first to the second but never back:
 *
 *   queued: requests of one chunk each lie in order in a ring of `depth` slots; the head is the
 *      next to hand out.  The slot of a chunk handed out is reused at the next call.  Nothing is
 *      requested beyond the size that the file had at opening.
 *   plain: read(2) into one buffer, at the descriptor's own offset.
 *
 * Anything that queued mode cannot decide ends it: a short result, the end of the known size, a
 * file system that refuses direct I/O late.  The chunks ahead are dropped, the descriptor's offset
 * is set to the end of the last byte handed out, and plain reading finds more bytes, the end, or
 * the error.  So a file that grows or shrinks, and a tail that is no whole block, need no code of
 * their own, and the descriptor ends at the end of file as after read(2).
 *
 * Small inputs cost fstat, read, read.  Memory: depth * chunk when queued, else a chunk of at most
 * 256 KB, or the file's size if that is less.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/mem.h"
#include "io/cached.h"
#include "io/rstream_state.h"

/* Below this a queue costs more than it brings. */
#define SMALL_BYTES ((uint64_t)1 << 20)
/*
 * Of one read(2), and of a pipe: what stays in the processor's cache until it
 * has been used.  A pipe of 1 MB costs the reader three times the time.
 */
#define PLAIN_BYTES 262144

int sp__rstream_fail(struct sp__rstream *rs, int code, uint64_t offset)
{
	rs->status = sp__err(rs->err, code, "read", rs->name, (long long)offset);
	return rs->status;
}

/* Opening. */

static bool named(const char *engine)
{
	return engine && strcmp(engine, "auto") != 0;
}

static void unqueue(struct sp__rstream *rs)
{
	sp__queue_close(rs->q);
	sp__volume_close(rs->volume);
	free(rs->slots);
	if (rs->mapped)
		sp__pages_free(rs->buf, rs->buf_bytes);
	else
		free(rs->buf);
	rs->q = NULL;
	rs->volume = NULL;
	rs->slots = NULL;
	rs->buf = NULL;
	rs->mapped = false;
}

/*
 * The volume to read: direct if that is wanted and there is such a thing.
 * Buffered reading gains nothing from a queue (measured: the same time, 0.13 s
 * of processor time for 1 GB either way), so it gets one only with a named engine.
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
	    sp__volume_reopen_direct(&rs->volume, rs->fd, false, rs->name, NULL) == 0) {
		if (rs->chunk_bytes % rs->volume->align_bytes == 0)
			return 0;
		sp__volume_close(rs->volume);
		rs->volume = NULL;
	}
	posix_fadvise(rs->fd, (off_t)rs->offset, 0, POSIX_FADV_SEQUENTIAL);
	if (!named(opts->engine))
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

	rs->depth = opts->depth < SP__RSTREAM_DEPTH_MAX ? opts->depth : SP__RSTREAM_DEPTH_MAX;
	if (rs->depth > left)
		rs->depth = (unsigned)left;
	qo.depth = rs->depth;
	rc = choose_volume(rs, opts);
	if (rc)
		return rc;
	rc = sp__queue_open(&rs->q, &qo, err);
	if (rc)
		return rc;
	rs->slots = calloc(rs->depth, sizeof(*rs->slots));
	rs->buf_bytes = rs->depth * rs->chunk_bytes;
	rs->buf = sp__pages_alloc(rs->buf_bytes, true);
	rs->mapped = true;
	if (!rs->slots || !rs->buf)
		return -ENOMEM;
	return sp__rqueued_begin(rs);
}

/* More than small: worth a queue; then offset and known are set. */
static bool is_large(struct sp__rstream *rs, const struct stat *st, uint64_t small)
{
	off_t at;

	if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size <= small)
		return false;
	at = lseek(rs->fd, 0, SEEK_CUR);
	if (at < 0)
		return false;
	rs->offset = (uint64_t)at;
	rs->known = (uint64_t)st->st_size;
	return rs->known > rs->offset + small;
}

static int start(struct sp__rstream *rs, const struct sp__rstream_opts *opts,
		 struct sp_errinfo *err)
{
	bool must = named(opts->engine) || opts->device;
	struct stat st;
	int rc;

	if (fstat(rs->fd, &st))
		return -errno;
	/* On a machine no descriptor is needed, and even what is small takes its time. */
	if ((opts->device || !sp__fds_scarce()) &&
	    is_large(rs, &st, opts->device ? 0 : SMALL_BYTES)) {
		rc = start_queue(rs, opts, must ? err : NULL);
		if (rc == 0 || must)
			return rc;
		unqueue(rs);
	}
	rs->pollable = !S_ISREG(st.st_mode);
	rs->buf_bytes = rs->chunk_bytes < PLAIN_BYTES ? rs->chunk_bytes : PLAIN_BYTES;
	if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size < rs->buf_bytes)
		rs->buf_bytes = (size_t)st.st_size + 1;
	/* A larger pipe means fewer changes between writer and reader. */
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
	rs->fd = fd;
	rs->err = err;
	rs->trace = opts->trace;
	rs->status = SP_READY;
	rs->chunk_bytes = opts->chunk_bytes;
	rs->name = strdup(name);
	rc = rs->name ? start(rs, opts, err) : -ENOMEM;
	if (rc) {
		sp__rstream_close(rs);
		return sp__err(err, rc, "read", name, -1);
	}
	*out = rs;
	return 0;
}

/* Reading. */

int sp__rstream_next(struct sp__rstream *rs, const char **data, size_t *bytes, bool wait)
{
	if (rs->status != SP_READY)
		return rs->status;
	if (rs->queued)
		return sp__rqueued_next(rs, data, bytes, wait);
	return sp__rplain_next(rs, data, bytes, wait);
}

void sp__rstream_close(struct sp__rstream *rs)
{
	if (!rs)
		return;
	unqueue(rs);
	free(rs->name);
	free(rs);
}

void sp__rstream_counters(const struct sp__rstream *rs, struct sp__io_counters *c)
{
	*c = rs->plain;
	if (rs->q) {
		struct sp__io_counters queued;

		sp__queue_counters(rs->q, &queued);
		c->read_requests += queued.read_requests;
		c->read_bytes += queued.read_bytes;
	}
}

const char *sp__rstream_engine(const struct sp__rstream *rs)
{
	return rs->q ? sp__queue_engine(rs->q) : "read";
}
