/* SPDX-License-Identifier: MIT */
/*
 * Predicts the time of reading a box of cells: the runs of its walk (predict/runs.h).
 *
 * Thread rule: pure functions; one thread uses a predictor.
 */
#pragma once

#include "place/mapping.h"
#include "predict/runs.h"

/* Follows cells of one volume of a mapping. */
struct sp__cellpredictor {
	struct sp__predictor runs;
	const struct sp__basicgrid *basic; /* for the numbers of blocks on a volume */
	uint32_t cell_blocks;
	uint64_t cells; /* cells that were followed */
};

/* Follows consecutive cells: a sp__cells_fn.  Returns true if no more are to be followed. */
int sp__predict_cells(void *cellpredictor, uint64_t first, uint64_t cells);

/*
 * Predicts reading the cells of a box.  The first positioning is a mean, with the head anywhere in
 * the cube.
 *
 * If there are more than runs_max runs, only the first runs_max are followed, and the time after
 * the first positioning is scaled by the number of cells.  With MultiMap, whose cubes take
 * different times, only every n-th coordinate along the outer dimensions is followed first.
 *
 * Returns 0, or -ENODATA: the geometry is unknown, or has neither tracks nor times.
 */
SP_MUST_CHECK int sp__predict_box(const struct sp__predict_opts *opts, const struct sp__mapping *m,
				  const struct sp_cube_box *box, struct sp__runs_prediction *out);
