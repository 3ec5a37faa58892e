/* SPDX-License-Identifier: MIT */
/*
 * Opens, closes and describes cubes, and finds their elements.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/state.h"

int sp_cube_open(struct sp_cube **out, const char *path, const struct sp_cube_opts *opts,
		 struct sp_errinfo *err)
{
	struct sp_cube *c = calloc(1, sizeof(*c));
	int rc;

	if (!c)
		return sp__err(err, -ENOMEM, "open", path, -1);
	c->points.file = &c->file;
	rc = sp__cubefile_open(&c->file, path, opts, err);
	if (!rc && c->file.superblock.points)
		rc = sp__directory_read(&c->points, err);
	if (!rc)
		sp__cube_end_reading(&c->file);
	/* What was read of a state that is being written is no reason. */
	if (rc && c->file.cells.busy)
		rc = sp__errf(err, SP_ESTATE, "open", path, -1, "another program is changing it");
	if (rc)
		(void)sp_cube_close(c);
	else
		*out = c;
	return rc;
}

int sp_cube_close(struct sp_cube *c)
{
	int rc;

	if (!c)
		return 0;
	sp__directory_free(&c->points);
	rc = sp__cubefile_close(&c->file);
	free(c);
	return rc;
}

/* Copies the sizes of basic cubes if there are several, or they matter. */
static void copy_basic(const struct sp__mapping *m, uint64_t *basic)
{
	for (unsigned i = 0; i < m->grid.n; i++)
		basic[i] = m->kind == SP_CUBE_MULTIMAP || m->basic.ncubes > 1 ? m->basic.k[i] : 0;
}

/* Sets the members of info that describe a grid. */
static void grid_info(const struct sp_cube *c, struct sp_cube_info *info)
{
	const struct sp__cube_superblock *h = &c->file.superblock;
	const struct sp__mapping *m = &h->fragments.list[0]->mapping;

	info->all_cells = 1;
	info->first_block = sp__fragments_begin(&h->fragments);
	sp__cube_superblock_cells(h, info->cells);
	copy_basic(m, info->basic);
	for (unsigned i = 0; i < h->shape.ndims; i++)
		info->all_cells *= info->cells[i];
	info->waste_bytes = (info->end_block - info->first_block) * info->volumes * h->block_bytes -
			    info->all_cells * c->file.cell_bytes;
}

void sp_cube_info(const struct sp_cube *c, struct sp_cube_info *info)
{
	const struct sp__cube_superblock *h = &c->file.superblock;
	const struct sp__mapping *m = &h->mapping;
	bool multimap = m->kind == SP_CUBE_MULTIMAP;

	*info = (struct sp_cube_info){
		.shape = h->shape,
		.mapping = m->kind,
		.block_bytes = h->block_bytes,
		.cell_blocks = h->cell_blocks,
		.reach = multimap ? m->multimap.reach : 0,
		.fragments = h->fragments.n,
		.zones = multimap ? h->mapping.multimap.nzones : 0,
		.volumes = h->mapping.basic.volumes,
		.decluster = m->basic.method,
		.volume_blocks = m->basic.volume_blocks,
		.end_block = sp__cube_superblock_end(h),
		.loaded = h->loaded,
		.complete = h->complete,
		.busy = c->file.cells.busy,
		.unfinished = c->file.cells.busy ? NULL : sp__cube_unfinished(h),
		.alone = h->slots.alone,
		.no_data = h->no_data,
		.volume_names = h->volumes[1] ? (const char *const *)h->volumes + 1 : NULL,
		.volume = c->file.cells.drive,
		.device = h->device,
		.fill = h->fill,
		.attributes = h->attributes,
		.nattributes = h->nattributes,
	};
	memcpy(info->order, m->order, sizeof(info->order));
	if (h->points)
		sp__points_info(&c->points, info);
	else
		grid_info(c, info);
}

int sp_cube_fragment(const struct sp_cube *c, size_t i, struct sp_cube_fragment *fragment)
{
	const struct sp__fragment *p = c->file.superblock.fragments.list[i];
	const struct sp_cube_shape *s = &c->file.superblock.shape;

	*fragment = (struct sp_cube_fragment){ .first_block = sp__mapping_begin(&p->mapping),
					       .end_block = sp__fragment_end(p) };
	copy_basic(&p->mapping, fragment->basic);
	for (unsigned d = 0; d < s->ndims; d++) {
		uint64_t lo = d == p->dim ? p->first : 0;

		if (!p->size[d])
			return -ENOENT;
		fragment->lo[d] = lo * s->tile[d];
		fragment->hi[d] = sp__min((lo + p->size[d]) * s->tile[d], s->dims[d]) - 1;
	}
	return 0;
}

static int check_element(const struct sp_cube *c, const uint64_t *x)
{
	for (unsigned i = 0; i < c->file.superblock.shape.ndims; i++)
		if (x[i] >= c->file.superblock.shape.dims[i])
			return -ERANGE;
	return 0;
}

int sp_cube_block(const struct sp_cube *c, const uint64_t *x, uint64_t *block)
{
	uint64_t cell[SP_CUBE_DIMS_MAX];
	int rc = check_element(c, x);

	if (!rc && c->file.superblock.points) {
		struct sp__home home =
			sp__pointset_home(&c->points.set, sp__zkey_of(&c->points.set.space, x), x);

		*block = home.block;
		return home.outside && !c->file.superblock.pointset.outside ? -ENOENT : 0;
	}
	for (unsigned i = 0; i < c->file.superblock.shape.ndims; i++)
		cell[i] = x[i] / c->file.superblock.shape.tile[i];
	if (!rc)
		*block = sp__fragments_block(&c->file.superblock.fragments, cell);
	return rc;
}

int sp_cube_element(const struct sp_cube *c, uint64_t block, uint64_t *x)
{
	struct sp_cube_box node;

	if (c->file.superblock.points) {
		if (sp_cube_node(c, block, &node))
			return -ENOENT;
		memcpy(x, node.lo, c->file.superblock.shape.ndims * sizeof(*x));
		return 0;
	}
	if (!sp__fragments_cell(&c->file.superblock.fragments, block, x))
		return -ENOENT;
	for (unsigned i = 0; i < c->file.superblock.shape.ndims; i++)
		x[i] *= c->file.superblock.shape.tile[i];
	return 0;
}

void sp_cube_region(const struct sp_cube *c, size_t i, struct sp_cube_region *region)
{
	const struct sp__pointregion *r = c->points.set.regions[i];

	*region = (struct sp_cube_region){ .level = (unsigned)r->level,
					   .points = r->points,
					   .first_block = sp__mapping_begin(&r->mapping),
					   .end_block = sp__mapping_end(&r->mapping) };
	for (unsigned d = 0; d < c->points.set.space.n; d++) {
		region->lo[d] = r->origin[d] << r->shift[d];
		region->cell[d] = UINT64_C(1) << r->shift[d];
		region->cells[d] = r->size[d];
		region->basic[d] = r->mapping.basic.k[d];
	}
}

int sp_cube_node(const struct sp_cube *c, uint64_t block, struct sp_cube_box *box)
{
	if (!c->file.superblock.points || !sp__pointset_node(&c->points.set, block, box))
		return -ENOENT;
	/* The space is rounded up to powers of two. */
	for (unsigned i = 0; i < c->file.superblock.shape.ndims; i++)
		box->hi[i] = sp__min(box->hi[i], c->file.superblock.shape.dims[i] - 1);
	return 0;
}
