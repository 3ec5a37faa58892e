/* SPDX-License-Identifier: MIT */
/* Passes the first n records of the input (spindle/flow.h). */
#include "flow/operator.h"

struct limit {
	struct sp_operator op;
	uint64_t left; /* records */
};

static int next(void *operator, struct sp_batch * batch)
{
	struct limit *l = operator;
	struct sp_batch in;
	const char *at, *end;
	int rc;

	if (!l->left)
		return SP_END;
	rc = sp__operator_next(l->op.input, &in);
	if (rc != SP_READY)
		return rc;
	end = in.data + in.bytes;
	for (at = in.data; at < end && l->left; l->left--) {
		size_t bytes;

		at = sp__record_next(&l->op.format, at, end, &bytes);
	}
	*batch = (struct sp_batch){ in.data, (size_t)(at - in.data) };
	return SP_READY;
}

int sp_flow_limit(struct sp_operator **op, struct sp_operator *input, uint64_t records)
{
	int rc;
	struct limit *l = sp__operator_new(input->flow, sizeof(*l), &input, 1, &rc);

	if (!l)
		return rc;
	l->op.next = next;
	l->left = records;
	*op = &l->op;
	return 0;
}
