/* SPDX-License-Identifier: MIT */
/*
 * Packs an output, or unpacks an input, in a thread of its own.  A ring (base/ring.h) connects the
 * thread and the caller.
 *
 *	packing    the caller fills the ring; the thread packs and writes the bytes.  If it fails,
 *	           it abandons the ring, and the caller finds its error.
 *	unpacking  the thread reads, unpacks and fills the ring; the caller takes the bytes.  A
 *	           buffer is published before it is full if the caller would otherwise wait for a
 *	           pipe.
 *
 * The thread owns the stream of packed bytes and the encoder or decoder.  The ring's lock covers
 * the counters.
 *
 * If the system refuses a thread, the caller packs each buffer when it is full, and fills a buffer
 * when it requests one.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "base/task.h"
#include "io/packing.h"
#include "pack/pack.h"
#include "pack/unpack.h"

#define CHUNK_MAX (256u << 10)
/* Time for which the thread waits for a pipe before it checks whether it must stop. */
#define STOP_NS 50000000

struct sp__packing {
	/* Constant. */
	bool packs; /* the direction */
	int fd;
	char *name;
	struct sp__wstream_opts written; /* options of the packed stream, written ... */
	struct sp__rstream_opts read;	 /* ... or read */
	enum sp_packed format;
	struct sp__packmemory memory; /* for the encoder or decoder */
	size_t chunk_bytes;
	struct sp_errinfo *err;
	char *mem; /* the ring's buffers; when packing, then packed bytes */
	bool threaded;
	struct sp__task task;

	struct sp__ring ring;
	struct sp__io_counters counters; /* under the ring's lock */

	/*
	 * Owned by the thread; the caller reads error and own_err too, once the ring is abandoned
	 * or the end is published.
	 */
	struct sp_errinfo own_err;

	/* Packing. */
	int error;
	struct sp__wstream *packed;
	struct sp__encoder *encoder;

	/* Unpacking. */
	struct sp__rstream *raw;
	struct sp__decoder *decoder; /* NULL: the bytes are returned unchanged */
	char *beginning;	     /* bytes read before the format is known */
	size_t beginning_bytes;
	bool begun, raw_ended;
	struct sp__packspan span;
};

/* Packing: the thread takes from the ring. */

static int begin_packing(struct sp__packing *p)
{
	int rc = sp__wstream_open(&p->packed, p->fd, p->name, &p->written, &p->own_err);

	return rc ? rc
		  : sp__encoder_new(&p->encoder, p->format, p->name, p->memory.bytes, &p->own_err);
}

static int pack(struct sp__packing *p, const char *data, size_t bytes, bool end)
{
	char *out = p->mem + SP__RING_BUFFERS * p->chunk_bytes;
	struct sp__packspan span = { .in = data, .in_bytes = bytes };
	int rc = p->encoder ? 0 : begin_packing(p), more = 1;

	while (!rc && more > 0) {
		span.out = out;
		span.out_free = p->chunk_bytes;
		more = sp__encoder_run(p->encoder, &span, end);
		rc = more < 0 ? more : sp__wstream_put(p->packed, out, (size_t)(span.out - out));
	}
	if (!rc && end)
		rc = sp__wstream_finish(p->packed);
	pthread_mutex_lock(&p->ring.lock);
	if (p->packed)
		sp__wstream_counters(p->packed, &p->counters);
	pthread_mutex_unlock(&p->ring.lock);
	return rc;
}

/* Packs the next buffer, or the end.  SP_READY: there can be more. */
static int pack_next(struct sp__packing *p, bool wait)
{
	const char *data = NULL;
	size_t bytes = 0;
	int rc = sp__ring_get(&p->ring, wait, &data, &bytes);

	if (rc != SP_READY && rc != SP_END)
		return rc;
	p->error = pack(p, data, bytes, rc == SP_END);
	sp__ring_release(&p->ring);
	if (p->error)
		sp__ring_abandon(&p->ring);
	return rc;
}

/* Unpacking: the thread fills the ring. */

/* Reads the next span: SP_READY; SP_END; SP_LATER if !wait; or an error. */
static int read_raw(struct sp__packing *p, bool wait)
{
	int rc;

	if (p->raw_ended)
		return SP_END;
	while ((rc = sp__rstream_next(p->raw, &p->span.in, &p->span.in_bytes, false)) == SP_LATER &&
	       wait) {
		if (sp__ring_abandoned(&p->ring))
			return SP_END;
		rc = sp__rstream_wait(p->raw, STOP_NS);
		if (rc < 0)
			return rc;
	}
	pthread_mutex_lock(&p->ring.lock);
	sp__rstream_counters(p->raw, &p->counters);
	pthread_mutex_unlock(&p->ring.lock);
	p->raw_ended = rc == SP_END;
	return rc;
}

