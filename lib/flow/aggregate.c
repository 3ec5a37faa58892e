/* SPDX-License-Identifier: MIT */
/*
 * Aggregates neighbouring records with equal keys.
 *
 * Algorithm: a record whose key differs from the key of the current group ends that group.
 * Finished groups are collected and returned when the input batch is used up.
 *
 * Memory: one key, and the groups that end in one batch.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "flow/grouping.h"

struct aggregate {
	struct sp_operator op;
	struct sp__grouping grouping;
	bool begun;		  /* a group is open */
	struct sp__bytes key;	  /* of the open group */
	uint64_t records;	  /* of the open group */
	struct sp__total *totals; /* of the open group */
	struct sp__bytes out;
};

/* Writes the current group. */
static int end_group(struct aggregate *a)
{
	const struct sp__slice key = { a->key.data, a->key.bytes };

	a->begun = false;
	return sp__grouping_put(&a->grouping, &a->op, &key, a->totals, a->records, &a->out);
}

static void begin_group(struct aggregate *a)
{
	memset(a->totals, 0, a->grouping.nvalues * sizeof(*a->totals));
	a->records = 0;
	a->begun = true;
}

static bool is_current(const struct aggregate *a)
{
	const struct sp__bytes *key = &a->grouping.key;

	return a->key.bytes == key->bytes &&
	       (!key->bytes || !memcmp(a->key.data, key->data, key->bytes));
}

static int take_record(void *operator, const char * rec, size_t bytes)
{
	struct aggregate *a = operator;
	struct sp__bytes key;
	int rc = sp__grouping_split(&a->grouping, &a->op, rec, bytes);

	if (!rc && a->begun && !is_current(a))
		rc = end_group(a);
	if (rc)
		return rc;
	if (!a->begun) {
		begin_group(a);
		key = a->key;
		a->key = a->grouping.key;
		a->grouping.key = key;
	}
	a->records++;
	return sp__grouping_add(&a->grouping, &a->op, a->totals);
}

static int next(void *operator, struct sp_batch * batch)
{
	struct aggregate *a = operator;
	int rc;

	a->out.bytes = 0;
	while (!a->out.bytes) {
		struct sp_batch in;

		rc = sp__operator_next(a->op.input, &in);
		if (rc == SP_READY)
			rc = sp__grouping_batch(&a->op, &in, take_record, a);
		else if (rc != SP_END)
			return rc;
		else if (!a->begun)
			return rc;
		else
			rc = end_group(a);
		if (rc < 0)
			return rc;
	}
	*batch = (struct sp_batch){ a->out.data, a->out.bytes };
	return SP_READY;
}

static void close_aggregate(void *operator)
{
	struct aggregate *a = operator;
	struct sp__budget *b = &a->op.flow->env.budget;

	sp__grouping_close(&a->grouping, a->op.flow);
	free(a->totals);
	sp__bytes_release(&a->key, b);
	sp__bytes_release(&a->out, b);
}

int sp_flow_aggregate(struct sp_operator **op, struct sp_operator *input, const size_t *groups,
		      size_t ngroups, const struct sp_flow_value *values, size_t nvalues)
{
	struct aggregate *a;
	int rc = sp__operator_fields(input);

	if (!rc && ngroups)
		rc = sp__operator_ordered(input, "an aggregation of neighbours");
	a = rc ? NULL : sp__operator_new(input->flow, sizeof(*a), &input, 1, &rc);
	if (!a)
		return rc;
	a->op.next = next;
	a->op.close = close_aggregate;
	*op = &a->op;
	a->op.any_order = false;
	rc = sp__grouping_open(&a->grouping, input->flow, groups, ngroups, values, nvalues);
	a->totals = calloc(nvalues + 1, sizeof(*a->totals));
	if (!rc && !a->totals)
		rc = sp__err(input->flow->env.err, -ENOMEM, "allocate", NULL, -1);
	if (!rc && !ngroups)
		begin_group(a);
	return rc;
}
