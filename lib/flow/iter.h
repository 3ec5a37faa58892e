/* SPDX-License-Identifier: MIT */
/*
 * The contract of asynchronous iterators.
 *
 * spindle/batch.h defines what next() returns.  An operator that returns SP_LATER has
 * registered at least one wait in the plan's single wait set, or one of its inputs has.  Only the
 * root of a plan blocks, and only when all that it has asked returned SP_LATER: it calls
 * sp__waits_block(), which waits for all of them at once, and asks again.  SP_LATER without a
 * wait is a programming error and is caught there (SP_ESTATE).
 *
 * Thread rule: one thread at a time uses a plan, its operators and its wait set.
 */
#ifndef SP__FLOW_ITER_H
#define SP__FLOW_ITER_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/batch.h>
#include <spindle/error.h>

struct sp__waits;

/* Ways to wait for one source of progress: a queue, a stream, a sort. */
struct sp__wait_ops {
	/*
	 * Waits until the next call of next() can do more than return SP_LATER again: 1; at
	 * most timeout_ns (-1: no limit), then 0; or an error.
	 */
	int (*until)(void *source, int64_t timeout_ns);
	/*
	 * A descriptor that poll(2) finds readable when until(), which has just returned 0,
	 * would return 1; -1: there is none, or not now.
	 */
	int (*fd)(void *source);
};

/* Part of the operator that waits; it sets ops and source, the rest zero. */
struct sp__waiter {
	const struct sp__wait_ops *ops;
	void *source;
	struct sp__waits *set; /* in which it is registered; NULL: in none */
	struct sp__waiter *next;
};

/* Zero to begin; needs no release. */
struct sp__waits {
	struct sp__waiter *first;
};

struct sp__iter {
	void *operator;
	int (*next)(void *operator, struct sp_batch * batch);
};

/* Called by an operator that is about to return SP_LATER; twice is as good as once. */
void sp__waits_add(struct sp__waits *w, struct sp__waiter *wait);
/* Called by an operator that has no use for its wait any more, and before it is closed. */
void sp__waits_withdraw(struct sp__waiter *wait);
/* Waits until one of those registered has progress, and forgets them all.  0 or an error. */
SP_MUST_CHECK int sp__waits_block(struct sp__waits *w);

/* For callers that cannot handle SP_LATER: calls next() until it returns something else. */
SP_MUST_CHECK int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch);

#endif
