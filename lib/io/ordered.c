/* SPDX-License-Identifier: MIT */
/*
 * Writes ranges of a result in order (ordered.h).
 *
 * Places: `front` is the first range whose end is not known.  The buffer of this range, once it has
 * one, is placed.  When its end becomes known, the front moves on, over all buffers whose ranges
 * have ended meanwhile.
 *
 * Progress: ranges are taken in order, together with a buffer.  So the lowest range that is not
 * written has a buffer, or the next maker that looks for work takes it: it never waits for anything
 * but the file or the function.  A maker that waits writes the buffers that are ready.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/delay.h"
#include "base/err.h"
#include "io/ordered.h"

/* Fewer bytes are not worth a write before the buffer is full. */
#define EARLY_BYTES ((size_t)256 << 10)

static bool sequential(const struct sp__inorder *o)
{
	return o->opts.put != NULL;
}

static bool is_pinned(const struct sp__inorder_buffer *b)
{
	return b->mem != b->own;
}

static void use_own(const struct sp__inorder *o, struct sp__inorder_buffer *b)
{
	b->mem = b->own;
	b->room = o->opts.buffer_bytes;
}

static uint64_t stop_of(const struct sp__inorder *o)
{
	return atomic_load_explicit(&o->stop, memory_order_relaxed);
}

/* The following functions are called with the lock held. */

static void lock(struct sp__inorder *o)
{
	sp__delay(SP__DELAY_BUFFER);
	pthread_mutex_lock(&o->lock);
}

/* Returns the buffer of a range; NULL: it has none. */
static struct sp__inorder_buffer *find(const struct sp__inorder *o, uint64_t range)
{
	for (unsigned i = 0; i < o->opts.buffers; i++)
		if (o->list[i].state != SP__INORDER_FREE && o->list[i].range == range)
			return &o->list[i];
	return NULL;
}

/* True if a range below this one has a buffer. */
static bool before(const struct sp__inorder *o, uint64_t range)
{
	for (unsigned i = 0; i < o->opts.buffers; i++)
		if (o->list[i].state != SP__INORDER_FREE && o->list[i].range < range)
			return true;
	return false;
}

/* No range from this one on is wanted, so its error does not count. */
static void end_before(struct sp__inorder *o, uint64_t range)
{
	if (range > stop_of(o))
		return;
	atomic_store(&o->stop, range);
	o->error = 0;
}

/* Cuts a buffer whose range has more items than are wanted.  No range is then wanted after it. */
static void apply_limit(struct sp__inorder *o, struct sp__inorder_buffer *b)
{
	uint64_t wanted = o->opts.limit - b->before;

	if (!o->opts.limit || b->items < wanted)
		return;
	if (b->items > wanted) {
		b->filled = o->opts.cut(o->opts.arg, b->mem, b->filled, wanted - b->written_items);
		b->items = wanted;
		b->bytes = b->written + b->filled;
	}
	end_before(o, b->range + 1);
}

/* Places buffers as far as possible. */
static void advance(struct sp__inorder *o)
{
	struct sp__inorder_buffer *b;

	while (o->front < stop_of(o) && (b = find(o, o->front))) {
		if (!b->placed) {
			b->placed = true;
			b->at = o->at;
			b->before = o->items;
			if (b->state == SP__INORDER_ENDED)
				apply_limit(o, b);
		}
		if (!b->known)
			return;
		o->at = b->at + b->bytes;
		o->items = b->before + (o->opts.limit ? b->items : 0);
		o->front++;
	}
}

/* Keeps the error of the lowest range. */
static void stop_at(struct sp__inorder *o, uint64_t range, int rc, const struct sp_errinfo *err)
{
	if (range >= stop_of(o))
		return;
	atomic_store(&o->stop, range);
	o->error = rc;
	if (err)
		o->err = *err;
}

/* Returns a buffer that can be written now; NULL: there is none. */
static struct sp__inorder_buffer *ready(const struct sp__inorder *o)
{
	const uint64_t stop = stop_of(o);

	for (unsigned i = 0; i < o->opts.buffers; i++) {
		struct sp__inorder_buffer *b = &o->list[i];

		if (b->state != SP__INORDER_ENDED || !b->placed || b->range >= stop)
			continue;
		/* The end of a file is written last. */
		if (sequential(o) || b->range + 1 < stop || !before(o, b->range))
			return b;
	}
	return NULL;
}

