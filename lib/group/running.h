/* SPDX-License-Identifier: MIT */
/*
 * Columns of the result that depend on other rows: shares of the total, and running totals.
 *
 * The total has all groups, also those whose rows are not written, so rows with shares are sorted
 * before they are written, even if they stay in order.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "group/result.h"

/* NULL: no memory. */
struct sp__group_runs *sp__group_runs_new(const struct sp__group_spec *s);
void sp__group_runs_free(struct sp__group_runs *runs);

/* Takes the values of a row, by column.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__group_runs_take(struct sp__group_runs *runs, const struct sp__slice *columns);
/* Adds the values of the row to the totals of all groups. */
void sp__group_runs_total(struct sp__group_runs *runs);
/* Appends the values of the row to the body of a row.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__group_runs_save(const struct sp__group_runs *runs, struct sp__bytes *body);
/* Takes them from there.  Returns the end, or NULL without memory. */
const char *sp__group_runs_restore(struct sp__group_runs *runs, const char *at, const char *stop);
/* Appends the columns to the row. */
SP_MUST_CHECK int sp__group_runs_put(struct sp__group_results *r);
