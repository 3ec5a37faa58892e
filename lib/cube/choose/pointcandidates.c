/* SPDX-License-Identifier: MIT */
/*
 * Compares all mappings of a dataset of points for a workload.
 *
 * Algorithm.  Each mapping is planned as a load plans it, by the tree of a sample, and its queries
 * are followed through the cells of this plan.  The dataset as it is has a directory of its own.
 */
#include <string.h>
#include "base/err.h"
#include "cube/choose/choose.h"
#include "cube/points/sample.h"
#include "run/volume_spec.h"

/* Returns the options that the dataset was created with, with a mapping, for these queries. */
static struct sp_cube_create_opts options(const struct sp__points *c,
					  const struct sp_cube_create_opts *opts,
					  enum sp_cube_mapping mapping)
{
	const struct sp__cube_superblock *h = &c->file->superblock;
	struct sp_cube_create_opts o = *opts;

	o.points = true;
	o.shape = h->shape;
	memset(o.shape.tile, 0, sizeof(o.shape.tile)); /* of a grid */
	o.mapping = mapping;
	o.ordered = true;
	for (unsigned i = 0; i < h->shape.ndims; i++)
		o.order[i] = h->mapping.order[i];
	o.cell_bytes = (uint32_t)c->file->cell_bytes;
	o.fill_factor = h->pointset.fill / 1000.0;
	o.overflow = h->pointset.overflow / 1000.0;
	o.underflow = h->pointset.underflow / 1000.0;
	o.volumes = h->mapping.basic.volumes;
	o.decluster = h->mapping.basic.method;
	return o;
}

/* Examines a mapping by the tree of the sample. */
static int examine(struct sp_cube_candidate *c, const struct sp_cube_create_opts *o,
		   struct sp__pointsource *sample, bool run, struct sp_errinfo *err)
{
	struct sp__cube_plan plan;
	struct sp__pointset set = { 0 };
	int rc = sp__candidate_plan(c, &plan, o, err);

	if (!rc && !c->code) {
		struct sp__cube_superblock *h = &plan.superblock;

		rc = sp__pointtree_plan(&set, h, sample, sp__cube_superblock_front(h));
		plan.points = &set;
		if (rc)
			rc = sp__err(err, rc, "plan", "the dataset", -1);
		else
			rc = sp__candidate_predict(c, &plan);
		if (!rc && run)
			rc = sp__cube_measure(&plan, 0, &c->measured_s, err);
		sp__pointset_free(&set);
	}
	sp__cube_plan_free(&plan);
	return rc;
}

/* Examines the dataset as it is.  The plan of another mapping tells what is known of the drive. */
static int examine_stored(struct sp_cube_candidate *c, struct sp__points *points,
			  const struct sp_cube_create_opts *o, bool run, struct sp_errinfo *err)
{
	struct sp__cube_superblock planned;
	struct sp__cube_plan plan;
	int rc = sp__candidate_plan(c, &plan, o, err);

	planned = plan.superblock;
	c->mapping = points->file->superblock.mapping.kind;
	if (!rc) {
		plan.superblock = points->file->superblock;
		plan.points = &points->set;
		rc = sp__candidate_predict(c, &plan);
		if (!rc && run)
			rc = sp__cube_measure_open(&plan, points->file, points, 0, &c->measured_s,
						   err);
	}
	plan.superblock = planned;
	sp__cube_plan_free(&plan);
	return rc;
}

int sp__points_compare(struct sp__points *c, const char *input,
		       const struct sp_cube_load_opts *load, const struct sp_cube_create_opts *opts,
		       bool run, struct sp_cube_candidate *candidates, double *sampled,
		       struct sp_errinfo *err)
{
	const enum sp_cube_mapping stored = c->file->superblock.mapping.kind;
	struct sp_cube_candidate *last = &candidates[SP_CUBE_CANDIDATES - 1];
	struct sp__pointsample sample;
	struct sp_cube_create_opts o;
	int rc;

	if (run && !sp__volume_spec_simulated(&opts->run))
		return sp__errf(err, SP_EUNSUP, "plan", c->file->path, -1,
				"measuring mappings needs a simulated volume");
	rc = sp__pointsample_take(&sample, c, input, load, err);
	for (unsigned i = 0; !rc && i < SP_CUBE_CANDIDATES - 1; i++) {
		o = options(c, opts, (enum sp_cube_mapping)(SP_CUBE_MULTIMAP + i));
		rc = examine(&candidates[i], &o, &sample.source, run, err);
	}
	if (!rc) {
		o = options(c, opts, input ? stored : SP_CUBE_NAIVE);
		rc = input ? examine(last, &o, &sample.source, run, err)
			   : examine_stored(last, c, &o, run, err);
		*sampled = sample.source.share;
	}
	sp__pointsample_free(&sample);
	return rc;
}