static void release(struct sp__inorder *o, struct sp__inorder_buffer *b)
{
	b->state = SP__INORDER_FREE;
	pthread_cond_broadcast(&o->changed);
}

/* The following functions are called without the lock. */

static int open_stream(struct sp__inorder_maker *k)
{
	const struct sp__inorder_opts *o = &k->all->opts;
	struct sp__wstream_opts writing = o->writing;

	writing.piece = true;
	return sp__wstream_open(&k->stream, o->fd, o->name, &writing, k->err);
}

static int write_at(struct sp__inorder_maker *k, uint64_t at, const char *data, size_t bytes)
{
	int rc = k->stream ? 0 : open_stream(k);

	if (!rc && k->stream_at != at)
		rc = sp__wstream_move(k->stream, at);
	if (!rc)
		rc = sp__wstream_put(k->stream, data, bytes);
	k->stream_at = at + bytes;
	return rc;
}

/* Has the system take all bytes that the maker has written. */
static int write_rest(struct sp__inorder_maker *k)
{
	return k->stream ? sp__wstream_move(k->stream, k->stream_at) : 0;
}

/* Writes bytes of a placed buffer's range, after those written before. */
static int write_bytes(struct sp__inorder_maker *k, struct sp__inorder_buffer *b, const char *data,
		       size_t bytes, const struct sp_errinfo **err)
{
	const struct sp__inorder *o = k->all;
	int rc = 0;

	*err = sequential(o) ? o->opts.put_err : k->err;
	if (bytes)
		rc = sequential(o) ? o->opts.put(o->opts.arg, data, bytes)
				   : write_at(k, b->at + b->written, data, bytes);
	b->written += bytes;
	return rc < 0 ? rc : 0;
}

/* Writes what is in pinned memory of the stream. */
static int write_pinned(struct sp__inorder_maker *k, struct sp__inorder_buffer *b)
{
	b->written += b->filled;
	k->stream_at += b->filled;
	return sp__wstream_put_pinned(k->stream, b->filled);
}

static int write_buffer(struct sp__inorder_maker *k, struct sp__inorder_buffer *b,
			const struct sp_errinfo **err)
{
	int rc;

	*err = k->err;
	rc = is_pinned(b) ? write_pinned(k, b) : write_bytes(k, b, b->mem, b->filled, err);
	b->filled = 0;
	b->written_items = b->items;
	return rc;
}

/* A range that never waits is put into the chunks of the stream, so its bytes are copied once. */
static void pin(struct sp__inorder_maker *k, struct sp__inorder_buffer *b)
{
	use_own(k->all, b);
	if (!b->announced || !k->stream)
		return;
	b->mem = sp__wstream_pin(k->stream, &b->room);
	if (!b->mem)
		use_own(k->all, b);
}

/* Writes what is in pinned memory, except the end of the file, which is written last. */
static int unpin(struct sp__inorder_maker *k, struct sp__inorder_buffer *b)
{
	const struct sp__inorder *o = k->all;
	const struct sp_errinfo *err;
	size_t end = 0;
	int rc;

	if (b->range + 1 >= stop_of(o))
		end = sp__min(b->filled, o->opts.buffer_bytes);
	b->filled -= end;
	memcpy(b->own, b->mem + b->filled, end);
	rc = write_buffer(k, b, &err);
	use_own(o, b);
	b->filled = end;
	return rc;
}

/* Writes a buffer whose range has ended, and frees it.  Called, and returns, with the lock. */
static void write_ended(struct sp__inorder_maker *k, struct sp__inorder_buffer *b)
{
	struct sp__inorder *o = k->all;
	const struct sp_errinfo *err;
	int rc;

	b->state = SP__INORDER_WRITING;
	pthread_mutex_unlock(&o->lock);
	rc = write_buffer(k, b, &err);
	if (!rc)
		rc = write_rest(k);
	lock(o);
	if (rc < 0)
		stop_at(o, b->range, rc, err);
	if (sequential(o) && b->range < stop_of(o)) {
		b->known = true;
		advance(o);
	}
	release(o, b);
}

