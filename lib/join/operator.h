/* SPDX-License-Identifier: MIT */
/*
 * Declares the common state of joins as operators of a plan (operator.c).  The sources of the join
 * are operators, and the sink of its emit is the batch.
 */
#pragma once

#include "join/state.h"

/* First member of each join operator. */
struct sp__joining {
	struct sp_operator op;
	struct sp__join j; /* its env is the plan's, with a budget of its own */
	struct sp_join_io io;
	struct sp__bytes out;
	uint64_t buffer_bytes; /* charged to the plan, as is out */
};

/*
 * Makes an operator of `bytes` bytes; the caller sets next and close.  Nothing is opened.  *rc: 0
 * or an error, recorded, such as SP_EBUDGET; then the result may be NULL.
 */
struct sp__joining *sp__joining_new(struct sp_operator *const inputs[2],
				    const struct sp_join_opts *opts, size_t bytes, int *rc);
void sp__joining_release(struct sp__joining *g);

SP_MUST_CHECK int sp__hash_operator(struct sp_operator **op, struct sp_operator *const inputs[2],
				    const struct sp_join_opts *opts);
