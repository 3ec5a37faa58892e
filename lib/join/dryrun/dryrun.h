/* SPDX-License-Identifier: MIT */
#pragma once

#include "join/plan/plan.h"

struct sp__join_prediction {
	double seconds; /* 0: unknown */
	uint64_t work;	/* work of the dry run, at most one step more than SP__DRYRUN_WORK_MAX */
};

/*
 * Predicts a join by plan->algorithm on the simulated machine of o->run; input lengths are known.
 * 0, or an error.
 */
SP_MUST_CHECK int sp__join_predict(const struct sp_join_opts *o, const struct sp_join_plan *plan,
				   const struct sp__join_layout *layout,
				   struct sp__join_prediction *prediction, struct sp_errinfo *err);
