/* SPDX-License-Identifier: MIT */
/*
 * Walks the basic cubes of a box, in the order of local numbers, and the cells of each.
 *
 * A run of the naive mapping is a row of cells, or several rows if the box has all of each row.
 */
#include "place/walk.h"

void sp__cubewalk_begin(struct sp__cubewalk *w, const struct sp__mapping *m,
			const struct sp_cube_box *box, unsigned volume)
{
	w->m = m;
	w->volume = volume;
	w->more = true;
	w->inside = false;
	for (unsigned i = 0; i < m->grid.n; i++) {
		w->box.lo[i] = box->lo[m->order[i]];
		w->box.hi[i] = box->hi[m->order[i]];
		w->box.stride[i] = box->stride[m->order[i]];
		w->at[i] = w->box.lo[i] / m->basic.k[i];
	}
}

/* Opens the cube at w->at; false: it has no cell of the box, or is on another volume. */
static bool open_linear(struct sp__cubewalk *w)
{
	const struct sp__mapping *m = w->m;
	unsigned volume;
	uint64_t cube = sp__basicgrid_local(&m->basic, w->at, &volume);

	if (volume != w->volume || !sp__basicgrid_clip(&m->basic, w->at, 0, &w->box, &w->part))
		return false;
	w->block = m->first_block + volume * m->basic.volume_blocks +
		   cube * m->inner.cells * m->cell_blocks;
	for (unsigned i = 0; i < m->grid.n; i++) {
		w->part.lo[i] -= w->at[i] * m->basic.k[i];
		w->part.hi[i] -= w->at[i] * m->basic.k[i];
		w->x[i] = w->part.lo[i];
	}
	w->rank = 0;
	return true;
}

/* Advances w->at in the order of local numbers.  Returns false after the last cube. */
static bool next_at(struct sp__cubewalk *w)
{
	unsigned row = w->m->basic.row;

	for (unsigned i = 0; i < w->m->grid.n; i++) {
		unsigned d = i ? i - (i <= row) : row;

		if (w->at[d]++ < w->box.hi[d] / w->m->basic.k[d])
			return true;
		w->at[d] = w->box.lo[d] / w->m->basic.k[d];
	}
	return false;
}

static bool next_cube(struct sp__cubewalk *w)
{
	const struct sp__mapping *m = w->m;

	while (w->more && !w->inside) {
		w->inside = m->kind == SP_CUBE_MULTIMAP
				    ? sp__cuberow_open(&w->cuberow, &m->multimap, &w->box,
						       w->volume, w->at)
				    : open_linear(w);
		w->more = next_at(w);
	}
	return w->inside;
}

static int naive_runs(struct sp__cubewalk *w, sp__cells_fn fn, void *arg)
{
	const struct sp__grid *g = &w->m->inner;
	const struct sp_cube_box *b = &w->part;
	uint64_t cells = 1;
	unsigned i = 0;
	int rc = 0;

	while (i < g->n && sp__box_count(b, i) == g->size[i])
		cells *= g->size[i++];
	if (i < g->n && b->stride[i] == 1)
		cells *= sp__box_count(b, i++);
	while (!rc && w->inside) {
		uint64_t block = w->block + sp__grid_number(g, w->x) * w->m->cell_blocks;

		w->inside = sp__box_next(b, i, g->n, w->x);
		rc = fn(arg, block, cells);
	}
	return rc;
}

struct ranks {
	const struct sp__cubewalk *w;
	sp__cells_fn fn;
	void *arg;
};

static int give_blocks(void *arg, uint64_t rank, uint64_t cells)
{
	const struct ranks *r = arg;

	return r->fn(r->arg, r->w->block + rank * r->w->m->cell_blocks, cells);
}

static int curve_runs(struct sp__cubewalk *w, sp__cells_fn fn, void *arg)
{
	struct ranks ranks = { w, fn, arg };
	int rc = sp__curve_walk(&w->m->curve, &w->part, &w->rank, give_blocks, &ranks);

	w->inside = rc;
	return rc;
}

int sp__cubewalk_runs(struct sp__cubewalk *w, sp__cells_fn fn, void *arg)
{
	int rc = 0;

	while (!rc && next_cube(w)) {
		if (w->m->kind == SP_CUBE_MULTIMAP) {
			rc = sp__cuberow_walk(&w->cuberow, fn, arg);
			w->inside = !w->cuberow.ended;
		} else {
			rc = w->m->kind == SP_CUBE_NAIVE ? naive_runs(w, fn, arg)
							 : curve_runs(w, fn, arg);
		}
	}
	return rc;
}

uint64_t sp__cubewalk_cells(const struct sp__mapping *m, const struct sp_cube_box *box,
			    unsigned volume)
{
	uint64_t all = 0;
	struct sp__cubewalk w;

	sp__cubewalk_begin(&w, m, box, volume);
	while (next_cube(&w)) {
		const struct sp_cube_box *part =
			m->kind == SP_CUBE_MULTIMAP ? &w.cuberow.box : &w.part;

		all += sp__box_cells(part, m->grid.n);
		w.inside = false;
	}
	return all;
}
