/* SPDX-License-Identifier: MIT */
/*
 * Walks the cells that a box meets in ascending order: the cell outside, the cells of each region
 * as its mapping walks them, leaves by a bitmap of their numbers.
 */
#include <math.h>
#include <stdlib.h>
#include "base/rng.h"
#include "cube/points/cells.h"

struct wanted {
	const struct sp__pointset *set;
	uint8_t *leaves; /* a bit per number of a leaf */
};

static int want_leaf(void *arg, size_t i)
{
	struct wanted *w = arg;
	uint32_t position = w->set->leaves[i].number;

	w->leaves[position / 8] |= (uint8_t)(1 << position % 8);
	return 0;
}

static int walk_regions(const struct sp__pointset *s, const struct sp_cube_box *box,
			const struct sp__pointcells *to)
{
	struct sp_cube_box cells;
	int rc = 0;

	for (size_t i = 0; !rc && i < s->nregions; i++)
		if (sp__region_clip(&s->space, s->regions[i], box, &cells))
			rc = to->mapped(to->arg, &s->regions[i]->mapping, &cells);
	return rc;
}

size_t sp__pointcells_bytes(const struct sp__pointset *s)
{
	return s->nleaves / 8 + 1;
}

static int walk_leaves(const struct sp__pointset *s, const struct sp_cube_box *box,
		       const struct sp__pointcells *to)
{
	struct wanted w = { s, calloc(sp__pointcells_bytes(s), 1) };
	int rc = w.leaves ? sp__leaves_walk(s, box, want_leaf, &w) : -ENOMEM;

	for (size_t position = 0; !rc && position < s->nleaves; position++) {
		if (!w.leaves[position / 8])
			position |= 7;
		else if (w.leaves[position / 8] >> position % 8 & 1)
			rc = to->cell(to->arg, sp__pointset_block(s, s->leaf_block, position));
	}
	free(w.leaves);
	return rc;
}

int sp__pointcells_walk(const struct sp__pointset *s, const struct sp__cube_superblock *h,
			const struct sp_cube_box *box, const struct sp__pointcells *to)
{
	int rc = 0;

	if (h->pointset.outside)
		rc = to->cell(to->arg, h->pointset.outside_block);
	if (!rc)
		rc = walk_regions(s, box, to);
	return rc ? rc : walk_leaves(s, box, to);
}

/* Cells of a box, and all cells. */
struct counted {
	uint64_t some, all;
};

static int count_mapped(void *arg, const struct sp__mapping *m, const struct sp_cube_box *cells)
{
	struct counted *n = arg;

	n->some += sp__box_cells(cells, m->grid.n);
	return 0;
}

static int count_cell(void *arg, uint64_t block)
{
	struct counted *n = arg;

	(void)block;
	n->some++;
	return 0;
}

int sp__pointcells_overflow(const struct sp__pointset *s, const struct sp__cube_superblock *h,
			    const struct sp_cube_box *box, const struct sp__pointcells *to)
{
	uint64_t of = h->pointset.overflow_cells, n;
	struct counted cells = { .all = s->nleaves + 1 };
	struct sp__rng rng = { 0 };
	int rc;

	if (!of)
		return 0;
	for (size_t i = 0; i < s->nregions; i++)
		cells.all += s->regions[i]->mapping.grid.cells;
	rc = sp__pointcells_walk(s, h, box,
				 &(struct sp__pointcells){ count_mapped, count_cell, &cells });
	for (unsigned i = 0; i < s->space.n; i++)
		rng.state = sp__mix64(rng.state ^ box->lo[i]);
	/* The fraction decides by chance, so the mean over many boxes is right. */
	n = (uint64_t)floor((double)of * (double)cells.some / (double)cells.all +
			    sp__rng_real(&rng));
	for (uint64_t i = 0; !rc && i < n; i++) {
		double at = ((double)i + sp__rng_real(&rng)) / (double)n;

		rc = to->cell(to->arg, sp__pointset_block(s, h->pointset.overflow_block,
							  (uint64_t)(at * (double)of)));
	}
	return rc;
}