/* Waits for a change, or writes a buffer that is ready.  Called, and returns, with the lock. */
static void help(struct sp__inorder_maker *k)
{
	struct sp__inorder_buffer *b = ready(k->all);

	if (b)
		write_ended(k, b);
	else
		pthread_cond_wait(&k->all->changed, &k->all->lock);
}

/* Makers. */

void sp__inorder_join(struct sp__inorder_maker *k, struct sp__inorder *o, struct sp_errinfo *err)
{
	*k = (struct sp__inorder_maker){ .all = o, .err = err };
}

void sp__inorder_leave(struct sp__inorder_maker *k)
{
	struct sp__io_counters c;

	if (!k->stream)
		return;
	sp__wstream_counters(k->stream, &c);
	lock(k->all);
	sp__io_add(&k->all->io, &c);
	pthread_mutex_unlock(&k->all->lock);
	sp__wstream_close(k->stream);
	k->stream = NULL;
}

/* Returns a free buffer for the next range; NULL: there is none.  Called with the lock. */
static struct sp__inorder_buffer *take_free(struct sp__inorder *o)
{
	for (unsigned i = 0; o->next < stop_of(o) && i < o->opts.buffers; i++) {
		struct sp__inorder_buffer *b = &o->list[i];

		if (b->state != SP__INORDER_FREE)
			continue;
		*b = (struct sp__inorder_buffer){ .own = b->own,
						  .state = SP__INORDER_FILLING,
						  .range = o->next++ };
		use_own(o, b);
		return b;
	}
	return NULL;
}

bool sp__inorder_take(struct sp__inorder_maker *k, uint64_t *range)
{
	struct sp__inorder *o = k->all;
	struct sp__inorder_buffer *b = NULL;

	lock(o);
	/* Bytes wait in buffers no longer than necessary. */
	while (o->next < stop_of(o) || before(o, stop_of(o))) {
		b = ready(o);
		if (b) {
			write_ended(k, b);
			b = NULL;
			continue;
		}
		b = take_free(o);
		if (b)
			break;
		pthread_cond_wait(&o->changed, &o->lock);
	}
	if (b)
		advance(o);
	pthread_mutex_unlock(&o->lock);
	k->buf = b;
	*range = b ? b->range : 0;
	return b != NULL;
}

