/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <spindle/error.h>
#include <spindle/sort.h>

/*
 * For input of known length: fills in plan->cluster_reads, and on a simulated machine
 * plan->seconds.  keys: last keys of pages are kept.  0, -ENOMEM, or the error of the volume's
 * specification.
 */
SP_MUST_CHECK int sp__sort_predict(const struct sp_sort_opts *o, bool keys,
				   struct sp_sort_plan *plan, struct sp_errinfo *err);
