/* SPDX-License-Identifier: MIT */
/*
 * Makes columns of the values of the last key: the groups that differ only in it are one row.
 *
 * How many columns there are is known when all groups have been seen.  Until then rows are records
 * of a sort: the fields of their keys, and the number of a value and the fields of its aggregates,
 * for each value.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "group/result.h"

struct sp__group_pivot;

/* NULL: no memory. */
struct sp__group_pivot *sp__group_pivot_new(const struct sp__group_spec *s);
void sp__group_pivot_free(struct sp__group_pivot *p);

/* Adds the open group to the open row, or begins a row with it.  Returns 0 or an error. */
SP_MUST_CHECK int sp__group_pivot_add(struct sp__group_results *r);
/* Ends the open row, and gives the columns of the result their order and names. */
SP_MUST_CHECK int sp__group_pivot_end(struct sp__group_results *r);
/* Writes a row of the sort, [at, stop).  Returns as sp__group_row_put(). */
SP_MUST_CHECK int sp__group_pivot_write(struct sp__group_results *r, const char *at,
					const char *stop);
