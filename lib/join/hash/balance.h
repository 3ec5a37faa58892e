/* SPDX-License-Identifier: MIT */
/*
 * The tallies of a hash join, and their comparison; join/input/balance.h says what is counted.
 */
#ifndef SP__JOIN_HASH_BALANCE_H
#define SP__JOIN_HASH_BALANCE_H

#include "join/input/balance.h"

struct sp__hash;
struct sp__stage;

/* Of one input of a stage, or of one file of a join. */
struct sp__join_balance {
	struct sp__tally read;	    /* from the input */
	struct sp__tally unspilled; /* from partitions; a join's */
	struct sp__tally kept;
	struct sp__tally looked_up;
	struct sp__tally filtered;
	struct sp__tally alone; /* partitions without another side; a join's */
	struct sp__tally spilled;
};

/* All of these: 0 or SP_EBALANCE, recorded. */

/* A pass of the probe side; came: the records put into its partition, NULL: it is an input. */
SP_MUST_CHECK int sp__balance_probe(struct sp__stage *s, const struct sp__tally *came);
/* A stage whose partitions are written, but not yet joined; came: of both roles, or NULL. */
SP_MUST_CHECK int sp__balance_stage(struct sp__stage *s, const struct sp__tally came[2]);
/* A partition without another side; read back: NULL if its records are not needed. */
SP_MUST_CHECK int sp__balance_alone(struct sp__hash *h, int side, const struct sp__tally *came,
				    const struct sp__tally *read_back);
/* All stages. */
SP_MUST_CHECK int sp__balance_hash(struct sp__hash *h);

#endif
