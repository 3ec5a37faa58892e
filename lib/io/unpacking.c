/* SPDX-License-Identifier: MIT */
/*
 * Reads and unpacks, in a thread of its own, the bytes that the caller takes from a ring
 * (base/ring.h).
 *
 * The thread owns the input stream and the decoder.  The ring's lock covers the counters.  A buffer
 * is published before it is full if the caller would otherwise wait for a pipe.
 *
 * If the system refuses a thread, the caller fills each buffer itself when it requests one.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "base/task.h"
#include "io/unpacking.h"
#include "pack/unpack.h"

#define CHUNK_MAX (256u << 10)
/* Time for which the thread waits for a pipe before it checks whether it must stop. */
#define STOP_NS 50000000

struct sp__unpacking {
	/* Constant. */
	int fd;
	char *name;
	struct sp__rstream_opts opts; /* options of the packed stream */
	enum sp_packed format;
	struct sp__packmemory memory; /* for unpacking */
	size_t chunk_bytes;
	struct sp_errinfo *err;
	char *mem; /* the ring's buffers */
	bool threaded;
	struct sp__task task;

	struct sp__ring ring;
	struct sp__io_counters counters; /* under the ring's lock */

	/* Owned by the thread; the caller reads own_err too, once the end is published. */
	struct sp_errinfo own_err;
	struct sp__rstream *raw;
	struct sp__decoder *decoder; /* NULL: the bytes are returned unchanged */
	char *beginning;	     /* bytes read before the format is known */
	size_t beginning_bytes;
	bool begun, raw_ended;
	struct sp__packspan span;
};

/* Reading. */

/* Reads the next span: SP_READY; SP_END; SP_LATER if !wait; or an error. */
static int read_raw(struct sp__unpacking *u, bool wait)
{
	int rc;

	if (u->raw_ended)
		return SP_END;
	while ((rc = sp__rstream_next(u->raw, &u->span.in, &u->span.in_bytes, false)) == SP_LATER &&
	       wait) {
		if (sp__ring_abandoned(&u->ring))
			return SP_END;
		rc = sp__rstream_wait(u->raw, STOP_NS);
		if (rc < 0)
			return rc;
	}
	pthread_mutex_lock(&u->ring.lock);
	sp__rstream_counters(u->raw, &u->counters);
	pthread_mutex_unlock(&u->ring.lock);
	u->raw_ended = rc == SP_END;
	return rc;
}

static int keep_beginning(struct sp__unpacking *u)
{
	char *data = realloc(u->beginning, u->beginning_bytes + u->span.in_bytes);

	if (!data)
		return sp__err(&u->own_err, -ENOMEM, "allocate", NULL, -1);
	memcpy(data + u->beginning_bytes, u->span.in, u->span.in_bytes);
	u->beginning = data;
	u->beginning_bytes += u->span.in_bytes;
	return 0;
}

/*
 * Returns the format of the bytes read: the given one if they can have it; with AUTO the format of
 * the first frame that is not skipped.
 */
static enum sp_packed format_of(const struct sp__unpacking *u)
{
	bool frames = u->format == SP_PACKED_AUTO || u->format == SP_PACKED_ZSTD ||
		      u->format == SP_PACKED_LZ4;

	if (frames && sp__packed_skippable(u->beginning, u->beginning_bytes))
		return u->format;
	return sp_packed_by_magic(u->beginning, u->beginning_bytes);
}

/* Opens the stream and chooses the decoder. */
static int begin(struct sp__unpacking *u)
{
	enum sp_packed is;
	int rc = sp__rstream_open(&u->raw, u->fd, u->name, &u->opts, &u->own_err);

	u->begun = true;
	if (rc < 0)
		return rc;
	while (u->beginning_bytes < SP_PACKED_MAGIC_BYTES) {
		rc = read_raw(u, true);
		if (rc == SP_READY)
			rc = keep_beginning(u);
		else if (rc == SP_END)
			break;
		if (rc < 0)
			return rc;
	}
	u->span.in = u->beginning;
	u->span.in_bytes = u->beginning_bytes;
	is = format_of(u);
	if (u->format != SP_PACKED_AUTO && is != u->format)
		return sp__errf(&u->own_err, SP_EFORMAT, "read", u->name, -1,
				"it is not in the format %s", sp_packed_name(u->format));
	if (is == SP_PACKED_NONE)
		return sp__packed_refuse(u->beginning, u->beginning_bytes, u->name, &u->own_err);
	return sp__decoder_new(&u->decoder, is, u->name, &u->memory, &u->own_err);
}

/* Unpacking. */

static int unpack(struct sp__unpacking *u)
{
	size_t n = sp__min(u->span.in_bytes, u->span.out_free);

	if (u->decoder)
		return sp__decoder_run(u->decoder, &u->span);
	if (n)
		memcpy(u->span.out, u->span.in, n);
	sp__packspan_advance(&u->span, n, n);
	return 0;
}

