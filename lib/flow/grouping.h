/* SPDX-License-Identifier: MIT */
/*
 * Computes the key of a record's group, and the values of a group, for both aggregations.
 */
#pragma once

#include "base/decimal.h"
#include "flow/operator.h"

/* Totals of the numbers in one field of a group's records; starts zeroed. */
struct sp__total {
	uint64_t numbers;
	struct sp__decimal sum, min, max;
};

/* Embedded in an operator; starts zeroed. */
struct sp__grouping {
	size_t *groups, ngroups;
	struct sp_flow_value *values;
	size_t nvalues;
	struct sp__fields fields; /* of the current record */
	struct sp__bytes key;	  /* the group fields of the record, as they will be written */
};

SP_MUST_CHECK int sp__grouping_open(struct sp__grouping *g, struct sp_flow *flow,
				    const size_t *groups, size_t ngroups,
				    const struct sp_flow_value *values, size_t nvalues);
void sp__grouping_close(struct sp__grouping *g, struct sp_flow *flow);
/* Passes each record of a batch to take() until that fails; charges the work.  0 or the error. */
SP_MUST_CHECK int sp__grouping_batch(struct sp_operator *op, const struct sp_batch *batch,
				     int (*take)(void *arg, const char *record, size_t bytes),
				     void *arg);
/* Finds the fields and the key of a record of op.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__grouping_split(struct sp__grouping *g, struct sp_operator *op,
				     const char *record, size_t bytes);
/* Adds the record that was split to the totals, one per value.  0 or SP_EFORMAT. */
SP_MUST_CHECK int sp__grouping_add(const struct sp__grouping *g, const struct sp_operator *op,
				   struct sp__total *totals);
/* Appends the result record of a group of `records` records.  0 or -ENOMEM. */
SP_MUST_CHECK int sp__grouping_put(const struct sp__grouping *g, const struct sp_operator *op,
				   const struct sp__slice *key, const struct sp__total *totals,
				   uint64_t records, struct sp__bytes *out);
