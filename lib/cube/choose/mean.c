/* SPDX-License-Identifier: MIT */
/*
 * Predicts and measures the mean query of a workload, at the same positions for all plans.
 *
 * A query on points is predicted from the directory: its cells are followed in the order in which
 * it reads them (points/cells.h).
 */
#include <math.h>
#include "base/rng.h"
#include "cube/choose/choose.h"
#include "cube/choose/closed.h"
#include "cube/elements/elements.h"
#include "cube/file/transfer.h"
#include "cube/points/cells.h"
#include "cube/points/points.h"
#include "place/walk.h"

/*
 * Measures a workload on the simulated volume of a plan, with a cube that has no file, or on that
 * of an open cube.
 */

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
	o.run.geometry = NULL; /* the geometry is that of one volume, which planning has checked */
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

static void add(struct sp__runs_prediction *to, const struct sp__runs_prediction *p, double weight)
{
	to->ns += p->ns * weight;
	to->late_ns += p->late_ns * weight;
	to->early_ns += p->early_ns * weight;
	to->requests += p->requests * weight;
	to->seeks += p->seeks * weight;
	to->blocks += p->blocks * weight;
	to->closed_ns += p->closed_ns * weight;
}

/* The cells on one volume. */
struct follower {
	struct sp__cellpredictor predictor;
	unsigned volume;
};

static int follow_mapped(void *arg, const struct sp__mapping *m, const struct sp_cube_box *cells)
{
	struct follower *f = arg;
	struct sp__cubewalk walk;

	sp__cubewalk_begin(&walk, m, cells, f->volume);
	(void)sp__cubewalk_runs(&walk, sp__predict_cells, &f->predictor);
	return 0;
}

static int follow_cell(void *arg, uint64_t block)
{
	struct follower *f = arg;
	uint64_t local = block;

	if (sp__basicgrid_volume(f->predictor.basic, &local) == f->volume)
		(void)sp__predict_cells(&f->predictor, block, 1);
	return 0;
}

/*
 * Predicts reading the points of a box: the cells that the directory names, then overflow cells, of
 * which only the number in all cells is known.  All runs are followed.  Returns 0, -ENOMEM, or
 * -ENODATA as sp__predict_box().
 */
static int predict_points(const struct sp__predict_opts *o, const struct sp__pointset *s,
			  const struct sp__cube_superblock *h, const struct sp_cube_box *box,
			  struct sp__runs_prediction *out)
{
	struct follower f = { .predictor = { .basic = &h->mapping.basic,
					     .cell_blocks = s->cell_blocks } };
	const struct sp__pointcells to = { follow_mapped, follow_cell, &f };
	int rc = sp__predictable(o) ? 0 : -ENODATA;

	*out = (struct sp__runs_prediction){ 0 };
	for (f.volume = 0; !rc && f.volume < s->volumes; f.volume++) {
		f.predictor.cells = 0;
		sp__predictor_begin(&f.predictor.runs, o, s->outside_block,
				    sp__cube_superblock_end(h));
		rc = sp__pointcells_walk(s, h, box, &to);
		sp__predictor_drain(&f.predictor.runs);
		if (!rc)
			rc = sp__pointcells_overflow(s, h, box, &to);
		if (!rc && f.predictor.cells)
			sp__predictor_end(&f.predictor.runs, 1, out);
	}
	return rc;
}

static int predict(const struct sp__cube_plan *plan, const struct sp__predict_opts *o,
		   const struct sp_cube_box *e, struct sp__runs_prediction *p)
{
	const struct sp__cube_superblock *h = &plan->superblock;
	struct sp_cube_box cells = sp__cube_cells(&h->shape, e);
	int rc = plan->points ? predict_points(o, plan->points, h, e, p)
			      : sp__predict_box(o, &h->mapping, &cells, p);

	p->closed_ns = plan->points ? NAN : sp__closed_ns(plan, &cells);
	return rc;
}

int sp__cube_predict(const struct sp__cube_plan *plan, unsigned positions, uint64_t runs,
		     struct sp__runs_prediction *mean)
{
	const struct sp_cube_workload *w = plan->opts->workload;
	const struct sp__cube_superblock *h = &plan->superblock;
	struct sp__predict_opts o = { .geometry = plan->drive.geometry,
				      .depth = w->depth,
				      .fifo = plan->drive.facts.fifo,
				      .window = plan->drive.facts.window,
				      .host_ns = plan->drive.facts.host_ns,
				      .gap_blocks = sp__transfer_gap(h, w->no_coalesce),
				      .request_blocks = SP__TRANSFER_BYTES / h->block_bytes,
				      .runs_max = runs,
				      .cliffs = !runs };
	double weights = 0;
	int rc = 0;

	*mean = (struct sp__runs_prediction){ 0 };
	for (size_t i = 0; i < w->n; i++)
		weights += w->queries[i].weight;
	for (size_t i = 0; !rc && i < w->n; i++) {
		const struct sp_cube_query *q = &w->queries[i];
		unsigned n = sp__cube_query_positions(w, q, positions);

		for (unsigned k = 0; !rc && k < n; k++) {
			struct sp_cube_box e =
				sp__cube_query_box(q, &h->shape, w->seed + i * 1000, k);
			struct sp__runs_prediction p;

			rc = predict(plan, &o, &e, &p);
			if (!rc)
				add(mean, &p, q->weight / weights / n);
		}
	}
	return rc;
}
