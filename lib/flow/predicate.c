/* SPDX-License-Identifier: MIT */
/*
 * Filters records: passes each series of neighbouring matches in the memory of the input batch.
 */
#include "base/err.h"
#include "flow/operator.h"

struct filter {
	struct sp_operator op;
	sp_flow_predicate *keep;
	void *arg;
	const char *at, *end; /* the unread part of the input batch */
};

/* Charges the records examined since `from`. */
static void charge(const struct filter *f, const char *from, uint64_t records)
{
	sp__charge_work(&f->op.flow->env, records, 1, (uint64_t)(f->at - from));
}

/* Finds the next series of matches in the batch; empty: there are none. */
static int select_some(struct filter *f, struct sp_batch *batch)
{
	const char *from = f->at;
	uint64_t records = 0;
	int keep = 0;

	*batch = (struct sp_batch){ from, 0 };
	while (f->at < f->end) {
		const char *rec = f->at;
		size_t bytes;

		f->at = sp__record_next(&f->op.format, rec, f->end, &bytes);
		records++;
		keep = f->keep(f->arg, rec, bytes);
		if (keep < 0)
			return sp__err(f->op.flow->env.err, keep, "filter", NULL, -1);
		if (keep && !batch->bytes)
			batch->data = rec;
		if (keep)
			batch->bytes = (size_t)(f->at - batch->data);
		else if (batch->bytes)
			break;
	}
	charge(f, from, records);
	return 0;
}

static int next(void *operator, struct sp_batch * batch)
{
	struct filter *f = operator;
	int rc = 0;

	do {
		struct sp_batch in;

		if (f->at == f->end) {
			rc = sp__operator_next(f->op.input, &in);
			if (rc != SP_READY)
				return rc;
			f->at = in.data;
			f->end = in.data + in.bytes;
		}
		rc = select_some(f, batch);
		if (rc < 0)
			return rc;
	} while (!batch->bytes);
	return SP_READY;
}

int sp_flow_filter(struct sp_operator **op, struct sp_operator *input, sp_flow_predicate *keep,
		   void *arg)
{
	int rc;
	struct filter *f = sp__operator_new(input->flow, sizeof(*f), &input, 1, &rc);

	if (!f)
		return rc;
	f->op.next = next;
	f->keep = keep;
	f->arg = arg;
	*op = &f->op;
	return 0;
}
