/* SPDX-License-Identifier: MIT */
/*
 * Declares samples of points, of which trees are planned.
 */
#pragma once

#include "cube/points/points.h"
#include "cube/points/tree.h"

struct sp__pointsample {
	struct sp__pointsource source; /* keys of the points, sorted */
	struct sp__volume *temporary;
};

/*
 * Samples the points of a dataset and those of an input: as many as half of the memory holds, so
 * small datasets are sampled completely.  input: NULL: none.
 * Returns 0; SP_EBUDGET if the sample has too few points per cell; -ENOENT if there are no points;
 * errors of reading.  After an error, too, it must be freed.
 */
SP_MUST_CHECK int sp__pointsample_take(struct sp__pointsample *s, struct sp__points *c,
				       const char *input, const struct sp_cube_load_opts *opts,
				       struct sp_errinfo *err);
void sp__pointsample_free(struct sp__pointsample *s);
