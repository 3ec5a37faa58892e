/* SPDX-License-Identifier: MIT */
/*
 * The contract of asynchronous iterators.
 *
 * next() returns SP_READY with a batch, SP_LATER, SP_END or a negative error
 * (spindle/batch.h defines each).  An operator that returns SP_LATER has
 * registered at least one wait in the plan's single wait set.  Only the root of
 * a plan blocks, and only when all its inputs returned SP_LATER: it calls
 * sp__waits_block() and retries.  SP_LATER without a wait is a programming error
 * and is caught there (SP_ESTATE).
 *
 * A batch is borrowed and valid until the next call on the operator that
 * returned it.
 *
 * Source: Iyengar et al. 2008.
 */
#ifndef SP__FLOW_ITER_H
#define SP__FLOW_ITER_H

#include <spindle/batch.h>
#include <spindle/error.h>

/* Blocks until there is progress, or allows the operator's next call to block; 0 or an error. */
typedef int sp__wait_fn(void *operator);

#define SP__WAITS_MAX 16

struct sp__waits {
	struct {
		sp__wait_fn *block;
		void *operator;
	} wait[SP__WAITS_MAX];
	unsigned n;
};

struct sp__iter {
	void *operator;
	int (*next)(void *operator, struct sp_batch * batch);
};

/* Called by an operator that is about to return SP_LATER. */
void sp__waits_add(struct sp__waits *w, sp__wait_fn *block, void *operator);
/*
 * Blocks in the wait registered first (the one nearest to the source, whose
 * progress the others depend on) and forgets them all.
 */
SP_MUST_CHECK int sp__waits_block(struct sp__waits *w);

/* For callers that cannot handle SP_LATER: calls next() until it returns something else. */
SP_MUST_CHECK int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch);

#endif
