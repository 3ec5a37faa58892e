/* SPDX-License-Identifier: MIT */
/*
 * Declares the tallies of a hash join and their comparison; join/input/balance.h lists the counts.
 */
#pragma once

#include "join/input/balance.h"

struct sp__hash;
struct sp__stage;

/* Tallies of one input of a stage, or of one file of a join. */
struct sp__join_balance {
	struct sp__tally read;	    /* from the input */
	struct sp__tally unspilled; /* read back from partitions; only of a join */
	struct sp__tally kept;
	struct sp__tally looked_up;
	struct sp__tally filtered;
	struct sp__tally alone; /* of partitions whose other side is empty; only of a join */
	struct sp__tally spilled;
};

/* All functions return 0, or SP_EBALANCE, recorded. */

/* Checks a pass of one side; came: the records put into its partition, NULL: an input. */
SP_MUST_CHECK int sp__balance_role(struct sp__stage *s, int role, const struct sp__tally *came);
/* Checks a stage whose partitions are written but not joined; came: by role, or NULL. */
SP_MUST_CHECK int sp__balance_stage(struct sp__stage *s, const struct sp__tally came[2]);
/* Checks a partition whose other side is empty; read back: NULL if its records are not needed. */
SP_MUST_CHECK int sp__balance_alone(struct sp__hash *h, int side, const struct sp__tally *came,
				    const struct sp__tally *read_back);
/* Checks all stages. */
SP_MUST_CHECK int sp__balance_hash(struct sp__hash *h);
