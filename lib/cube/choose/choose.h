/* SPDX-License-Identifier: MIT */
/*
 * Predicts or measures a workload on a planned cube, and chooses the mapping with the lowest time.
 */
#pragma once

#include "cube/choose/plan.h"
#include "cube/points/points.h"
#include "place/boxtime.h"

/*
 * Predicts the mean query of the workload of plan->opts.
 * positions: maximum number of positions per query; 0: as the workload says.
 * runs: maximum number of runs that are followed per query; 0: all, and early_ns and late_ns too.
 * Returns 0, or -ENODATA: the device is unknown.
 */
SP_MUST_CHECK int sp__cube_predict(const struct sp__cube_plan *plan, unsigned positions,
				   uint64_t runs, struct sp__runs_prediction *mean);

/*
 * Measures the mean query on the simulated volume of the plan, in seconds.  Afterwards the plan
 * can only be freed.  Returns 0, or an error of reading, in err.
 */
SP_MUST_CHECK int sp__cube_measure(struct sp__cube_plan *plan, unsigned positions, double *seconds,
				   struct sp_errinfo *err);

/*
 * candidates.c: plans opts, and sets what is known of the candidate then; c->code and c->reason if
 * the mapping is not possible, which is not an error.  The plan must be freed.
 */
SP_MUST_CHECK int sp__candidate_plan(struct sp_cube_candidate *c, struct sp__cube_plan *plan,
				     const struct sp_cube_create_opts *opts,
				     struct sp_errinfo *err);
/* Sets the predicted members, if the device is known.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__candidate_predict(struct sp_cube_candidate *c,
					const struct sp__cube_plan *plan);

/* Measures the same on an open cube.  points: its points; NULL: a grid. */
SP_MUST_CHECK int sp__cube_measure_open(const struct sp__cube_plan *plan, struct sp__cubefile *file,
					struct sp__points *points, unsigned positions,
					double *seconds, struct sp_errinfo *err);

/*
 * Predicts, and with run measures, the workload of opts on each mapping of a dataset of points: by
 * the tree of a sample of its points and of those of an input.  The last candidate is the dataset
 * as it is, or with the input.
 * sampled: the share of the points that the sample has.
 * Returns 0; errors of sp__pointsample_take(), of planning, or of reading, in err.
 */
SP_MUST_CHECK int sp__points_compare(struct sp__points *c, const char *input,
				     const struct sp_cube_load_opts *load,
				     const struct sp_cube_create_opts *opts, bool run,
				     struct sp_cube_candidate *candidates, double *sampled,
				     struct sp_errinfo *err);

/*
 * Sets mapping, order, basic cube and conservatism of opts, which have a workload, to those with
 * the lowest predicted time.  On a simulated drive with a cache, which predictions do not model,
 * times are measured if the queries are small enough.  If the device is unknown, opts stay
 * unchanged. Returns 0, -ENOMEM, or an error of planning.
 */
SP_MUST_CHECK int sp__cube_choose(struct sp_cube_create_opts *opts, struct sp_errinfo *err);

/*
 * Returns the degrees by which the conservatism of opts can be lower because hops are by one
 * track: sp__cubeplan_closer_deg().  0 if opts are refused.
 */
double sp__cube_closer_deg(const struct sp_cube_create_opts *opts);
/*
 * Lowers the conservatism of opts, whose mapping is MultiMap, by at most sp__cube_closer_deg(), if
 * beams and boxes are then predicted to be faster.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__cube_choose_aim(struct sp_cube_create_opts *opts);

/*
 * Chooses what the opts of a grid leave open.  If that is the mapping, it does the same as
 * sp__cube_choose(); without queries, the mean of beams and a box decides, and if the device is
 * unknown or opts are refused, the mapping stays open.  If MultiMap is given, or is chosen without
 * queries, its aim is chosen, too.
 */
SP_MUST_CHECK int sp__cube_choose_open(struct sp_cube_create_opts *opts, struct sp_errinfo *err);

/* Returns the box of a query at its k-th random position, or at the given one. */
struct sp_cube_box sp__cube_query_box(const struct sp_cube_query *q,
				      const struct sp_cube_shape *shape, uint64_t seed, unsigned k);
/* Returns the number of positions of a query, at most max; 0: as the workload says. */
unsigned sp__cube_query_positions(const struct sp_cube_workload *w, const struct sp_cube_query *q,
				  unsigned max);
