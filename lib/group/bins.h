/* SPDX-License-Identifier: MIT */
/*
 * Bins of histograms: hist(x, 0, 10, 100) has a column of counts for each bin between bounds.
 *
 * Bin i is that of the numbers that are at least i of the bounds.
 *
 * Thread rule: one thread at a time parses; any thread.
 */
#pragma once

#include "group/operand.h"

/* Takes the bounds behind the column, for the function that was taken last.  0 or an error. */
SP_MUST_CHECK int sp__bins_take(struct sp__group_parser *p, struct sp__group_argument *a);
/*
 * Replaces the aggregate that was taken last, whose name is that of x, by one of each bin.  Returns
 * 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__bins_expand(struct sp__group_parser *p);
/* Returns the bin of a number. */
int32_t sp__bins_find(const struct sp__group_argument *a, const struct sp__amount *x);
