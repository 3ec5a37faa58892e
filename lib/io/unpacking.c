/* SPDX-License-Identifier: MIT */
/*
 * A ring of chunks between the thread that reads and unpacks and the caller.  The lock covers what
 * both use: the ring's state, the end, the counters.  The thread alone has the stream of what is
 * read, the decoder, and the empty chunk that it fills; the caller has the full one it was lent.
 *
 * A chunk is given before it is full if otherwise the caller would wait for a pipe.
 *
 * Without a thread to be had the caller fills a chunk itself, whenever it asks for one.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "io/unpacking.h"
#include "pack/unpack.h"

#define CHUNKS 3
#define CHUNK_MOST (256u << 10)
/* How long the thread waits for a pipe before it looks whether it is still wanted. */
#define STOP_NS 50000000

struct chunk {
	char *data;
	size_t bytes;
};

struct sp__unpacking {
	/* Constant. */
	int fd;
	char *name;
	struct sp__rstream_opts opts; /* of what is read */
	enum sp_packed format;
	struct sp__packmemory memory; /* for unpacking */
	size_t chunk_bytes;
	struct sp_errinfo *err;
	bool threaded;
	struct sp__task task;

	/* Under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct chunk ring[CHUNKS];
	unsigned head, full; /* the chunks from head on are full; the first of them may be lent */
	bool lent;
	int ended; /* SP_READY; or what follows the full chunks: SP_END, or an error */
	bool stop;
	struct sp__io_counters counters;

	/* The thread's. */
	struct sp_errinfo own_err;
	struct sp__rstream *raw;
	struct sp__decoder *decoder; /* NULL: the bytes are given as they are */
	char *beginning;	     /* what was read before its format is known */
	size_t beginning_bytes;
	bool begun, raw_ended;
	struct sp__packspan span;
};

/* What is read. */

static bool must_stop(struct sp__unpacking *u)
{
	bool stop;

	pthread_mutex_lock(&u->lock);
	stop = u->stop;
	pthread_mutex_unlock(&u->lock);
	return stop;
}

