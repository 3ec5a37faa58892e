/* SPDX-License-Identifier: MIT */
/*
 * Measures a workload on a table that is stored.
 */
#pragma once

#include <spindle/table.h>
#include "table/cost/workload.h"

/*
 * Sets measured_s of the costs of a table as it is stored; NaN for queries that cannot be run.
 * Returns 0 or an error of sp_table_scan() or sp_table_get().
 */
SP_MUST_CHECK int sp__table_run_queries(struct sp_table *t, const struct sp__table_workload *w,
					uint64_t seed, struct sp_table_candidate *c,
					struct sp_errinfo *err);
