/* SPDX-License-Identifier: MIT */
/*
 * The cost model of Shao 2008, section 5.4, for one drive with tracks: the expected time of a box
 * query in closed formulas, which need neither the walk of a query nor the angles of tracks.
 *
 * Thread rule: pure functions.
 */
#pragma once

#include "cube/choose/plan.h"

/*
 * Returns the expected number of jumps between basic cubes along a dimension, of q cells at a
 * random position among s cells in cubes of k cells: 1 <= q, k <= s.
 */
double sp__closed_jumps(uint64_t q, uint64_t k, uint64_t s);

/*
 * Returns the time of reading a box of cells.  NaN: the model does not have the mapping, or the
 * device has several volumes or no known tracks.
 */
double sp__closed_ns(const struct sp__cube_plan *plan, const struct sp_cube_box *cells);
