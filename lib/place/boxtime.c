/* SPDX-License-Identifier: MIT */
/*
 * Predicts queries on grids by following the head over the tracks.
 *
 * Algorithm.  The walk of a mapping gives the runs of a query in the order in which they are
 * issued; predict/runs.h follows them.
 */
#include "base/minmax.h"
#include "place/boxtime.h"
#include "place/walk.h"

int sp__predict_cells(void *cellpredictor, uint64_t first, uint64_t cells)
{
	struct sp__cellpredictor *p = cellpredictor;

	(void)sp__basicgrid_volume(p->basic, &first);
	p->cells += cells;
	return sp__predictor_run(&p->runs, first, cells * p->cell_blocks);
}

/*
 * Makes a box with fewer rows and the same mean time per row.  Rows of MultiMap take different
 * times in different cubes, so the box keeps all cubes and has fewer coordinates along the outer
 * dimensions.  Dimension 1 stays, because its rows follow each other by hops.
 */
static void thin(const struct sp__mapping *m, struct sp_cube_box *box, uint64_t rows_max)
{
	uint64_t rows = sp__box_cells(box, m->grid.n) / sp__box_count(box, m->order[0]);

	if (!rows_max || m->kind != SP_CUBE_MULTIMAP)
		return;
	for (unsigned i = m->grid.n; i-- > 2 && rows > rows_max;) {
		unsigned d = m->order[i];
		uint64_t count = sp__box_count(box, d);

		box->stride[d] *= sp__min(count, sp__div_up(rows, rows_max));
		rows = rows / count * sp__box_count(box, d);
	}
}

/* Predicts the part of the query on one volume. */
static void predict_volume(const struct sp__predict_opts *o, const struct sp__mapping *m,
			   const struct sp_cube_box *box, unsigned volume,
			   struct sp__runs_prediction *out)
{
	uint64_t first =
		m->kind == SP_CUBE_MULTIMAP ? m->multimap.zones[0].first_block : m->first_block;
	struct sp_cube_box part = *box;
	struct sp__cellpredictor p;
	struct sp__cubewalk walk;

	p.basic = &m->basic;
	p.cell_blocks = m->cell_blocks;
	p.cells = 0;
	sp__predictor_begin(&p.runs, o, first, sp__mapping_end(m));
	thin(m, &part, o->runs_max);
	sp__cubewalk_begin(&walk, m, &part, volume);
	(void)sp__cubewalk_runs(&walk, sp__predict_cells, &p);
	if (p.cells)
		sp__predictor_end(
			&p.runs, (double)sp__cubewalk_cells(m, box, volume) / (double)p.cells, out);
}

int sp__predict_box(const struct sp__predict_opts *o, const struct sp__mapping *m,
		    const struct sp_cube_box *box, struct sp__runs_prediction *out)
{
	if (!sp__predictable(o))
		return -ENODATA;
	*out = (struct sp__runs_prediction){ 0 };
	for (unsigned v = 0; v < m->basic.volumes; v++)
		predict_volume(o, m, box, v, out);
	return 0;
}
