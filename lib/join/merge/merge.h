/* SPDX-License-Identifier: MIT */
/*
 * Declares merge joins: one that can suspend and resume (merge.c), and one of files that seem to be
 * sorted, until one proves not to be (presorted.c).
 */
#pragma once

#include "join/input/inputs.h"

/* cuts.c: samples the files.  Returns SP_JOIN_UNSORTED, or the order in which both seem sorted. */
enum sp_join_sorted sp__join_detect(const struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Joins the sources, after their headers have been read.  0: complete.  1: disorder, or one key has
 * more records than fit in memory; in->merged[] are the numbers of records whose pairs with each
 * other, and nothing else, have been written.  Or an error.
 */
SP_MUST_CHECK int sp__join_presorted(struct sp__join_inputs *in, struct sp__result *out,
				     const struct sp__join_layout *layout);

/* Returned in addition to the statuses; STOPPED only by a merge of a range (ranges.h). */
enum { SP__MERGE_DISORDER = 3, SP__MERGE_STOPPED = 4 };

struct sp__merging_join;

/* SP_EUNSUP: the options request an order that a merge does not have. */
SP_MUST_CHECK int sp__merge_check(const struct sp_join_opts *opts, struct sp_errinfo *err);
/*
 * Merges open sources into the emit of the result.  collate: compares keys by the locale, else as
 * bytes.  Charges kept data to budget.  NULL: no memory, recorded.
 */
struct sp__merging_join *sp__merge_new(struct sp__join_inputs *in, struct sp__result *out,
				       bool collate, struct sp__budget *budget);
void sp__merge_free(struct sp__merging_join *m); /* accepts NULL */
/*
 * Continues the merge: SP_END; SP_READY (the emit, with a sink, holds enough), SP_LATER (a source
 * returned it); SP__MERGE_DISORDER: the end, and disorder was reported; or an error.
 */
SP_MUST_CHECK int sp__merge_some(struct sp__merging_join *m);

/* Merges files completely: 0, 1 (disorder) or an error. */
SP_MUST_CHECK int sp__join_merge(struct sp__join_inputs *in, struct sp__result *out);