static int keep_beginning(struct sp__packing *p)
{
	char *data = realloc(p->beginning, p->beginning_bytes + p->span.in_bytes);

	if (!data)
		return sp__err(&p->own_err, -ENOMEM, "allocate", NULL, -1);
	memcpy(data + p->beginning_bytes, p->span.in, p->span.in_bytes);
	p->beginning = data;
	p->beginning_bytes += p->span.in_bytes;
	return 0;
}

/*
 * Returns the format of the bytes read: the given one if they can have it; with AUTO the format of
 * the first frame that is not skipped.
 */
static enum sp_packed format_of(const struct sp__packing *p)
{
	bool frames = p->format == SP_PACKED_AUTO || p->format == SP_PACKED_ZSTD ||
		      p->format == SP_PACKED_LZ4;

	if (frames && sp__packed_skippable(p->beginning, p->beginning_bytes))
		return p->format;
	return sp_packed_by_magic(p->beginning, p->beginning_bytes);
}

/* Opens the stream and chooses the decoder. */
static int begin_unpacking(struct sp__packing *p)
{
	enum sp_packed is;
	int rc = sp__rstream_open(&p->raw, p->fd, p->name, &p->read, &p->own_err);

	p->begun = true;
	if (rc < 0)
		return rc;
	while (p->beginning_bytes < SP_PACKED_MAGIC_BYTES) {
		rc = read_raw(p, true);
		if (rc == SP_READY)
			rc = keep_beginning(p);
		else if (rc == SP_END)
			break;
		if (rc < 0)
			return rc;
	}
	p->span.in = p->beginning;
	p->span.in_bytes = p->beginning_bytes;
	is = format_of(p);
	if (p->format != SP_PACKED_AUTO && is != p->format)
		return sp__errf(&p->own_err, SP_EFORMAT, "read", p->name, -1,
				"it is not in the format %s", sp_packed_name(p->format));
	if (is == SP_PACKED_NONE)
		return sp__packed_refuse(p->beginning, p->beginning_bytes, p->name, &p->own_err);
	return sp__decoder_new(&p->decoder, is, p->name, &p->memory, &p->own_err);
}

static int unpack(struct sp__packing *p)
{
	size_t n = sp__min(p->span.in_bytes, p->span.out_free);

	if (p->decoder)
		return sp__decoder_run(p->decoder, &p->span);
	if (n)
		memcpy(p->span.out, p->span.in, n);
	sp__packspan_advance(&p->span, n, n);
	return 0;
}

/* Fills a buffer.  SP_READY: it has bytes, unless the thread must stop; SP_END; or an error. */
static int fill(struct sp__packing *p, struct sp__ring_buffer *c)
{
	int rc = p->begun ? 0 : begin_unpacking(p);

	p->span.out = c->mem;
	p->span.out_free = p->chunk_bytes;
	/* Output that did not fit is still in the decoder, so the decoder comes first. */
	while (!rc) {
		rc = unpack(p);
		if (rc || !p->span.out_free)
			break;
		rc = read_raw(p, p->span.out_free == p->chunk_bytes);
		if (rc != SP_READY)
			break;
		rc = 0;
	}
	c->bytes = p->chunk_bytes - p->span.out_free;
	if (rc < 0 || c->bytes)
		return rc < 0 ? rc : SP_READY;
	rc = p->decoder ? sp__decoder_end(p->decoder) : 0;
	return rc < 0 ? rc : SP_END;
}

/* Fills and publishes a buffer, or the end.  SP_READY: there can be more. */
static int fill_next(struct sp__packing *p)
{
	struct sp__ring_buffer *c = sp__ring_empty(&p->ring);
	int rc = c ? fill(p, c) : -ECANCELED;

	sp__ring_publish(&p->ring, rc);
	return rc;
}

/* The thread. */

static void release(struct sp__packing *p)
{
	sp__encoder_free(p->encoder);
	sp__wstream_close(p->packed);
	sp__decoder_free(p->decoder);
	sp__rstream_close(p->raw);
	free(p->beginning);
	p->encoder = NULL;
	p->packed = NULL;
	p->decoder = NULL;
	p->raw = NULL;
	p->beginning = NULL;
}

static void work(void *arg)
{
	struct sp__packing *p = arg;

	while ((p->packs ? pack_next(p, true) : fill_next(p)) == SP_READY)
		;
	release(p);
}

/* The caller. */

