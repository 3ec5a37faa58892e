/* SPDX-License-Identifier: MIT */
/*
 * Plans a dataset of points, which is empty: superblocks, no directory, the cell outside.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/pointcell.h"
#include "cube/choose/plan.h"

#define CELL_BYTES 4096
#define CELL_BYTES_MAX (UINT32_C(1) << 20)

/* Refuses options that do not apply to points. */
static int check_opts(const struct sp__cube_plan *p)
{
	const struct sp_cube_create_opts *o = p->opts;
	bool tiled = false, basic = false;

	for (unsigned i = 0; i < SP_CUBE_DIMS_MAX; i++) {
		tiled |= o->shape.tile[i] != 0;
		basic |= o->basic[i] != 0;
	}
	if (tiled || basic || o->fill)
		return sp__cubeplan_refuse(
			p, SP_ESYNTAX, "tile, basic cube and fill apply to grids, not to points");
	if (o->no_data)
		return sp__cubeplan_refuse(
			p, SP_ESYNTAX,
			"the layout of points depends on the data: points need data");
	if (!(o->fill_factor >= 0.001 && o->fill_factor <= 1))
		return sp__cubeplan_refuse(p, SP_ESYNTAX, "the fill factor is not from 0.001 to 1");
	if (!(o->overflow >= 0 && o->overflow <= 1000))
		return sp__cubeplan_refuse(p, SP_ESYNTAX,
					   "the share of overflow cells is not from 0 to 1000");
	return o->underflow >= 0 && o->underflow <= 1
		       ? 0
		       : sp__cubeplan_refuse(p, SP_ESYNTAX,
					     "the share of points left is not from 0 to 1");
}

/* Takes the cell size of the options, or chooses one that holds a point. */
static int choose_cell(struct sp__cube_plan *p, uint32_t record_bytes)
{
	struct sp__cube_superblock *h = &p->superblock;
	uint64_t min = sizeof(struct sp__pointcell) + record_bytes, bytes = p->opts->cell_bytes;

	if (!bytes)
		bytes = sp__div_up(sp__max(min, CELL_BYTES), h->block_bytes) * h->block_bytes;
	if (bytes % h->block_bytes || bytes > CELL_BYTES_MAX || bytes < min)
		return sp__errf(p->err, SP_ESYNTAX, "create", p->path, -1,
				"the cell size is not a multiple of %u bytes from %llu bytes to "
				"1 MiB",
				h->block_bytes, (unsigned long long)min);
	h->cell_blocks = (uint32_t)(bytes / h->block_bytes);
	return 0;
}

int sp__pointplan_check(struct sp__cube_plan *p)
{
	struct sp__cube_superblock *h = &p->superblock;
	struct sp_cube_shape *s = &h->shape;
	struct sp__zspace z;
	int rc = check_opts(p);

	if (rc)
		return rc;
	for (unsigned i = 0; i < s->ndims; i++)
		s->tile[i] = 1;
	if (sp__zspace_init(&z, s->ndims, s->dims))
		return sp__cubeplan_refuse(p, SP_EUNSUP,
					   "the coordinates have more than 128 bits together");
	if ((p->opts->mapping == SP_CUBE_HILBERT || p->opts->mapping == SP_CUBE_GRAY) &&
	    z.bits > 61)
		return sp__cubeplan_refuse(
			p, SP_EUNSUP,
			"coordinates of more than 61 bits together are too long for this "
			"curve");
	h->points = h->complete = true;
	h->extent_cells = 1;
	h->pointset.fill = (uint32_t)(p->opts->fill_factor * 1000 + 0.5);
	h->pointset.overflow = (uint32_t)(p->opts->overflow * 1000 + 0.5);
	h->pointset.underflow = (uint32_t)(p->opts->underflow * 1000 + 0.5);
	return choose_cell(p, z.bytes + s->element_bytes);
}

/* Sets the mapping; MultiMap, if it is allowed but not required, only if tracks are known. */
static int set_mapping(struct sp__cube_plan *p)
{
	struct sp__mapping *m = &p->superblock.mapping;
	int rc;

	m->kind = p->mapping;
	m->cell_blocks = p->superblock.cell_blocks;
	if (m->kind != SP_CUBE_MULTIMAP)
		return 0;
	rc = sp__cubeplan_zones(p, 0);
	if (rc != SP_EUNSUP || !p->fallback)
		return rc;
	m->kind = SP_CUBE_NAIVE;
	return 0;
}

int sp__pointplan_lay_out(struct sp__cube_plan *p)
{
	struct sp__cube_superblock *h = &p->superblock;
	uint64_t unit = sp__max(CELL_BYTES / h->block_bytes, 1u);
	size_t bytes;
	uint8_t *data;
	int rc = set_mapping(p);

	if (rc)
		return rc;
	data = sp__cube_superblock_encode(h, &bytes);
	free(data);
	if (!data)
		return sp__err(p->err, -ENOMEM, "create", p->path, -1);
	if (!sp__superblocks_set_size(&h->slots, bytes))
		return sp__cubeplan_refuse(p, SP_ESYNTAX, "the attributes are more than 64 MiB");
	h->pointset.directory_block =
		sp__div_up(2 * (uint64_t)h->slots.slot_bytes / h->block_bytes, unit) * unit;
	h->pointset.outside_block = h->pointset.directory_block;
	h->pointset.leaf_block = h->pointset.overflow_block =
		sp__div_up(h->pointset.outside_block + h->cell_blocks, unit) * unit;
	h->pointset.regions_sum = h->pointset.leaves_sum = sp__checksum("", 0);
	return 0;
}
