/* SPDX-License-Identifier: MIT */
/*
 * Defines the operators of a plan (spindle/flow.h).
 *
 * An operator is a struct whose first member is struct sp_operator, made by sp__operator_new().  It
 * charges the records that it keeps to the budget of the plan.
 */
#pragma once

#include <spindle/flow.h>
#include "flow/iter.h"
#include "rec/fields.h"
#include "run/charge.h"

struct sp_flow {
	struct sp__env env;
	struct sp_run_opts run;
	struct sp__waits waits;
	struct sp_operator *last; /* the operator opened last; heads the list */
};

struct sp_operator {
	struct sp_flow *flow;
	struct sp_recfmt format; /* format of its records */
	struct sp__cut cut;	 /* how its records are cut into fields */
	/* Works as next of struct sp__iter, but is never called again after the end or an error. */
	int (*next)(void *operator, struct sp_batch * batch);
	/* Frees everything except the operator's own struct; or NULL. */
	void (*close)(void *operator);
	/* Adds the operator's counters; or NULL. */
	void (*note)(const void *operator, struct sp_run_stats * stats);
	bool any_order;		    /* the order of its records is not defined */
	struct sp_operator *input;  /* the first one; NULL: none */
	struct sp_operator *before; /* the operator opened before this one */
	bool taken;		    /* is the input of another operator */
	bool over;		    /* next() has returned status: the end or an error */
	int status;
};

/*
 * Makes an operator of `bytes` bytes.  It is zeroed except for its plan and, if it has inputs, the
 * format and fields of the first one.  Takes the inputs: SP_ESTATE if one is already taken.  NULL:
 * *rc is the error, recorded.
 */
void *sp__operator_new(struct sp_flow *flow, size_t bytes, struct sp_operator *const *inputs,
		       size_t ninputs, int *rc);
/* next() of a struct sp__iter; all callers use it. */
SP_MUST_CHECK int sp__operator_next(void *operator, struct sp_batch * batch);
/* Terminator of its records, if they have fields. */
static inline char sp__operator_eol(const struct sp_operator *op)
{
	return op->format.kind == SP_REC_LINE ? op->format.eol : '\n';
}

/* SP_EUNSUP, recorded, if the input has no order; `what` names the operation that needs one. */
SP_MUST_CHECK int sp__operator_ordered(const struct sp_operator *input, const char *what);
/* SP_EUNSUP for records without fields. */
SP_MUST_CHECK int sp__operator_fields(const struct sp_operator *input);
/* Charges the initial memory of an operator.  SP_EBUDGET, recorded: the budget is too small. */
SP_MUST_CHECK int sp__flow_charge(struct sp_flow *flow, uint64_t bytes);
/* Appends to b, charged to the plan.  0 or -ENOMEM, recorded. */
SP_MUST_CHECK int sp__flow_append(struct sp_flow *flow, struct sp__bytes *b, const char *data,
				  size_t bytes);
