/* SPDX-License-Identifier: MIT */
/*
 * Compares all mappings of a dataset of points for a workload.
 *
 * Algorithm.  Each mapping is planned as a load plans it, by the tree of a sample, and its queries
 * are followed through the cells of this plan.  The dataset as it is has a directory of its own.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "base/whole.h"
#include "cube/choose/choose.h"
#include "cube/points/input.h"
#include "cube/points/points.h"
#include "cube/points/tree.h"
#include "run/volume_spec.h"

/*
 * Takes a sample of points without knowing their number: the n-th point replaces a random one of
 * the sample with probability capacity / n, so all points have the same chance (reservoir
 * sampling).
 *
 * A cell of the sample has fewer points than a cell of the dataset, in the ratio of both numbers.
 * If it has fewer than CELL_POINTS_MIN, chance decides about leaves, so the sample is refused.
 *
 * Memory: keys only, at most -S / 2; then they are in a temporary file, as a load has them.
 */

struct sp__pointsample {
	struct sp__pointsource source; /* keys of the points, sorted */
	struct sp__volume *temporary;
};

#define CELL_POINTS_MIN 8

struct sampling {
	const struct sp__zspace *space;
	uint8_t *keys;
	uint64_t n, capacity, total;
	struct sp__rng rng;
};

/* Returns the location of the next key; NULL: it is not in the sample. */
static uint8_t *next_key(struct sampling *s)
{
	uint64_t at = s->n;

	s->total++;
	if (s->n < s->capacity)
		s->n++;
	else
		at = sp__rng_below(&s->rng, s->total);
	return at < s->capacity ? s->keys + at * s->space->bytes : NULL;
}

static int take_present(void *arg, sp__zkey key, const uint8_t *record)
{
	struct sampling *s = arg;
	uint8_t *to = next_key(s);

	(void)key;
	if (to)
		memcpy(to, record, s->space->bytes);
	return 0;
}

static int take_new(void *arg, const uint64_t *x, const uint8_t *value)
{
	struct sampling *s = arg;
	uint8_t *to = next_key(s);

	(void)value;
	if (to)
		sp__zkey_store(s->space, sp__zkey_of(s->space, x), to);
	return 0;
}

static int by_key(const void *a, const void *b, void *bytes)
{
	return memcmp(a, b, *(const unsigned *)bytes);
}

/* Sorts the keys into the temporary file. */
static int store(struct sp__pointsample *s, struct sampling *keys, struct sp__points *c,
		 struct sp_errinfo *err)
{
	const struct sp_run_opts *o = &c->file->opts.run;
	unsigned bytes = keys->space->bytes;
	int rc = sp__volume_temp(&s->temporary, o->ntmpdirs ? o->tmpdirs[0] : "/tmp",
				 SP__DIRECT_NEVER, err);

	if (rc)
		return rc;
	qsort_r(keys->keys, keys->n, bytes, by_key, &bytes);
	s->source = (struct sp__pointsource){ .fd = s->temporary->fd,
					      .name = s->temporary->name,
					      .record_bytes = bytes,
					      .n = keys->n,
					      .share = (double)keys->n / (double)keys->total,
					      .bytes = sp__cube_slab_bytes(c->file),
					      .err = err };
	rc = sp__write_whole(s->source.fd, keys->keys, keys->n * bytes, 0);
	return rc ? sp__err(err, rc, "write", s->source.name, -1) : 0;
}

static int check(const struct sampling *s, const struct sp__points *c, struct sp_errinfo *err)
{
	double filled = c->set.capacity * (c->file->superblock.pointset.fill / 1000.0);

	if (!s->total)
		return sp__errf(err, -ENOENT, "predict", c->file->path, -1,
				"it has no points: name an input with the points to load");
	if (s->n == s->total || filled * (double)s->n >= CELL_POINTS_MIN * (double)s->total)
		return 0;
	return sp__errf(err, SP_EBUDGET, "predict", c->file->path, -1,
			"the memory holds a sample of %" PRIu64 " of %" PRIu64
			" points, which are fewer than %d per cell: use more memory",
			s->n, s->total, CELL_POINTS_MIN);
}

/*
 * Samples the points of a dataset and those of an input: as many as half of the memory holds, so
 * small datasets are sampled completely.  input: NULL: none.
 * Returns 0; SP_EBUDGET if the sample has too few points per cell; -ENOENT if there are no points;
 * errors of reading.  After an error, too, it must be freed.
 */
static int pointsample_take(struct sp__pointsample *s, struct sp__points *c, const char *input,
			    const struct sp_cube_load_opts *opts, struct sp_errinfo *err)
{
	struct sampling keys = { .space = &c->set.space,
				 .capacity = sp__cube_slab_bytes(c->file) / c->set.space.bytes };
	struct sp__pointinput in = { c, input, opts, take_new, &keys, err, 0, 0, 0 };
	uint64_t bytes = keys.capacity * c->set.space.bytes;
	struct sp_cube_stats stats = { 0 };
	struct sp_cube_box all;
	int rc = sp__pointinput_check(&in);

	*s = (struct sp__pointsample){ 0 };
	if (rc)
		return rc;
	keys.keys = malloc(bytes);
	if (!keys.keys)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	sp__budget_charge(&c->file->env.budget, bytes);
	sp__znode_box(&c->set.space, 0, 0, &all);
	if (c->file->superblock.pointset.count)
		rc = sp__points_each(c, &all, take_present, &keys, &stats, err);
	if (!rc)
		rc = sp__pointinput_read(&in);
	if (!rc)
		rc = check(&keys, c, err);
	if (!rc)
		rc = store(s, &keys, c, err);
	free(keys.keys);
	sp__budget_credit(&c->file->env.budget, bytes);
	return rc;
}

static void pointsample_free(struct sp__pointsample *s)
{
	sp__volume_close(s->temporary);
}

/* Returns the options that the dataset was created with, with a mapping, for these queries. */
static struct sp_cube_create_opts options(const struct sp__points *c,
					  const struct sp_cube_create_opts *opts,
					  enum sp_cube_mapping mapping)
{
	const struct sp__cube_superblock *h = &c->file->superblock;
	struct sp_cube_create_opts o = *opts;

	o.points = true;
	o.shape = h->shape;
	memset(o.shape.tile, 0, sizeof(o.shape.tile)); /* the tile is for grids only */
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
	rc = pointsample_take(&sample, c, input, load, err);
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
	pointsample_free(&sample);
	return rc;
}
