/* SPDX-License-Identifier: MIT */
/*
 * Writes a result that several threads make: ranges 0, 1, 2, ... in this order.
 *
 * Each thread is a maker.  It takes the next range, and puts the range's bytes into a buffer.  When
 * the range has ended, its buffer is written as soon as its place in the result is known, by any
 * maker that looks for work.  If a buffer is full before its range has ended, its maker waits for
 * that, writes the buffer, and continues.  A maker that looks sometimes writes earlier, once the
 * place is known, so that fewer bytes wait.  If the length of the range was announced, later bytes
 * are put into pinned memory of the maker's stream, and copied only once.
 *
 *	file	The place is known when the lengths of all earlier ranges are.  Makers write at
 *		offsets of their own, concurrently.  A maker can announce the length of its range.
 *		The end of the file is written last, so a file that was abandoned is too short.
 *	sequential
 *		The place is known when all earlier ranges have been written.  The bytes go to a
 *		function that one maker calls at a time: for pipes, streams and other threads.
 *
 * Of several errors, that of the lowest range is kept.  Makers of later ranges then stop, and those
 * of earlier ranges do not.  If only a number of items is wanted, the same is true of the range
 * that has the last one.
 *
 * Each call of sp__inorder_put() puts one item, or at least the rest of one.
 *
 * Thread rule: one thread per maker.  open(), finish() and close() belong to the owner, while there
 * are no makers.  abandon() may be called by any thread.  Makers wait for each other, so they run
 * in the owner's thread and in tasks with their own thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <spindle/batch.h>
#include "base/few.h"
#include "base/minmax.h"
#include "io/wstream.h"

struct sp__inorder_opts {
	uint64_t ranges;
	char *mem; /* memory of all buffers, owned by the caller */
	size_t buffer_bytes;
	unsigned buffers; /* at least one; with more than makers, a maker need not wait */
	uint64_t limit;	  /* only the first items of the result; 0: all */
	/* Returns the bytes of the first n items; needed with a limit. */
	size_t (*cut)(void *arg, const char *data, size_t bytes, uint64_t n);
	/* Writes bytes one call at a time, and describes an error in put_err.  NULL: a file. */
	int (*put)(void *arg, const char *data, size_t bytes);
	struct sp_errinfo *put_err;
	void *arg; /* argument of both functions */
	/* A regular file: */
	int fd; /* borrowed; not opened for appending */
	const char *name;
	uint64_t at; /* where the result starts */
	struct sp__wstream_opts writing;
};

enum sp__inorder_state {
	SP__INORDER_FREE,
	SP__INORDER_FILLING, /* belongs to a maker */
	SP__INORDER_ENDED,   /* is written when its place is known */
	SP__INORDER_WRITING, /* belongs to the maker that writes it */
};

struct sp__inorder_buffer {
	char *own; /* its memory */
	char *mem; /* where items are put: its memory, or a chunk of the maker's stream */
	size_t room, filled;
	uint64_t items;		/* items of the range, so far */
	uint64_t written_items; /* items of the range that are written */
	uint64_t written;	/* bytes of the range that are written */
	/* Protected by the lock: */
	enum sp__inorder_state state;
	uint64_t range;
	uint64_t bytes;	 /* length of the range, if it is known */
	bool known;	 /* its length, or sequential: it has been written */
	bool announced;	 /* ... before its end */
	bool placed;	 /* the following are known: */
	uint64_t at;	 /* file offset of the range */
	uint64_t before; /* items before the range */
};

struct sp__inorder {
	struct sp__inorder_opts opts;
	struct sp__inorder_buffer *list; /* opts.buffers of them */
	uint64_t old_bytes;		 /* length of the file before */

	pthread_mutex_t lock; /* protects the following members */
	pthread_cond_t changed;
	uint64_t next;	       /* range to be taken next */
	_Atomic uint64_t stop; /* first range that is not wanted */
	uint64_t front;	       /* first range that does not determine the place of the next one */
	uint64_t at, items;    /* file offset of this range; with a limit, items before it */
	int error;	       /* error of range `stop` */
	struct sp_errinfo err; /* describes it */
	struct sp__io_counters io; /* counters of makers that have ended */
	bool finished;
};

