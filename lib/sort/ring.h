/* SPDX-License-Identifier: MIT */
/*
 * Output buffers between the merging thread and the one that takes the result.
 *
 *	filling side: room(), pack(), publish(), repeated until the end or an error is published
 *	taking side:  get(), and release() when the data is no longer needed
 *
 * A record larger than a buffer is not copied: the buffer lends it in place, so the
 * filling side must keep it there until settled() reports that it was taken.
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
	unsigned put, get;   /* the next to fill, to lend */
	const char *pending; /* filling side: a record that did not fit */
	size_t pending_bytes;
	bool lent; /* taking side: buf[get] has been lent */

	pthread_mutex_t lock; /* protects the following members, and buf[].full */
	pthread_cond_t changed;
	bool ended;	/* nothing follows, ... */
	int error;	/* ... because of this, if it is below 0 */
	bool abandoned; /* the taking side has stopped */
};

/* The next record, valid until the call after this one: as sp__merge_next(). */
typedef int sp__ring_source(void *ctx, bool wait, const char **data, size_t *bytes);

/* mem: SP__RING_BUFFERS times bytes, owned by the caller. */
void sp__ring_init(struct sp__ring *r);
void sp__ring_use(struct sp__ring *r, char *mem, size_t bytes);
void sp__ring_destroy(struct sp__ring *r);

/* Waits for an empty buffer; NULL: abandoned. */
struct sp__outbuf *sp__ring_room(struct sp__ring *r);
/* Publishes that buffer (SP_READY), or the end: SP_END or an error. */
void sp__ring_publish(struct sp__ring *r, int rc);
/* If the published buffer lends a record, waits until that is taken; false: abandoned. */
bool sp__ring_settled(struct sp__ring *r, const struct sp__outbuf *out);

/* SP_READY with the next bytes, valid until release(); SP_LATER, if !wait; SP_END; an error. */
int sp__ring_get(struct sp__ring *r, bool wait, const char **data, size_t *bytes);
/* Waits until get() does not return SP_LATER. */
void sp__ring_await(struct sp__ring *r);
/* False: get() would return SP_LATER. */
bool sp__ring_ready(struct sp__ring *r);
/* Releases the buffer lent by get(), if any. */
void sp__ring_release(struct sp__ring *r);
/* Stops the filling side. */
void sp__ring_abandon(struct sp__ring *r);

/*
 * Fills a buffer with records: SP_READY (full, or holding the last records), SP_END
 * (nothing left), SP_LATER (call again, with the same buffer), or an error.  Inline
 * because it calls the source for each record.
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
