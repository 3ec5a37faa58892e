/* SPDX-License-Identifier: MIT */
/*
 * Measures a workload on the simulated volume of a plan, with a cube that has no file, or on that
 * of an open cube.
 */
#include "cube/choose/choose.h"
#include "cube/elements/elements.h"
#include "cube/points/points.h"

int sp__cube_measure(struct sp__cube_plan *plan, unsigned positions, double *seconds,
		     struct sp_errinfo *err)
{
	const struct sp_cube_workload *w = plan->opts->workload;
	struct sp_cube_opts o = { .run = plan->opts->run,
				  .depth = w->depth ? w->depth : 1,
				  .no_coalesce = w->no_coalesce };
	struct sp__cubefile file;
	struct sp__points points = { .file = &file };
	int rc;

	plan->superblock.no_data = true;
	o.run.geometry = NULL; /* that of one volume, which planning has checked */
	rc = sp__cubefile_open_planned(&file, &plan->superblock, &o, err);
	if (plan->points)
		points.set = *plan->points;
	if (!rc)
		rc = sp__cube_measure_open(plan, &file, plan->points ? &points : NULL, positions,
					   seconds, err);
	(void)sp__cubefile_close(&file);
	return rc;
}

int sp__cube_measure_open(const struct sp__cube_plan *plan, struct sp__cubefile *file,
			  struct sp__points *points, unsigned positions, double *seconds,
			  struct sp_errinfo *err)
{
	const struct sp_cube_workload *w = plan->opts->workload;
	struct sp_cube_stats stats;
	double weights = 0;
	int rc = 0;

	*seconds = 0;
	for (size_t i = 0; !rc && i < w->n; i++) {
		const struct sp_cube_query *q = &w->queries[i];
		unsigned n = sp__cube_query_positions(w, q, positions);

		weights += q->weight;
		for (unsigned k = 0; !rc && k < n; k++) {
			struct sp_cube_box box =
				sp__cube_query_box(q, &plan->opts->shape, w->seed + i * 1000, k);

			rc = points ? sp__points_read(points, &box, NULL, NULL, &stats, err)
				    : sp__elements_read(file, &box, NULL, NULL, &stats, err);
			*seconds += stats.transfer_s * q->weight / n;
		}
	}
	*seconds /= weights;
	return rc;
}
