/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <spindle/error.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/points/points.h"

void sp__points_info(const struct sp_cube *c, struct sp_cube_info *info)
{
	const struct sp__cube_pointset *p = &c->superblock.pointset;

	info->points = true;
	info->first_block = p->outside_block;
	info->npoints = p->count;
	info->capacity = c->set.capacity;
	info->filled_cells = p->cells;
	info->overflow_cells = p->overflow_cells;
	info->fill_factor = p->fill / 1000.0;
	info->overflow = p->overflow / 1000.0;
	info->needs_repack =
		(p->overflow_cells - p->full) * 1000 > sp__max(p->cells, 1) * p->overflow;
	info->nregions = c->set.nregions;
	info->nleaves = c->set.nleaves;
}

void sp_cube_region(const struct sp_cube *c, size_t i, struct sp_cube_region *region)
{
	const struct sp__pointregion *r = c->set.regions[i];

	*region = (struct sp_cube_region){ .level = (unsigned)r->level,
					   .points = r->points,
					   .first_block = sp__mapping_begin(&r->mapping),
					   .end_block = sp__mapping_end(&r->mapping) };
	for (unsigned d = 0; d < c->set.space.n; d++) {
		region->lo[d] = r->origin[d] << r->shift[d];
		region->cell[d] = UINT64_C(1) << r->shift[d];
		region->cells[d] = r->size[d];
		region->basic[d] = r->basic[d];
	}
}

int sp_cube_node(const struct sp_cube *c, uint64_t block, struct sp_cube_box *box)
{
	if (!c->superblock.points || !sp__pointset_node(&c->set, block, box))
		return -ENOENT;
	/* The space is rounded up to powers of two. */
	for (unsigned i = 0; i < c->superblock.shape.ndims; i++)
		box->hi[i] = sp__min(box->hi[i], c->superblock.shape.dims[i] - 1);
	return 0;
}

int sp_cube_reorganise(struct sp_cube *cube, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	*stats = (struct sp_cube_stats){ 0 };
	if (!cube->superblock.points)
		return sp__errf(err, SP_EUNSUP, "reorganise", cube->path, -1,
				"a grid stays as it was created: only points are reorganised");
	return sp__points_load(cube, NULL, NULL, stats, err);
}
