/* SPDX-License-Identifier: MIT */
/*
 * Packs and writes, in a thread of its own, the bytes that the caller puts into a ring
 * (base/ring.h).
 *
 * The thread owns the encoder and the output stream.  The ring's lock covers the counters.  If the
 * thread fails, it abandons the ring, and the caller finds its error.
 *
 * If the system refuses a thread, the caller packs each buffer when it is full.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "base/task.h"
#include "io/packing.h"
#include "pack/pack.h"

#define CHUNK_MAX (256u << 10)

struct sp__packing {
	/* Constant. */
	int fd;
	char *name;
	struct sp__wstream_opts opts; /* options of the packed stream */
	enum sp_packed format;
	uint64_t memory_bytes; /* for packing */
	size_t chunk_bytes;
	struct sp_errinfo *err;
	char *mem; /* the ring's buffers, then packed bytes */
	bool threaded;
	struct sp__task task;

	struct sp__ring ring;
	struct sp__io_counters counters; /* under the ring's lock */

	/*
	 * Owned by the thread; the caller reads error and own_err too, once the ring is abandoned.
	 */
	struct sp_errinfo own_err;
	int error;
	struct sp__wstream *packed;
	struct sp__encoder *encoder;
};

/* The consumer of the ring. */

static int begin(struct sp__packing *p)
{
	int rc = sp__wstream_open(&p->packed, p->fd, p->name, &p->opts, &p->own_err);

	return rc ? rc
		  : sp__encoder_new(&p->encoder, p->format, p->name, p->memory_bytes, &p->own_err);
}

static int pack(struct sp__packing *p, const char *data, size_t bytes, bool end)
{
	char *out = p->mem + SP__RING_BUFFERS * p->chunk_bytes;
	struct sp__packspan span = { .in = data, .in_bytes = bytes };
	int rc = p->encoder ? 0 : begin(p), more = 1;

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

static void finish(struct sp__packing *p)
{
	sp__encoder_free(p->encoder);
	sp__wstream_close(p->packed);
	p->encoder = NULL;
	p->packed = NULL;
}

static void work(void *arg)
{
	struct sp__packing *p = arg;

	while (pack_next(p, true) == SP_READY)
		;
	finish(p);
}

/* The caller. */

static int prepare(struct sp__packing *p, const struct sp__wstream_opts *opts)
{
	p->opts = *opts;
	p->opts.pack = SP_PACKED_NONE;
	p->opts.expected_bytes = 0;
	p->format = opts->pack;
	p->chunk_bytes = sp__min(opts->chunk_bytes, CHUNK_MAX);
	p->memory_bytes = opts->pack_bytes -
			  sp__min(opts->pack_bytes, (SP__RING_BUFFERS + 1) * p->chunk_bytes);
	p->mem = malloc((SP__RING_BUFFERS + 1) * p->chunk_bytes);
	if (!p->name || !p->mem)
		return -ENOMEM;
	sp__ring_use(&p->ring, p->mem, p->chunk_bytes);
	return 0;
}

int sp__packing_open(struct sp__packing **packing, int fd, const char *name,
		     const struct sp__wstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__packing *p = calloc(1, sizeof(*p));

	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	p->fd = fd;
	p->name = strdup(name);
	p->err = err;
	p->own_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	sp__ring_init(&p->ring);
	if (prepare(p, opts) < 0) {
		sp__packing_close(p);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	p->threaded = sp__task_start_thread(&p->task, work, p);
	*packing = p;
	return 0;
}

void sp__packing_close(struct sp__packing *p)
{
	if (!p)
		return;
	sp__ring_abandon(&p->ring);
	sp__task_join(&p->task);
	finish(p);
	sp__ring_destroy(&p->ring);
	free(p->mem);
	free(p->name);
	free(p);
}

/* Returns the thread's error as the caller's; raises the signal that write(2) would have sent. */
static int report(struct sp__packing *p)
{
	if (p->error == -EPIPE && p->threaded)
		raise(SIGPIPE);
	if (p->error < 0 && p->err && !p->err->code)
		*p->err = p->own_err;
	return p->error;
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
	return bytes ? report(p) : 0;
}

int sp__packing_finish(struct sp__packing *p)
{
	const struct sp__ring_buffer *last = sp__ring_empty(&p->ring);

	if (last && last->bytes)
		publish(p, SP_READY);
	publish(p, SP_END);
	sp__task_join(&p->task);
	return report(p);
}

void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c)
{
	pthread_mutex_lock(&p->ring.lock);
	*c = p->counters;
	pthread_mutex_unlock(&p->ring.lock);
}
