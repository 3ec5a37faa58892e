/* SPDX-License-Identifier: MIT */
#ifndef SP__JOIN_REHEARSE_H
#define SP__JOIN_REHEARSE_H

#include "join/plan.h"

/*
 * Fills in plan->seconds, 0 if nothing is foretold: for a join by plan->algorithm on the simulated
 * machine of o->run, of inputs of known length.  0, or an error.
 */
SP_MUST_CHECK int sp__join_foretell(const struct sp_join_opts *o, struct sp_join_plan *plan,
				    const struct sp__join_layout *layout, struct sp_errinfo *err);

#endif
