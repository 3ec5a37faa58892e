/* SPDX-License-Identifier: MIT */
/*
 * Predicts the mean query of a workload, at the same positions for all plans.
 */
#include <math.h>
#include "base/rng.h"
#include "cube/choose/choose.h"
#include "cube/choose/closed.h"
#include "cube/file/transfer.h"

#define POSITIONS 20

struct sp_cube_box sp__cube_query_box(const struct sp_cube_query *q,
				      const struct sp_cube_shape *shape, uint64_t seed, unsigned k)
{
	struct sp__rng rng = { sp__mix64(seed + k + 1) };
	struct sp_cube_box box = { 0 };

	for (unsigned i = 0; i < shape->ndims; i++) {
		uint64_t size = q->size[i] ? q->size[i] : shape->dims[i];
		uint64_t any = sp__rng_below(&rng, shape->dims[i] - size + 1);

		box.lo[i] = q->at_given ? q->at[i] : any;
		box.hi[i] = box.lo[i] + size - 1;
		box.stride[i] = 1;
	}
	return box;
}

unsigned sp__cube_query_positions(const struct sp_cube_workload *w, const struct sp_cube_query *q,
				  unsigned max)
{
	unsigned positions = w->positions ? w->positions : POSITIONS;

	return q->at_given ? 1 : max && max < positions ? max : positions;
}

static void add(struct sp__cube_prediction *to, const struct sp__cube_prediction *p, double weight)
{
	to->ns += p->ns * weight;
	to->late_ns += p->late_ns * weight;
	to->early_ns += p->early_ns * weight;
	to->requests += p->requests * weight;
	to->seeks += p->seeks * weight;
	to->blocks += p->blocks * weight;
	to->closed_ns += p->closed_ns * weight;
}

static int predict(const struct sp__cube_plan *plan, const struct sp__predict_opts *o,
		   const struct sp_cube_box *e, struct sp__cube_prediction *p)
{
	const struct sp__cube_superblock *h = &plan->superblock;
	struct sp_cube_box cells = sp__cube_cells(&h->shape, e);
	int rc = plan->points ? sp__predict_points(o, plan->points, h, e, p)
			      : sp__predict_box(o, &h->mapping, &cells, p);

	p->closed_ns = plan->points ? NAN : sp__closed_ns(plan, &cells);
	return rc;
}

int sp__cube_predict(const struct sp__cube_plan *plan, unsigned positions, uint64_t runs,
		     struct sp__cube_prediction *mean)
{
	const struct sp_cube_workload *w = plan->opts->workload;
	const struct sp__cube_superblock *h = &plan->superblock;
	struct sp__predict_opts o = { .geometry = plan->drive.geometry,
				      .depth = w->depth,
				      .fifo = plan->drive.fifo,
				      .window = plan->drive.window,
				      .host_ns = plan->drive.host_ns,
				      .gap_blocks = sp__transfer_gap(h, w->no_coalesce),
				      .request_blocks = SP__TRANSFER_BYTES / h->block_bytes,
				      .runs_max = runs,
				      .cliffs = !runs };
	double weights = 0;
	int rc = 0;

	*mean = (struct sp__cube_prediction){ 0 };
	for (size_t i = 0; i < w->n; i++)
		weights += w->queries[i].weight;
	for (size_t i = 0; !rc && i < w->n; i++) {
		const struct sp_cube_query *q = &w->queries[i];
		unsigned n = sp__cube_query_positions(w, q, positions);

		for (unsigned k = 0; !rc && k < n; k++) {
			struct sp_cube_box e =
				sp__cube_query_box(q, &h->shape, w->seed + i * 1000, k);
			struct sp__cube_prediction p;

			rc = predict(plan, &o, &e, &p);
			if (!rc)
				add(mean, &p, q->weight / weights / n);
		}
	}
	return rc;
}
