/* SPDX-License-Identifier: MIT */
/*
 * The contract of asynchronous iterators.
 *
 * spindle/batch.h defines what next() returns.  An operator that returns SP_LATER has
 * registered at least one wait in the plan's single wait set.  Only the root of
 * a plan blocks, and only when all its inputs returned SP_LATER: it calls
 * sp__waits_block() and retries.  SP_LATER without a wait is a programming error
 * and is caught there (SP_ESTATE).
 */
#ifndef SP__FLOW_ITER_H
#define SP__FLOW_ITER_H

#include <spindle/batch.h>
#include <spindle/error.h>

/* Blocks until there is progress, or allows the operator's next call to block; 0 or an error. */
typedef int sp__wait_fn(void *operator);

/* Only the wait registered first is kept: it is nearest to the source. */
struct sp__waits {
	sp__wait_fn *block; /* NULL: none */
	void *operator;
};

struct sp__iter {
	void *operator;
	int (*next)(void *operator, struct sp_batch * batch);
};

/* Called by an operator that is about to return SP_LATER. */
void sp__waits_add(struct sp__waits *w, sp__wait_fn *block, void *operator);
/* Blocks in the wait registered first, on whose progress the others depend; forgets them all. */
SP_MUST_CHECK int sp__waits_block(struct sp__waits *w);

/* For callers that cannot handle SP_LATER: calls next() until it returns something else. */
SP_MUST_CHECK int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch);

#endif
