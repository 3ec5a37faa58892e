/* SPDX-License-Identifier: MIT */
/*
 * A ring of chunks between the caller, who fills them, and the thread that packs and writes.  The
 * lock covers what both use.  The thread alone has the encoder and the stream of what is written;
 * the caller has the chunk behind the full ones.
 *
 * Without a thread to be had the caller packs a full chunk itself.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "io/packing.h"
#include "pack/pack.h"

#define CHUNKS 3
#define CHUNK_MOST (256u << 10)

struct chunk {
	char *data;
	size_t bytes;
};

struct sp__packing {
	/* Constant. */
	int fd;
	char *name;
	struct sp__wstream_opts opts; /* of what is written */
	enum sp_packed format;
	uint64_t memory_bytes; /* for packing */
	size_t chunk_bytes;
	struct sp_errinfo *err;
	bool threaded;
	struct sp__task task;

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chunk ring[CHUNKS];
	unsigned head, full;
	bool last; /* the caller puts no more */
	bool stop; /* and wants no result */
	int error; /* the thread's, which has ended then */
	struct sp__io_counters counters;

	/* The thread's. */
	struct sp_errinfo own_err;
	struct sp__wstream *packed;
	struct sp__encoder *encoder;
	char *out;
};

/* The thread. */

static int begin(struct sp__packing *p)
{
	int rc = sp__wstream_open(&p->packed, p->fd, p->name, &p->opts, &p->own_err);

	return rc ? rc
		  : sp__encoder_new(&p->encoder, p->format, p->name, p->memory_bytes, &p->own_err);
}

static int pack(struct sp__packing *p, const struct chunk *c, bool end)
{
	struct sp__packspan span = { .in = c->data, .in_bytes = c->bytes };
	int rc = p->encoder ? 0 : begin(p), more = 1;

	while (!rc && more > 0) {
		span.out = p->out;
		span.room = p->chunk_bytes;
		more = sp__encoder_run(p->encoder, &span, end);
		rc = more < 0 ? more
			      : sp__wstream_put(p->packed, p->out, (size_t)(span.out - p->out));
	}
	if (!rc && end)
		rc = sp__wstream_finish(p->packed);
	pthread_mutex_lock(&p->lock);
	if (p->packed)
		sp__wstream_counters(p->packed, &p->counters);
	pthread_mutex_unlock(&p->lock);
	return rc;
}

/* The chunk that was packed, unless it is NULL, is empty. */
static void give_back(struct sp__packing *p, struct chunk *c, int rc)
{
	pthread_mutex_lock(&p->lock);
	if (c) {
		c->bytes = 0;
		p->head = (p->head + 1) % CHUNKS;
		p->full--;
	}
	p->error = rc;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
}

static void finish(struct sp__packing *p)
{
	sp__encoder_free(p->encoder);
	sp__wstream_close(p->packed);
	p->encoder = NULL;
	p->packed = NULL;
}

/* NULL: there will be none. */
static struct chunk *take_full(struct sp__packing *p)
{
	struct chunk *c;

	pthread_mutex_lock(&p->lock);
	while (!p->full && !p->last && !p->stop)
		pthread_cond_wait(&p->changed, &p->lock);
	c = p->full && !p->stop ? &p->ring[p->head] : NULL;
	pthread_mutex_unlock(&p->lock);
	return c;
}

static void work(void *arg)
{
	static const struct chunk nothing;
	struct sp__packing *p = arg;
	struct chunk *c;
	int rc = 0;

	while (!rc && (c = take_full(p))) {
		rc = pack(p, c, false);
		give_back(p, c, rc);
	}
	/* The caller no longer changes these. */
	if (!rc && p->last && !p->stop)
		give_back(p, NULL, pack(p, &nothing, true));
	finish(p);
}

/* The caller. */

static int prepare(struct sp__packing *p, const struct sp__wstream_opts *opts)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->opts = *opts;
	p->opts.pack = SP_PACKED_NONE;
	p->opts.expected_bytes = 0;
	p->format = opts->pack;
	p->chunk_bytes = sp__min(opts->chunk_bytes, CHUNK_MOST);
	p->memory_bytes =
		opts->pack_bytes - sp__min(opts->pack_bytes, (CHUNKS + 1) * p->chunk_bytes);
	p->out = malloc(p->chunk_bytes);
	for (unsigned i = 0; i < CHUNKS; i++)
		if (!(p->ring[i].data = malloc(p->chunk_bytes)))
			return -ENOMEM;
	return p->name && p->out ? 0 : -ENOMEM;
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
	pthread_mutex_lock(&p->lock);
	p->stop |= !p->last;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	sp__task_join(&p->task);
	finish(p);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	for (unsigned i = 0; i < CHUNKS; i++)
		free(p->ring[i].data);
	free(p->out);
	free(p->name);
	free(p);
}

/* The error of the thread, as the caller's, who would have had this signal from write(2). */
static int told(struct sp__packing *p, int rc)
{
	if (rc == -EPIPE && p->threaded)
		raise(SIGPIPE);
	if (rc < 0 && p->err && !p->err->code)
		*p->err = p->own_err;
	return rc;
}

/* The chunk to be filled, when there is one; NULL: the thread has failed. */
static struct chunk *room(struct sp__packing *p, int *rc)
{
	struct chunk *c;

	pthread_mutex_lock(&p->lock);
	while (p->full == CHUNKS && !p->error)
		pthread_cond_wait(&p->changed, &p->lock);
	*rc = p->error;
	c = *rc ? NULL : &p->ring[(p->head + p->full) % CHUNKS];
	pthread_mutex_unlock(&p->lock);
	return c;
}

static void give_full(struct sp__packing *p, struct chunk *c)
{
	pthread_mutex_lock(&p->lock);
	p->full++;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (!p->threaded)
		give_back(p, c, pack(p, c, false));
}

int sp__packing_put(struct sp__packing *p, const void *data, size_t bytes)
{
	const char *at = data;
	struct chunk *c;
	int rc = 0;

	while (bytes && (c = room(p, &rc))) {
		size_t n = sp__min(bytes, p->chunk_bytes - c->bytes);

		memcpy(c->data + c->bytes, at, n);
		c->bytes += n;
		at += n;
		bytes -= n;
		if (c->bytes == p->chunk_bytes)
			give_full(p, c);
	}
	return told(p, rc);
}

int sp__packing_finish(struct sp__packing *p)
{
	static const struct chunk nothing;
	struct chunk *c;
	int rc;

	c = room(p, &rc);
	if (c && c->bytes)
		give_full(p, c);
	pthread_mutex_lock(&p->lock);
	p->last = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	sp__task_join(&p->task);
	if (!p->threaded && !p->error)
		give_back(p, NULL, pack(p, &nothing, true));
	return told(p, p->error);
}

void sp__packing_counters(struct sp__packing *p, struct sp__io_counters *c)
{
	pthread_mutex_lock(&p->lock);
	*c = p->counters;
	pthread_mutex_unlock(&p->lock);
}
