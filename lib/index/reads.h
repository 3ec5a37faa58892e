/* SPDX-License-Identifier: MIT */
/*
 * Reads outstanding on one queue, for several users: each read knows whom to tell when it is
 * done.  Reads that are added are submitted together, as one batch, by the next flush, collect
 * or wait.
 *
 * One thread uses them.  A read belongs to the queue from sp__reads_add() until done is called.
 */
#ifndef SP__INDEX_READS_H
#define SP__INDEX_READS_H

#include "flow/iter.h"
#include "io/queue.h"

struct sp__read {
	struct sp__request req; /* op, volume, offset, data, bytes: the user's */
	void (*done)(struct sp__read *r);
	void *owner; /* the user's */
};

struct sp__reads {
	struct sp__queue *queue;
	struct sp__request **added;
	size_t nadded, room;
	struct sp__waiter wait; /* for the queue, on behalf of all users */
	struct sp_errinfo *err;
	int error; /* of the queue; stays */
};

SP_MUST_CHECK int sp__reads_open(struct sp__reads *r, const struct sp__queue_opts *opts,
				 struct sp_errinfo *err);
/* Waits for what is outstanding; nobody is told. */
void sp__reads_close(struct sp__reads *r); /* accepts one all zero */

/* At most the depth of the queue may be outstanding or added.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__reads_add(struct sp__reads *r, struct sp__read *read);
SP_MUST_CHECK int sp__reads_flush(struct sp__reads *r);
/* Flushes, then tells the users of what is done. */
SP_MUST_CHECK int sp__reads_collect(struct sp__reads *r);
/* For a user that is about to say SP_LATER: registers the wait for the next read that is done. */
void sp__reads_later(struct sp__reads *r, struct sp__waits *waits);

/*
 * Makes read one of these bytes of a volume, with the alignment that it needs; data has
 * sp__read_free() bytes.  Returns where in data they will be.
 */
char *sp__read_aim(struct sp__read *read, struct sp__volume *v, uint64_t offset, size_t bytes,
		   void *data);
size_t sp__read_free(const struct sp__volume *v, size_t bytes);
/* Are they there?  0; the error of the request; SP_ECORRUPT: the file ends before. */
SP_MUST_CHECK int sp__read_result(const struct sp__read *read, const char *at, size_t bytes);

#endif
