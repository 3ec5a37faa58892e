/* SPDX-License-Identifier: MIT */
/*
 * Predicts queries on points from the directory: the cells of a query are followed in the order in
 * which it reads them (points/cells.h).
 */
#include "cube/choose/predictor.h"
#include "cube/mapping/walk.h"
#include "cube/points/cells.h"

/* The cells on one volume. */
struct follower {
	struct sp__predictor predictor;
	unsigned volume;
};

static int follow_mapped(void *arg, const struct sp__mapping *m, const struct sp_cube_box *cells)
{
	struct follower *f = arg;
	struct sp__cubewalk walk;

	sp__cubewalk_begin(&walk, m, cells, f->volume);
	(void)sp__cubewalk_runs(&walk, sp__predictor_run, &f->predictor);
	return 0;
}

static int follow_cell(void *arg, uint64_t block)
{
	struct follower *f = arg;
	uint64_t local = block;

	if (sp__basicgrid_volume(f->predictor.basic, &local) == f->volume)
		(void)sp__predictor_run(&f->predictor, block, 1);
	return 0;
}

int sp__predict_points(const struct sp__predict_opts *o, const struct sp__pointset *s,
		       const struct sp__cube_superblock *h, const struct sp_cube_box *box,
		       struct sp__cube_prediction *out)
{
	struct follower f;
	const struct sp__pointcells to = { follow_mapped, follow_cell, &f };
	int rc = sp__predictable(o) ? 0 : -ENODATA;

	*out = (struct sp__cube_prediction){ 0 };
	for (f.volume = 0; !rc && f.volume < s->volumes; f.volume++) {
		sp__predictor_begin(&f.predictor, o, s->cell_blocks, &h->mapping.basic,
				    s->outside_block, sp__cube_superblock_end(h));
		rc = sp__pointcells_walk(s, h, box, &to);
		sp__predictor_drain(&f.predictor);
		if (!rc)
			rc = sp__pointcells_overflow(s, h, box, &to);
		if (!rc && f.predictor.cells)
			sp__predictor_end(&f.predictor, 1, out);
	}
	return rc;
}
