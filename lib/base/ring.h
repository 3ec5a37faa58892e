/* SPDX-License-Identifier: MIT */
/*
 * Passes three or more buffers between two threads: one fills them, the other takes them in order.
 *
 *	filling side: empty() and publish(), repeated until it publishes the end or an error
 *	taking side:  get(), then release() when the bytes are no longer needed
 *	either side:  abandon() stops the other one
 *
 * A buffer can refer to bytes elsewhere, so a record larger than a buffer is not copied.  The
 * filling side keeps these bytes until settled() reports that they were taken.
 *
 * Thread rule: one thread per side; one thread may be both sides if it never waits.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <spindle/batch.h>

#define SP__RING_BUFFERS 3
#define SP__RING_MAX 66

struct sp__ring_buffer {
	char *mem;
	const char *data; /* mem, or a giant record elsewhere */
	size_t bytes;
	bool full;
};

struct sp__ring {
	struct sp__ring_buffer buf[SP__RING_MAX];
	unsigned n;	      /* buffers in use */
	size_t bytes;	      /* bytes of each buffer */
	uint64_t full, empty; /* channels of the log of tasks */
	uint64_t put, get;    /* counts of buffers filled, and released */
	const char *pending;  /* filling side: a record that did not fit */
	size_t pending_bytes;
	bool taken; /* taking side: it has buf[get] */

	pthread_mutex_t lock; /* protects the following members, and buf[].full */
	pthread_cond_t changed;
	bool ended;	/* no buffer follows ... */
	int error;	/* ... because of this error, if it is below 0 */
	bool abandoned; /* one side has stopped */
};

/* Returns the next record, valid until the call after this one, like sp__merge_next(). */
typedef int sp__ring_source(void *ctx, bool wait, const char **data, size_t *bytes);

/* mem: SP__RING_BUFFERS times bytes, owned by the caller. */
void sp__ring_init(struct sp__ring *r);
void sp__ring_use(struct sp__ring *r, char *mem, size_t bytes);
/* Passes 1 to SP__RING_MAX buffers instead, whose bytes the two sides keep themselves. */
void sp__ring_use_own(struct sp__ring *r, unsigned n);
void sp__ring_destroy(struct sp__ring *r);

/* Waits for an empty buffer.  Returns NULL if abandoned. */
struct sp__ring_buffer *sp__ring_empty(struct sp__ring *r);
/* Publishes that buffer (SP_READY) or the end (SP_END or an error). */
void sp__ring_publish(struct sp__ring *r, int rc);
/*
 * If the published buffer refers to bytes elsewhere, waits until it is taken.  Returns false if
 * abandoned.
 */
bool sp__ring_settled(struct sp__ring *r, const struct sp__ring_buffer *out);

/*
 * Returns SP_READY with the next bytes, valid until release(); SP_LATER, if !wait; SP_END; the
 * error that was published; or -ECANCELED if abandoned.
 */
int sp__ring_get(struct sp__ring *r, bool wait, const char **data, size_t *bytes);
/*
 * Waits until get() would not return SP_LATER, and returns true.  If timeout_ns is not negative,
 * waits at most that long, and then returns false.
 */
bool sp__ring_await(struct sp__ring *r, int64_t timeout_ns);
/* Releases the buffer that get() returned, if any. */
void sp__ring_release(struct sp__ring *r);
/* Stops the other side. */
void sp__ring_abandon(struct sp__ring *r);
/* True if a side has stopped; for a filling side that waits elsewhere. */
bool sp__ring_abandoned(struct sp__ring *r);

/*
 * Fills a buffer with records.  Returns SP_READY (full, or holding the last records), SP_END (no
 * records left), SP_LATER (call again, with the same buffer), or an error.  Inline because it calls
 * the source for each record.
 */
static inline int sp__ring_pack(struct sp__ring *r, struct sp__ring_buffer *out,
				sp__ring_source *next, void *ctx, bool wait)
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