void sp__inorder_announce(struct sp__inorder_maker *k, uint64_t bytes)
{
	struct sp__inorder *o = k->all;

	if (sequential(o) || o->opts.limit)
		return;
	lock(o);
	k->buf->bytes = bytes;
	k->buf->known = k->buf->announced = true;
	advance(o);
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

/* Waits until the buffer is placed, and writes it. */
static int write_full(struct sp__inorder_maker *k)
{
	struct sp__inorder *o = k->all;
	struct sp__inorder_buffer *b = k->buf;
	const struct sp_errinfo *err = NULL;
	bool wanted, enough;
	int rc = 0;

	lock(o);
	while (!b->placed && b->range < stop_of(o))
		help(k);
	wanted = b->range < stop_of(o);
	if (wanted)
		apply_limit(o, b);
	enough = o->opts.limit && b->before + b->items == o->opts.limit;
	pthread_mutex_unlock(&o->lock);
	if (!wanted)
		return -ECANCELED;
	/* The end of the result is left in the buffer. */
	if (!enough)
		rc = write_buffer(k, b, &err);
	if (!rc && !enough)
		pin(k, b);
	if (rc < 0 && err != k->err)
		*k->err = *err;
	return enough ? SP_END : rc;
}

int sp__inorder_look(struct sp__inorder_maker *k)
{
	struct sp__inorder *o = k->all;
	bool placed;

	if (sp__inorder_stopped(k))
		return -ECANCELED;
	if (k->buf->filled < EARLY_BYTES || is_pinned(k->buf))
		return 0;
	lock(o);
	placed = k->buf->placed;
	pthread_mutex_unlock(&o->lock);
	return placed ? write_full(k) : 0;
}

int sp__inorder_put_full(struct sp__inorder_maker *k, const char *data, size_t bytes)
{
	struct sp__inorder_buffer *b = k->buf;
	const struct sp_errinfo *err = NULL;
	int rc = write_full(k);

	if (rc)
		return rc;
	if (bytes <= sp__inorder_space(k))
		return sp__inorder_put(k, data, bytes, bytes);
	rc = write_bytes(k, b, data, bytes, &err);
	b->written_items = ++b->items;
	if (!rc)
		pin(k, b);
	if (rc < 0 && err != k->err)
		*k->err = *err;
	return rc;
}

int sp__inorder_end(struct sp__inorder_maker *k)
{
	struct sp__inorder *o = k->all;
	struct sp__inorder_buffer *b = k->buf;
	uint64_t bytes = b->written + b->filled;
	int rc = 0;

	if (b->announced && b->bytes != bytes)
		rc = sp__errf(k->err, SP_EBALANCE, "write", o->opts.name, -1,
			      "an output range of %llu bytes has %llu",
			      (unsigned long long)b->bytes, (unsigned long long)bytes);
	if (!rc && is_pinned(b))
		rc = unpin(k, b);
	/* Another maker can write the rest of the range, and the end of the file after it. */
	if (!rc && b->written)
		rc = write_rest(k);
	if (rc < 0) {
		sp__inorder_fail(k, rc);
		return rc;
	}
	lock(o);
	k->buf = NULL;
	if (b->range >= stop_of(o)) {
		release(o, b);
	} else {
		b->bytes = bytes;
		b->state = SP__INORDER_ENDED;
		b->known = !sequential(o);
		if (b->placed)
			apply_limit(o, b);
		advance(o);
		pthread_cond_broadcast(&o->changed);
	}
	pthread_mutex_unlock(&o->lock);
	return 0;
}

int sp__inorder_end_all(struct sp__inorder_maker *k)
{
	lock(k->all);
	end_before(k->all, k->buf->range + 1);
	pthread_mutex_unlock(&k->all->lock);
	return sp__inorder_end(k);
}

void sp__inorder_fail(struct sp__inorder_maker *k, int rc)
{
	struct sp__inorder *o = k->all;

	lock(o);
	if (rc != -ECANCELED || !sp__inorder_stopped(k))
		stop_at(o, k->buf->range, rc, k->err);
	release(o, k->buf);
	pthread_mutex_unlock(&o->lock);
	k->buf = NULL;
}

/* The owner. */

void sp__inorder_abandon(struct sp__inorder *o)
{
	lock(o);
	stop_at(o, 0, o->error ? o->error : -ECANCELED, NULL);
	pthread_cond_broadcast(&o->changed);
	pthread_mutex_unlock(&o->lock);
}

int sp__inorder_open(struct sp__inorder *o, const struct sp__inorder_opts *opts,
		     struct sp_errinfo *err)
{
	struct stat st = { 0 };

	*o = (struct sp__inorder){ .opts = *opts, .at = opts->at, .err = SP_ERRINFO_INIT };
	o->finished = sequential(o);
	if (!sequential(o) && fstat(opts->fd, &st) < 0) {
		o->finished = true;
		return sp__err(err, -errno, "write", opts->name, -1);
	}
	o->old_bytes = (uint64_t)st.st_size;
	atomic_init(&o->stop, opts->ranges);
	o->list = calloc(opts->buffers, sizeof(*o->list));
	if (!o->list)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < opts->buffers; i++)
		o->list[i].own = opts->mem + i * opts->buffer_bytes;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->changed, NULL);
	return 0;
}

int sp__inorder_finish(struct sp__inorder *o, uint64_t *end, struct sp_errinfo *err)
{
	int rc = o->error;

	/* The signal would have gone to this thread if it had written. */
	if (rc == -EPIPE)
		raise(SIGPIPE);
	if (rc < 0) {
		*err = o->err;
		return rc;
	}
	*end = o->at;
	if (!sequential(o) && lseek(o->opts.fd, (off_t)o->at, SEEK_SET) < 0)
		return sp__err(err, -errno, "write", o->opts.name, -1);
	o->finished = true;
	return 0;
}

void sp__inorder_close(struct sp__inorder *o)
{
	if (!o->list)
		return;
	/* No write is outstanding.  An extended file that stays is not worse than others. */
	if (!o->finished)
		(void)!ftruncate(o->opts.fd, (off_t)o->old_bytes);
	pthread_mutex_destroy(&o->lock);
	pthread_cond_destroy(&o->changed);
	free(o->list);
	o->list = NULL;
}
