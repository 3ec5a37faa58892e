/* SPDX-License-Identifier: MIT */
/*
 * Joins files that seem to be sorted, until one proves not to be.
 */
#pragma once

#include "join/input/inputs.h"
#include "join/plan/plan.h"

/* Samples the files.  Returns SP_JOIN_UNSORTED, or the order in which both seem sorted. */
enum sp_join_sorted sp__join_detect(const struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Joins the sources, after their headers have been read.  0: complete.  1: disorder, or one key has
 * more records than fit in memory; in->merged[] are the numbers of records whose pairs with each
 * other, and nothing else, have been written.  Or an error.
 */
SP_MUST_CHECK int sp__join_presorted(struct sp__join_inputs *in, struct sp__result *out,
				     const struct sp__join_layout *layout);
