/* SPDX-License-Identifier: MIT */
/*
 * Output buffers on their way from the thread that merges to the one that takes
 * what was merged.
 *
 *	filling side: room(), pack(), publish(), again until the end or an error is published
 *	taking side:  get(), and release() when what was got is not needed any more
 *
 * A record larger than a buffer is not copied: the buffer lends it where it lies, so
 * the filling side must leave it there until settled() says that it was taken.
 *
 * Thread rule: one thread on either side.
 */
#ifndef SP__SORT_RING_H
#define SP__SORT_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <spindle/batch.h>

#define SP__RING_BUFFERS 3

struct sp__outbuf {
	char *mem;
	const char *data; /* mem, or a giant record elsewhere */
	size_t bytes;
	bool full;
};

struct sp__ring {
	struct sp__outbuf buf[SP__RING_BUFFERS];
	size_t bytes;	     /* of each buffer */
	unsigned put, get;   /* the next to fill, to give out */
	const char *pending; /* filling side: a record that did not fit any more */
	size_t pending_bytes;
	bool lent; /* taking side: buf[get] has been given out */

	pthread_mutex_t lock; /* what follows, and buf[].full */
	pthread_cond_t changed;
	bool ended;	/* nothing follows, ... */
	int error;	/* ... because of this, if it is below 0 */
	bool abandoned; /* nobody wants any more */
};

/* The next record, valid until the call after this one: as sp__merge_next(). */
typedef int sp__ring_source(void *ctx, bool wait, const char **data, size_t *bytes);

/* mem: SP__RING_BUFFERS times bytes, the caller's. */
void sp__ring_init(struct sp__ring *r);
void sp__ring_use(struct sp__ring *r, char *mem, size_t bytes);
void sp__ring_destroy(struct sp__ring *r);

/* Waits for an empty buffer; NULL: nobody wants it any more. */
struct sp__outbuf *sp__ring_room(struct sp__ring *r);
/* That buffer is full (SP_READY), or there is no more: SP_END or an error. */
void sp__ring_publish(struct sp__ring *r, int rc);
/* If what was published lends a record, waits until that is taken; false: nobody wants it. */
bool sp__ring_settled(struct sp__ring *r, const struct sp__outbuf *out);

/* SP_READY with the next bytes, valid until release(); SP_LATER, if !wait; SP_END; an error. */
int sp__ring_get(struct sp__ring *r, bool wait, const char **data, size_t *bytes);
/* Waits until get() has something to say. */
void sp__ring_await(struct sp__ring *r);
/* Nothing to do if nothing is lent. */
void sp__ring_release(struct sp__ring *r);
/* The filling side is told to stop. */
void sp__ring_abandon(struct sp__ring *r);

/*
 * Fills a buffer with records: SP_READY (full, or holding what there was before the
 * end), SP_END (nothing left), SP_LATER (call again, with the same buffer), or an
 * error.  Inline for the sake of the source, which is called for each record.
 */
static inline int sp__ring_pack(struct sp__ring *r, struct sp__outbuf *out, sp__ring_source *next,
				void *ctx, bool wait)
{
	int rc = SP_READY;

	out->data = out->mem;
	for (;;) {
		if (!r->pending) {
			rc = next(ctx, wait, &r->pending, &r->pending_bytes);
			if (rc != SP_READY) {
				r->pending = NULL;
				break;
			}
		}
		if (r->pending_bytes > r->bytes - out->bytes)
			break;
		memcpy(out->mem + out->bytes, r->pending, r->pending_bytes);
		out->bytes += r->pending_bytes;
		r->pending = NULL;
	}
	if (rc < 0 || rc == SP_LATER)
		return rc;
	if (!out->bytes && r->pending) {
		out->data = r->pending;
		out->bytes = r->pending_bytes;
		r->pending = NULL;
	}
	return out->bytes ? SP_READY : SP_END;
}

#endif