struct sp__inorder_maker {
	struct sp__inorder *all;
	struct sp_errinfo *err;		/* borrowed; receives errors of writing */
	struct sp__inorder_buffer *buf; /* buffer of its range; NULL: it has none */
	struct sp__wstream *stream;	/* a file; NULL: not yet used */
	uint64_t stream_at;		/* offset of its next byte */
};

/* Returns 0 or an error; close it in both cases.  A file does not change yet. */
SP_MUST_CHECK int sp__inorder_open(struct sp__inorder *o, const struct sp__inorder_opts *opts,
				   struct sp_errinfo *err);
/*
 * Called when all makers have left.  Returns 0, or the error of the lowest range and describes it.
 * A file's offset is then at the end of the result, and *end is this offset.
 */
SP_MUST_CHECK int sp__inorder_finish(struct sp__inorder *o, uint64_t *end, struct sp_errinfo *err);
/* Closes an output that is zeroed or open.  A file that is not finished gets its old length. */
void sp__inorder_close(struct sp__inorder *o);
/* Stops all makers; finish() then returns -ECANCELED, or an error that was there before. */
void sp__inorder_abandon(struct sp__inorder *o);

void sp__inorder_join(struct sp__inorder_maker *k, struct sp__inorder *o, struct sp_errinfo *err);
/* Called without a range.  Adds the requests to o->io. */
void sp__inorder_leave(struct sp__inorder_maker *k);
/*
 * Takes the next range, and sets its number.  Meanwhile writes buffers that are ready.  False if
 * all wanted ranges have been written.
 */
bool sp__inorder_take(struct sp__inorder_maker *k, uint64_t *range);
/* States the length of the range before its end, so that the place of the next one is known. */
void sp__inorder_announce(struct sp__inorder_maker *k, uint64_t bytes);
/*
 * Ends the range.  Returns 0, SP_EBALANCE if it has not the length announced, or an error of
 * writing.  The range has ended in any case.
 */
int sp__inorder_end(struct sp__inorder_maker *k);
/* Ends the range as sp__inorder_end(), and the result: later ranges are not wanted. */
int sp__inorder_end_all(struct sp__inorder_maker *k);
/* Ends the range with an error that k->err describes, or in vain, if rc is -ECANCELED. */
void sp__inorder_fail(struct sp__inorder_maker *k, int rc);
/*
 * Writes the bytes of a range so far if its place is known and they are worth a write.  Returns 0
 * or the result of sp__inorder_put().
 */
int sp__inorder_look(struct sp__inorder_maker *k);
/* Puts what does not fit into the buffer. */
int sp__inorder_put_full(struct sp__inorder_maker *k, const char *data, size_t bytes);

/* True if the maker's range is not wanted any more. */
static inline bool sp__inorder_stopped(const struct sp__inorder_maker *k)
{
	return k->buf->range >= atomic_load_explicit(&k->all->stop, memory_order_relaxed);
}

/* Returns the bytes that fit into the buffer before its maker has to write it. */
static inline size_t sp__inorder_space(const struct sp__inorder_maker *k)
{
	return k->buf->room - k->buf->filled;
}

/*
 * Puts one item, of which `reach` bytes, at least as many, can be read from data on.  Returns 0; or
 * an error, SP_END if the result needs no more, or -ECANCELED.  The range must then be ended by
 * sp__inorder_fail(), or for SP_END by sp__inorder_end().
 */
static inline int sp__inorder_put(struct sp__inorder_maker *k, const char *data, size_t bytes,
				  size_t reach)
{
	struct sp__inorder_buffer *b = k->buf;
	size_t left = sp__inorder_space(k);

	if (__builtin_expect(bytes > left, 0))
		return sp__inorder_put_full(k, data, bytes);
	sp__copy_near(b->mem + b->filled, data, bytes, sp__min(reach, left));
	b->filled += bytes;
	b->items++;
	return 0;
}
