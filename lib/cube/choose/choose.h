/* SPDX-License-Identifier: MIT */
/*
 * What a workload costs on a planned cube, and the mapping on which it costs least.
 */
#pragma once

#include "cube/choose/plan.h"
#include "cube/choose/prediction.h"

/*
 * The mean query of the workload, of plan->opts, predicted.  positions, runs: limits of the
 * effort, 0: those of the workload, and none.  -ENODATA: nothing is known of the device.
 */
SP_MUST_CHECK int sp__cube_predict(const struct sp__cube_plan *plan, unsigned positions,
				   uint64_t runs, struct sp__cube_prediction *mean);

/* The same measured on the simulated volume, in seconds; the plan is only to be freed then. */
SP_MUST_CHECK int sp__cube_measure(struct sp__cube_plan *plan, unsigned positions, double *seconds,
				   struct sp_errinfo *err);

/*
 * Sets mapping, order, basic cube and conservatism of opts, which have a workload, to those
 * with the least time: predicted, or, on a simulated drive with a cache, of which predictions
 * know nothing, measured, if the queries are small enough.  MultiMap or Naive if nothing is
 * known of the device.
 */
SP_MUST_CHECK int sp__cube_choose(struct sp_cube_create_opts *opts, struct sp_errinfo *err);

/*
 * Does the same if opts leave the mapping of a grid open.  Without queries a mean of beams and a
 * box decides, and if nothing is known of the device, or opts are refused, the mapping stays open;
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__cube_choose_open(struct sp_cube_create_opts *opts, struct sp_errinfo *err);

/* The position of a query of a shape, the k-th of its random ones. */
struct sp_cube_box sp__cube_query_box(const struct sp_cube_query *q,
				      const struct sp_cube_shape *shape, uint64_t seed, unsigned k);
/* At how many positions a query is looked at, of at most this many; 0: as the workload says. */
unsigned sp__cube_query_positions(const struct sp_cube_workload *w, const struct sp_cube_query *q,
				  unsigned max);
