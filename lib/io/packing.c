/* SPDX-License-Identifier: MIT */
/*
 * Packs an output, frame by frame.
 *
 * A ring (base/ring.h) passes the frames from the caller, which fills them, to the thread that
 * writes them.  A frame belongs to the caller while it is filled, then to its task, and from the
 * join on to the writer, which packs a frame itself if no thread has begun its task.  If the writer
 * fails, it abandons the ring, and the caller finds its error.
 *
 * The ring's lock covers the counters.
 *
 * If the system refuses a thread, the caller packs and writes each frame when it is full.
 *
 * Memory: as many frames as the limit of tasks, and two, if the memory suffices for them; at least
 * two.  Their memory is allocated when they are first used.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "base/task.h"
#include "io/wstream.h"
#include "pack/pack.h"
#include "pack/unpack.h"

#define FRAMES_MIN 2

struct frame {
	struct sp__packing *packing;
	struct sp__task task;
	char *data, *packed; /* one allocation */
	size_t bytes, packed_bytes;
	struct sp__encoder *encoder;
	int error;
	struct sp_errinfo err;
};

struct sp__packing {
	/* Constant. */
	int fd;
	char *name;
	struct sp__wstream_opts written; /* options of the packed stream */
	enum sp_packed format;
	struct sp__packframe size;
	struct sp_errinfo *err;
	bool threaded;
	struct sp__task task;
	unsigned n;
	struct frame *frames;

	/* Owned by the caller. */
	struct frame *filling; /* the frame being filled; NULL: none */
	bool begun;	       /* a frame has been passed */

	struct sp__ring ring;
	struct sp__io_counters counters; /* under the ring's lock */

	/* Owned by the writer; the caller reads the errors too, once the ring is abandoned. */
	struct sp__wstream *packed;
	int error;
	struct sp_errinfo own_err;
};

/* A task. */
static void pack(void *arg)
{
	struct frame *f = arg;
	struct sp__packing *p = f->packing;

	if (sp__ring_abandoned(&p->ring))
		return;
	if (!f->encoder)
		f->error = sp__encoder_new(&f->encoder, p->format, p->written.pack_level, p->name,
					   p->written.pack_bytes, &f->err);
	if (!f->error)
		f->error =
			sp__encoder_run(f->encoder, f->data, f->bytes, f->packed, &f->packed_bytes);
}

/* The writer. */

static int write_frame(struct sp__packing *p, struct frame *f)
{
	sp__task_join(&f->task);
	if (f->error)
		p->own_err = f->err;
	return f->error ? f->error : sp__wstream_put(p->packed, f->packed, f->packed_bytes);
}

static int write_packed(struct sp__packing *p, struct frame *f)
{
	int rc = 0;

	if (!p->packed)
		rc = sp__wstream_open(&p->packed, p->fd, p->name, &p->written, &p->own_err);
	if (!rc)
		rc = f ? write_frame(p, f) : sp__wstream_finish(p->packed);
	pthread_mutex_lock(&p->ring.lock);
	if (p->packed)
		sp__wstream_counters(p->packed, &p->counters);
	pthread_mutex_unlock(&p->ring.lock);
	return rc;
}

/* Writes the next frame, or the end.  SP_READY: there can be more. */
static int write_next(struct sp__packing *p, bool wait)
{
	struct frame *next = &p->frames[p->ring.get % p->n];
	const char *data;
	size_t bytes;
	int rc = sp__ring_get(&p->ring, wait, &data, &bytes);

	if (rc != SP_READY && rc != SP_END)
		return rc;
	p->error = write_packed(p, rc == SP_READY ? next : NULL);
	sp__ring_release(&p->ring);
	if (p->error)
		sp__ring_abandon(&p->ring);
	return rc;
}

static void close_packed(struct sp__packing *p)
{
	sp__wstream_close(p->packed);
	p->packed = NULL;
}

static void write_all(void *arg)
{
	struct sp__packing *p = arg;

	while (write_next(p, true) == SP_READY)
		;
	close_packed(p);
}

/* The caller. */

