/* SPDX-License-Identifier: MIT */
/*
 * Defines the contract of asynchronous iterators.
 *
 * spindle/batch.h defines the results of next().  An operator that returns SP_LATER has registered
 * at least one wait in the plan's single wait set, or one of its inputs has.  Only the root of a
 * plan blocks, and only when all inputs that it called returned SP_LATER: it calls
 * sp__waits_block(), which waits for all of them concurrently, and then calls them again.  SP_LATER
 * without a wait is a programming error, which sp__waits_block() reports (SP_ESTATE).
 *
 * Thread rule: one thread at a time uses a plan, its operators and its wait set.
 */
#pragma once

#include <spindle/batch.h>
#include <spindle/error.h>

struct sp__waits;

/* Ways to wait for one source of progress: a queue, a stream, a sort. */
struct sp__wait_ops {
	/*
	 * Waits until next() can do more than return SP_LATER again: 1; after timeout_ns (-1: no
	 * limit): 0; or an error.
	 */
	int (*until)(void *source, int64_t timeout_ns);
	/*
	 * A descriptor that poll(2) finds readable when until(), which has just returned 0, would
	 * return 1.  -1: there is no such descriptor now.
	 */
	int (*fd)(void *source);
};

/* Embedded in an operator that waits; the operator sets ops and source and zeroes the rest. */
struct sp__waiter {
	const struct sp__wait_ops *ops;
	void *source;
	struct sp__waits *set; /* the set in which it is registered, or NULL */
	struct sp__waiter *next;
};

/* Starts zeroed; needs no release. */
struct sp__waits {
	struct sp__waiter *first;
};

struct sp__iter {
	void *operator;
	int (*next)(void *operator, struct sp_batch * batch);
};

/* Called by an operator before it returns SP_LATER; repeated calls are harmless. */
void sp__waits_add(struct sp__waits *w, struct sp__waiter *wait);
/* Called by an operator that no longer needs its wait, and before the operator is closed. */
void sp__waits_withdraw(struct sp__waiter *wait);
/* Waits until a registered source has progress, then removes all waits.  0 or an error. */
SP_MUST_CHECK int sp__waits_block(struct sp__waits *w);

/* For callers that cannot handle SP_LATER: calls next() until it returns something else. */
SP_MUST_CHECK int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch);