/* Fills a buffer.  SP_READY: it has bytes, unless the thread must stop; SP_END; or an error. */
static int fill(struct sp__unpacking *u, struct sp__ring_buffer *c)
{
	int rc = u->begun ? 0 : begin(u);

	u->span.out = c->mem;
	u->span.out_free = u->chunk_bytes;
	/* Output that did not fit is still in the decoder, so the decoder comes first. */
	while (!rc) {
		rc = unpack(u);
		if (rc || !u->span.out_free)
			break;
		rc = read_raw(u, u->span.out_free == u->chunk_bytes);
		if (rc != SP_READY)
			break;
		rc = 0;
	}
	c->bytes = u->chunk_bytes - u->span.out_free;
	if (rc < 0 || c->bytes)
		return rc < 0 ? rc : SP_READY;
	rc = u->decoder ? sp__decoder_end(u->decoder) : 0;
	return rc < 0 ? rc : SP_END;
}

/* The producer of the ring. */

/* Fills and publishes a buffer, or the end.  SP_READY: there can be more. */
static int fill_next(struct sp__unpacking *u)
{
	struct sp__ring_buffer *c = sp__ring_empty(&u->ring);
	int rc = c ? fill(u, c) : -ECANCELED;

	sp__ring_publish(&u->ring, rc);
	return rc;
}

static void finish(struct sp__unpacking *u)
{
	sp__decoder_free(u->decoder);
	sp__rstream_close(u->raw);
	free(u->beginning);
	u->decoder = NULL;
	u->raw = NULL;
	u->beginning = NULL;
}

static void work(void *arg)
{
	struct sp__unpacking *u = arg;

	while (fill_next(u) == SP_READY)
		;
	finish(u);
}

/* The caller. */

bool sp__unpacking_wanted(int fd, const struct sp__rstream_opts *opts)
{
	char magic[SP_PACKED_MAGIC_BYTES];
	struct stat st;
	ssize_t n;
	off_t at;

	if (opts->unpack != SP_PACKED_AUTO || opts->ahead.bytes || fstat(fd, &st) ||
	    !S_ISREG(st.st_mode))
		return opts->unpack != SP_PACKED_NONE;
	at = lseek(fd, 0, SEEK_CUR);
	n = at < 0 ? 0 : pread(fd, magic, sizeof(magic), at);
	return n > 0 && (sp_packed_by_magic(magic, (size_t)n) != SP_PACKED_NONE ||
			 sp_packed_foreign(magic, (size_t)n));
}

static int prepare(struct sp__unpacking *u, const struct sp__rstream_opts *opts)
{
	u->opts = *opts;
	u->opts.unpack = SP_PACKED_NONE;
	u->opts.drop_mark = false; /* the mark is in the unpacked text */
	u->opts.queue = NULL;	   /* a queue belongs to one thread */
	u->opts.ahead = (struct sp_batch){ 0 };
	u->opts.whole = true;
	u->format = opts->unpack;
	u->chunk_bytes = sp__min(opts->chunk_bytes, CHUNK_MAX);
	u->memory = (struct sp__packmemory){
		.bytes = opts->unpack_bytes -
			 sp__min(opts->unpack_bytes, SP__RING_BUFFERS * u->chunk_bytes),
		.beside_bytes = SP__RING_BUFFERS * CHUNK_MAX, /* in addition, with a larger -S */
		.share = opts->unpack_share,
	};
	u->beginning = malloc(sp__max(opts->ahead.bytes, 1));
	u->mem = malloc(SP__RING_BUFFERS * u->chunk_bytes);
	if (!u->name || !u->beginning || !u->mem)
		return -ENOMEM;
	if (opts->ahead.bytes)
		memcpy(u->beginning, opts->ahead.data, opts->ahead.bytes);
	u->beginning_bytes = opts->ahead.bytes;
	sp__ring_use(&u->ring, u->mem, u->chunk_bytes);
	return 0;
}

int sp__unpacking_open(struct sp__unpacking **unpacking, int fd, const char *name,
		       const struct sp__rstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__unpacking *u = calloc(1, sizeof(*u));

	if (!u)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	u->fd = fd;
	u->name = strdup(name);
	u->err = err;
	u->own_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__ring_init(&u->ring);
	if (prepare(u, opts) < 0) {
		sp__unpacking_close(u);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	u->threaded = sp__task_start_thread(&u->task, work, u);
	*unpacking = u;
	return 0;
}

void sp__unpacking_close(struct sp__unpacking *u)
{
	if (!u)
		return;
	sp__ring_abandon(&u->ring);
	sp__task_join(&u->task);
	finish(u);
	sp__ring_destroy(&u->ring);
	free(u->mem);
	free(u->name);
	free(u);
}

int sp__unpacking_next(struct sp__unpacking *u, const char **data, size_t *bytes, bool wait)
{
	int rc;

	sp__ring_release(&u->ring);
	if (!u->threaded && !sp__ring_await(&u->ring, 0))
		(void)fill_next(u);
	rc = sp__ring_get(&u->ring, wait, data, bytes);
	if (rc < 0 && u->err && !u->err->code)
		*u->err = u->own_err;
	return rc;
}

int sp__unpacking_wait(struct sp__unpacking *u, int64_t timeout_ns)
{
	return !u->threaded || sp__ring_await(&u->ring, timeout_ns);
}

void sp__unpacking_counters(struct sp__unpacking *u, struct sp__io_counters *c)
{
	pthread_mutex_lock(&u->ring.lock);
	*c = u->counters;
	pthread_mutex_unlock(&u->ring.lock);
}
