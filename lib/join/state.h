/* SPDX-License-Identifier: MIT */
/*
 * Holds one join in progress.  Only the shell sees it; algorithms get its inputs and its result.
 */
#pragma once

#include "join/input/inputs.h"

struct sp__join {
	/* Set before anything is opened; only `ordered` and `algorithm` can change later. */
	struct sp_join_opts opts;
	const struct sp_join_io *io;
	struct sp__env env;
	struct sp__join_layout layout; /* unused by SP_JOIN_MERGE */
	/*
	 * The inputs, read by one algorithm at a time.  After a merge that finds disorder both are
	 * opened again.
	 */
	struct sp__join_inputs in;
	struct sp__result result;
	struct sp__join_counts counts;
};

/* Sets the options, and connects the members. */
void sp__join_set(struct sp__join *j, const struct sp_join_opts *opts, const struct sp_join_io *io);