int sp__packing_open(struct sp__packing **packing, int fd, const char *name,
		     const struct sp__wstream_opts *opts, struct sp_errinfo *err)
{
	struct sp__packing *p;
	int rc = sp__packed_load(opts->pack, err);

	if (rc)
		return rc;
	p = calloc(1, sizeof(*p));
	if (!p)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	sp__ring_init(&p->ring);
	p->own_err = (struct sp_errinfo)SP_ERRINFO_INIT;
	p->fd = fd;
	p->err = err;
	p->written = *opts;
	p->format = opts->pack;
	p->written.pack = SP_PACKED_NONE;
	p->written.expected_bytes = 0;
	p->size = sp__packframe(p->format, opts->pack_level, opts->pack_bytes);
	p->n = (unsigned)sp__min(opts->pack_bytes / p->size.memory_bytes, sp__tasks_limit() + 2);
	p->n = sp__min(sp__max(p->n, FRAMES_MIN), SP__RING_MAX);
	sp__ring_use_own(&p->ring, p->n);
	p->name = strdup(name);
	p->frames = calloc(p->n, sizeof(*p->frames));
	if (!p->name || !p->frames) {
		sp__packing_close(p);
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	}
	for (unsigned i = 0; i < p->n; i++) {
		p->frames[i].packing = p;
		p->frames[i].err = (struct sp_errinfo)SP_ERRINFO_INIT;
	}
	p->threaded = sp__task_start_thread(&p->task, write_all, p);
	*packing = p;
	return 0;
}

void sp__packing_close(struct sp__packing *p)
{
	if (!p)
		return;
	sp__ring_abandon(&p->ring);
	sp__task_join(&p->task);
	close_packed(p);
	for (unsigned i = 0; p->frames && i < p->n; i++) {
		sp__task_join(&p->frames[i].task);
		sp__encoder_free(p->frames[i].encoder);
		free(p->frames[i].data);
	}
	sp__ring_destroy(&p->ring);
	free(p->frames);
	free(p->name);
	free(p);
}

/*
 * Returns the writer's error as the caller's; raises the signal that write(2) would have sent.
 */
static int report(struct sp__packing *p)
{
	if (p->error == -EPIPE && p->threaded)
		raise(SIGPIPE);
	if (p->error && p->err && !p->err->code)
		*p->err = p->own_err;
	return p->error;
}

static void publish(struct sp__packing *p, int rc)
{
	sp__ring_publish(&p->ring, rc);
	if (!p->threaded)
		(void)write_next(p, false);
}

/* Waits for an empty frame, to be filled. */
static int begin_frame(struct sp__packing *p)
{
	const struct sp__ring_buffer *empty = sp__ring_empty(&p->ring);
	struct frame *f;

	if (!empty)
		return report(p);
	f = &p->frames[empty - p->ring.buf];
	if (!f->data)
		f->data = malloc(p->size.bytes + p->size.capacity);
	if (!f->data)
		return sp__err(p->err, -ENOMEM, "allocate", NULL, -1);
	f->packed = f->data + p->size.bytes;
	f->bytes = 0;
	p->filling = f;
	return 0;
}

static void end_frame(struct sp__packing *p)
{
	sp__task_start(&p->filling->task, pack, p->filling);
	p->filling = NULL;
	p->begun = true;
	publish(p, SP_READY);
}

int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes)
{
	const char *at = data;
	struct frame *f;
	size_t n;
	int rc;

	for (; bytes; at += n, bytes -= n) {
		rc = p->filling ? 0 : begin_frame(p);
		if (rc)
			return rc;
		f = p->filling;
		n = sp__min(bytes, p->size.bytes - f->bytes);
		memcpy(f->data + f->bytes, at, n);
		f->bytes += n;
		if (f->bytes == p->size.bytes)
			end_frame(p);
	}
	return 0;
}

int sp__packing_finish(struct sp__packing *p)
{
	int rc = p->begun || p->filling ? 0 : begin_frame(p);

	if (rc)
		return rc;
	if (p->filling)
		end_frame(p);
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
