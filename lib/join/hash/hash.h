/* SPDX-License-Identifier: MIT */
/* Declares the hash join. */
#pragma once

#include "join/input/inputs.h"
#include "join/plan/plan.h"
#include "join/result/result.h"

/* Joins inputs that are open; the layout is made from their options.  0 or an error. */
SP_MUST_CHECK int sp__join_hash(struct sp__join_inputs *in, struct sp__result *out,
				const struct sp__join_layout *layout);
