/* SPDX-License-Identifier: MIT */
/*
 * Partial records as the result or the input of a grouping in two steps.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "flow/scan.h"
#include "group/result.h"

/* Opens inputs of partial records; options: of the records that were grouped. */
SP_MUST_CHECK int sp__group_partials_open(struct sp__scan **scan,
					  const struct sp__scan_opts *options);
/* Gives all partial records to the sort. */
SP_MUST_CHECK int sp__group_partials_read(struct sp__scan *scan, struct sp__waits *waits,
					  struct sp_sort *sort);
/*
 * Writes sorted partial records as the whole result; the first batch has been fetched, unless rc is
 * SP_END.
 */
SP_MUST_CHECK int sp__group_partials_write(struct sp_sort *sort, int rc, struct sp_batch *batch,
					   struct sp__sort_result *write,
					   const struct sp__wstream_opts *writing);