static int prepare(struct sp__packing *p, const char *name, struct sp_batch ahead)
{
	size_t buffers = SP__RING_BUFFERS + (p->packs ? 1 : 0);

	sp__ring_init(&p->ring);
	p->own_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	p->chunk_bytes = sp__min(p->chunk_bytes, CHUNK_MAX);
	p->memory.bytes -= sp__min(p->memory.bytes, buffers * p->chunk_bytes);
	p->name = strdup(name);
	p->mem = malloc(buffers * p->chunk_bytes);
	p->beginning = malloc(sp__max(ahead.bytes, 1));
	if (!p->name || !p->mem || !p->beginning)
		return -ENOMEM;
	if (ahead.bytes)
		memcpy(p->beginning, ahead.data, ahead.bytes);
	p->beginning_bytes = ahead.bytes;
	sp__ring_use(&p->ring, p->mem, p->chunk_bytes);
	return 0;
}

/* Starts a copy of *with. */
static int start(struct sp__packing **packing, const struct sp__packing *with, const char *name,
		 struct sp_batch ahead)
{
	struct sp__packing *p = malloc(sizeof(*p));

	if (!p)
		return sp__err(with->err, -ENOMEM, "allocate", NULL, -1);
	*p = *with;
	if (prepare(p, name, ahead) < 0) {
		sp__packing_close(p);
		return sp__err(with->err, -ENOMEM, "allocate", NULL, -1);
	}
	p->threaded = sp__task_start_thread(&p->task, work, p);
	*packing = p;
	return 0;
}

int sp__packing_open(struct sp__packing **packing, int fd, const char *name,
		     const struct sp__wstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__packing p = {
		.packs = true,
		.fd = fd,
		.written = *opts,
		.format = opts->pack,
		.memory.bytes = opts->pack_bytes,
		.chunk_bytes = opts->chunk_bytes,
		.err = err,
	};

	p.written.pack = SP_PACKED_NONE;
	p.written.expected_bytes = 0;
	return start(packing, &p, name, (struct sp_batch){ 0 });
}

int sp__unpacking_open(struct sp__packing **packing, int fd, const char *name,
		       const struct sp__rstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__packing p = {
		.fd = fd,
		.read = *opts,
		.format = opts->unpack,
		.memory = {
			.bytes = opts->unpack_bytes,
			/* In addition, with a larger -S. */
			.beside_bytes = SP__RING_BUFFERS * CHUNK_MAX,
			.share = opts->unpack_share,
		},
		.chunk_bytes = opts->chunk_bytes,
		.err = err,
	};

	p.read.unpack = SP_PACKED_NONE;
	p.read.drop_mark = false; /* the mark is in the unpacked text */
	p.read.queue = NULL;	  /* a queue belongs to one thread */
	p.read.ahead = (struct sp_batch){ 0 };
	p.read.whole = true;
	return start(packing, &p, name, opts->ahead);
}

void sp__packing_close(struct sp__packing *p)
{
	if (!p)
		return;
	sp__ring_abandon(&p->ring);
	sp__task_join(&p->task);
	release(p);
	sp__ring_destroy(&p->ring);
	free(p->mem);
	free(p->name);
	free(p);
}

/*
 * Returns rc, with the thread's error as the caller's; raises the signal that write(2) would have
 * sent.
 */
static int report(struct sp__packing *p, int rc)
{
	if (p->packs && rc == -EPIPE && p->threaded)
		raise(SIGPIPE);
	if (rc < 0 && p->err && !p->err->code)
		*p->err = p->own_err;
	return rc;
}

static void publish(struct sp__packing *p, int rc)
{
	sp__ring_publish(&p->ring, rc);
	if (!p->threaded)
		(void)pack_next(p, false);
}

int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes)
{
	struct sp__ring_buffer *to = NULL;
	const char *at = data;

	while (bytes && (to = sp__ring_empty(&p->ring))) {
		size_t n = sp__min(bytes, p->chunk_bytes - to->bytes);

		memcpy(to->mem + to->bytes, at, n);
		to->bytes += n;
		at += n;
		bytes -= n;
		if (to->bytes == p->chunk_bytes)
			publish(p, SP_READY);
	}
	return bytes ? report(p, p->error) : 0;
}

int sp__packing_finish(struct sp__packing *p)
{
	const struct sp__ring_buffer *last = sp__ring_empty(&p->ring);

	if (last && last->bytes)
		publish(p, SP_READY);
	publish(p, SP_END);
	sp__task_join(&p->task);
	return report(p, p->error);
}

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

int sp__unpacking_next(struct sp__packing *p, const char **data, size_t *bytes, bool wait)
{
	sp__ring_release(&p->ring);
	if (!p->threaded && !sp__ring_await(&p->ring, 0))
		(void)fill_next(p);
	return report(p, sp__ring_get(&p->ring, wait, data, bytes));
}

int sp__unpacking_wait(struct sp__packing *p, int64_t timeout_ns)
{
	return !p->threaded || sp__ring_await(&p->ring, timeout_ns);
}

void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c)
{
	pthread_mutex_lock(&p->ring.lock);
	*c = p->counters;
	pthread_mutex_unlock(&p->ring.lock);
}
