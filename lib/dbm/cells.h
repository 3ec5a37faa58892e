/* SPDX-License-Identifier: MIT */
/*
 * What a run makes of its measured units.
 */
#pragma once

#include <spindle/dbm.h>

/*
 * Computes the values of all cells from the units.  simulated: of each cell, the events of one
 * query; NULL: those of the units are used.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__cells_compute(struct sp_dbm_result *result, const struct sp_dbm_opts *opts,
				    double (*simulated)[SP_DBM_EVENTS]);
