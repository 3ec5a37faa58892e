/* SPDX-License-Identifier: MIT */
/*
 * Requests outstanding on one queue, for several users in one thread.
 *
 * Each request names an owner that is notified when it is completed, so users need not know of each
 * other.  Requests that are added are submitted together, as one batch, by the next flush, collect
 * or wait.  All users wait with one waiter, and so in one call of the system.
 *
 * A user that finds its request outstanding calls sp__requests_later() and returns SP_LATER; when
 * it is called again, it calls sp__requests_collect().
 *
 * Thread rule: one thread uses a struct sp__requests and all its requests.
 */
#pragma once

#include "flow/iter.h"
#include "io/queue.h"

struct sp__requests {
	struct sp__queue *queue;
	struct sp__request **added; /* nadded, not submitted yet */
	size_t nadded, capacity;
	struct sp__waiter wait; /* for the queue, on behalf of all users */
	struct sp_errinfo *err; /* borrowed */
	int error;		/* error of the queue; it is never cleared */
};

/* Opens the queue.  Returns 0, -ENOMEM, or an error of sp__queue_open(). */
SP_MUST_CHECK int sp__requests_open(struct sp__requests *r, const struct sp__queue_opts *opts,
				    struct sp_errinfo *err);
/*
 * Waits for all outstanding requests without notifying owners, then closes the queue.  To be
 * called before the buffers of requests are freed.  Accepts a struct that is all zero.
 */
void sp__requests_close(struct sp__requests *r);

/*
 * Adds a request, set as for sp__queue_submit(), and with its owner.  Its user allocates it,
 * usually within a buffer or a frame.  It belongs to the queue, with the bytes that it names, until
 * the owner is notified.  At most the depth of the queue may be added or outstanding.  Returns 0 or
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__requests_add(struct sp__requests *r, struct sp__request *request);
/* Submits what has been added.  Returns 0, or the first error of the queue, also in later calls. */
SP_MUST_CHECK int sp__requests_flush(struct sp__requests *r);
/*
 * Submits what has been added, and notifies the owners of completed requests, which may add
 * requests; does not wait.  Returns 0, or the first error of the queue.  An error of a request is
 * its result.
 */
SP_MUST_CHECK int sp__requests_collect(struct sp__requests *r);
/* Registers the wait for the next completion, before a user returns SP_LATER. */
void sp__requests_later(struct sp__requests *r, struct sp__waits *waits);

/*
 * Makes a request of this owner that reads bytes [offset, offset + bytes) of a volume, widened to
 * its alignment, into data, which has sp__request_capacity() bytes and the alignment of the volume.
 * Returns the address in data where the byte at offset will be.
 */
char *sp__request_aim(struct sp__request *r, struct sp__io_owner *owner, struct sp__volume *v,
		      uint64_t offset, size_t bytes, void *data);
/* Returns the bytes of memory that a read of so many bytes at any offset needs. */
size_t sp__request_capacity(const struct sp__volume *v, size_t bytes);
/*
 * Checks a completed read; at: as sp__request_aim() returned it.  Returns 0; the error of the
 * request; or SP_ECORRUPT if the file ends before.
 */
SP_MUST_CHECK int sp__request_result(const struct sp__request *r, const char *at, size_t bytes);