/* The next span that is read: SP_READY; SP_END; SP_LATER if !wait; or an error. */
static int read_raw(struct sp__unpacking *u, bool wait)
{
	int rc;

	if (u->raw_ended)
		return SP_END;
	while ((rc = sp__rstream_next(u->raw, &u->span.in, &u->span.in_bytes, false)) == SP_LATER &&
	       wait) {
		if (must_stop(u))
			return SP_END;
		rc = sp__rstream_wait(u->raw, STOP_NS);
		if (rc < 0)
			return rc;
	}
	pthread_mutex_lock(&u->lock);
	sp__rstream_counters(u->raw, &u->counters);
	pthread_mutex_unlock(&u->lock);
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
 * The format of what has been read: as said, if it can be; AUTO: the first frame that is not
 * skipped decides.
 */
static enum sp_packed format_of(const struct sp__unpacking *u)
{
	bool frames = u->format == SP_PACKED_AUTO || u->format == SP_PACKED_ZSTD ||
		      u->format == SP_PACKED_LZ4;

	if (frames && sp__packed_skippable(u->beginning, u->beginning_bytes))
		return u->format;
	return sp_packed_by_magic(u->beginning, u->beginning_bytes);
}

/* Opens the stream, and chooses how it is unpacked. */
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

/* What is unpacked. */

static int unpack(struct sp__unpacking *u)
{
	size_t n = sp__min(u->span.in_bytes, u->span.room);

	if (u->decoder)
		return sp__decoder_run(u->decoder, &u->span);
	if (n)
		memcpy(u->span.out, u->span.in, n);
	u->span.in += n;
	u->span.in_bytes -= n;
	u->span.out += n;
	u->span.room -= n;
	return 0;
}

/* SP_READY: the chunk has bytes, unless it is to stop; SP_END; or an error. */
static int fill(struct sp__unpacking *u, struct chunk *c)
{
	int rc = u->begun ? 0 : begin(u);

	u->span.out = c->data;
	u->span.room = u->chunk_bytes;
	/* What does not fit stays with the decoder: it is asked first. */
	while (!rc) {
		rc = unpack(u);
		if (rc || !u->span.room)
			break;
		rc = read_raw(u, u->span.room == u->chunk_bytes);
		if (rc != SP_READY)
			break;
		rc = 0;
	}
	c->bytes = u->chunk_bytes - u->span.room;
	if (rc < 0 || c->bytes)
		return rc < 0 ? rc : SP_READY;
	rc = u->decoder ? sp__decoder_end(u->decoder) : 0;
	return rc < 0 ? rc : SP_END;
}

/* The thread. */

/* An empty chunk, when there is one; NULL: to stop. */
static struct chunk *take_empty(struct sp__unpacking *u)
{
	struct chunk *c;

	pthread_mutex_lock(&u->lock);
	while (u->full == CHUNKS && !u->stop)
		pthread_cond_wait(&u->changed, &u->lock);
	c = u->stop ? NULL : &u->ring[(u->head + u->full) % CHUNKS];
	pthread_mutex_unlock(&u->lock);
	return c;
}

static void give(struct sp__unpacking *u, int rc)
{
	pthread_mutex_lock(&u->lock);
	if (rc == SP_READY)
		u->full++;
	else
		u->ended = rc;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
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
	struct chunk *c;
	int rc = SP_READY;

	while (rc == SP_READY && (c = take_empty(u))) {
		rc = fill(u, c);
		give(u, rc);
	}
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
	pthread_condattr_t attr;

	pthread_mutex_init(&u->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&u->changed, &attr);
	pthread_condattr_destroy(&attr);
	u->opts = *opts;
	u->opts.unpack = SP_PACKED_NONE;
	u->opts.drop_mark = false; /* it is in the text */
	u->opts.queue = NULL;	   /* it belongs to the caller's thread */
	u->opts.ahead = (struct sp_batch){ 0 };
	u->opts.whole = true;
	u->format = opts->unpack;
	u->chunk_bytes = sp__min(opts->chunk_bytes, CHUNK_MOST);
	u->memory = (struct sp__packmemory){
		.bytes = opts->unpack_bytes - sp__min(opts->unpack_bytes, CHUNKS * u->chunk_bytes),
		.beside_bytes = CHUNKS * CHUNK_MOST, /* with a larger -S */
		.share = opts->unpack_share,
	};
	u->ended = SP_READY;
	u->beginning = malloc(sp__max(opts->ahead.bytes, 1));
	if (!u->name || !u->beginning)
		return -ENOMEM;
	if (opts->ahead.bytes)
		memcpy(u->beginning, opts->ahead.data, opts->ahead.bytes);
	u->beginning_bytes = opts->ahead.bytes;
	for (unsigned i = 0; i < CHUNKS; i++)
		if (!(u->ring[i].data = malloc(u->chunk_bytes)))
			return -ENOMEM;
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
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	sp__task_join(&u->task);
	finish(u);
	pthread_cond_destroy(&u->changed);
	pthread_mutex_destroy(&u->lock);
	for (unsigned i = 0; i < CHUNKS; i++)
		free(u->ring[i].data);
	free(u->name);
	free(u);
}

/* With the lock held: is there something to tell the caller? */
static bool has_news(const struct sp__unpacking *u)
{
	return u->full > u->lent || u->ended != SP_READY;
}

static void return_lent(struct sp__unpacking *u)
{
	if (!u->lent)
		return;
	u->lent = false;
	u->full--;
	u->head = (u->head + 1) % CHUNKS;
	pthread_cond_broadcast(&u->changed);
}

int sp__unpacking_next(struct sp__unpacking *u, const char **data, size_t *bytes, bool wait)
{
	int rc;

	pthread_mutex_lock(&u->lock);
	return_lent(u);
	if (!u->threaded && !has_news(u)) {
		pthread_mutex_unlock(&u->lock);
		give(u, fill(u, &u->ring[u->head]));
		pthread_mutex_lock(&u->lock);
	}
	while (wait && !has_news(u))
		pthread_cond_wait(&u->changed, &u->lock);
	rc = u->full ? SP_READY : has_news(u) ? u->ended : SP_LATER;
	if (rc == SP_READY) {
		*data = u->ring[u->head].data;
		*bytes = u->ring[u->head].bytes;
		u->lent = true;
	}
	pthread_mutex_unlock(&u->lock);
	/* The thread has ended. */
	if (rc < 0 && u->err && !u->err->code)
		*u->err = u->own_err;
	return rc;
}

int sp__unpacking_wait(struct sp__unpacking *u, int64_t timeout_ns)
{
	struct timespec until;
	int64_t ns;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	ns = until.tv_nsec + timeout_ns % 1000000000;
	until.tv_sec += timeout_ns / 1000000000 + ns / 1000000000;
	until.tv_nsec = ns % 1000000000;
	pthread_mutex_lock(&u->lock);
	while (u->threaded && !has_news(u) && rc != ETIMEDOUT)
		rc = timeout_ns < 0 ? pthread_cond_wait(&u->changed, &u->lock)
				    : pthread_cond_timedwait(&u->changed, &u->lock, &until);
	rc = !u->threaded || has_news(u);
	pthread_mutex_unlock(&u->lock);
	return rc;
}

void sp__unpacking_counters(struct sp__unpacking *u, struct sp__io_counters *c)
{
	pthread_mutex_lock(&u->lock);
	*c = u->counters;
	pthread_mutex_unlock(&u->lock);
}
