/* SPDX-License-Identifier: MIT */
/*
 * The contract of asynchronous iterators.
 *
 * next() gives SP_READY with a batch, SP_LATER, SP_END or a negative error
 * (spindle/batch.h says what each promises).  An operator that says SP_LATER
 * has registered at least one wait in the plan's one wait set.  Only the root
 * of a plan blocks, and only when all that it has asked said SP_LATER: it
 * calls sp__waits_block() and asks again.  SP_LATER without a wait is a
 * programming error and is caught there (SP_ESTATE).
 *
 * A batch is borrowed and valid until the next call on the operator that gave
 * it.
 *
 * Source: Iyengar et al. 2008.
 */
#ifndef SP__FLOW_ITER_H
#define SP__FLOW_ITER_H

#include <spindle/batch.h>
#include <spindle/error.h>

/* Blocks until there is progress, or lets the operator's next call block; 0 or an error. */
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

/* To be called by an operator that is about to say SP_LATER. */
void sp__waits_add(struct sp__waits *w, sp__wait_fn *block, void *operator);
/*
 * Blocks in the wait registered first (the one nearest to the source, whose
 * progress the others depend on) and forgets them all.
 */
SP_MUST_CHECK int sp__waits_block(struct sp__waits *w);

/* For callers that cannot take SP_LATER: asks until there is an answer. */
SP_MUST_CHECK int sp__iter_next(struct sp__iter *it, struct sp__waits *w, struct sp_batch *batch);

#endif
