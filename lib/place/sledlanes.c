/* SPDX-License-Identifier: MIT */
/*
 * Places lanes at the locations of the sled of MEMS storage.
 *
 * At a location each group of tips has one block, and any `active` groups read in one pass
 * (dev/mems.h).  All cells of a page lie at one location, so no lane is passed over in vain: k
 * lanes of all pages are read in ceil(k * location pages / active) passes, and cells of one page in
 * as few as its lanes need.
 *
 * The cells of a lane at a location are next to each other: that of page i of the location in lane
 * l is of group l * location pages + i.  Their block numbers are consecutive, unless two sweeps
 * have them.
 * Consecutive locations are the rows of a cylinder, backwards in every other cylinder: a scan goes
 * on where the last sweep ends.  A part is whole cylinders.
 *
 * A cell is consecutive blocks of one pass, so the device counts as one whose blocks are cells.
 *
 * Source: Shao 2008, section 4.4 (MEMStore).
 */
#include "base/err.h"
#include "base/minmax.h"
#include "place/grid.h"
#include "place/lanemap_impl.h"
#include "predict/drive.h"

#define ACTIVE_MAX 65536
#define ROWS_MAX 65536
#define SWEEPS_MAX 4096

static uint32_t location_cells(const struct sp__lanemap *m)
{
	return m->sled.sweeps * m->sled.active;
}

static uint32_t location_pages(const struct sp__lanemap *m)
{
	return location_cells(m) / m->lanes;
}

static uint64_t cylinder_cells(const struct sp__lanemap *m)
{
	return (uint64_t)location_cells(m) * m->sled.rows;
}

static uint64_t cylinder_pages(const struct sp__lanemap *m)
{
	return (uint64_t)location_pages(m) * m->sled.rows;
}

/* Returns the row that is location i of a cylinder, and the location of a row. */
static uint32_t row_of(const struct sp__lanemap *m, uint32_t cyl, uint32_t i)
{
	return cyl % 2 ? m->sled.rows - 1 - i : i;
}

static int place(const struct sp__lanemap *m, struct sp__lanepart *p)
{
	const uint64_t first = sp__div_up(p->first_cell, cylinder_cells(m)),
		       max = m->sled.cylinders;
	uint64_t cylinders = sp__div_up(p->pages, cylinder_pages(m));

	if (first >= max)
		return -ENOSPC;
	cylinders = sp__min(cylinders, max - first);
	p->unit_pages = cylinder_pages(m);
	p->pages = cylinders * cylinder_pages(m);
	p->first_cell = first * cylinder_cells(m);
	p->cells = cylinders * cylinder_cells(m);
	return 0;
}

static uint64_t run(const struct sp__lanemap *m, const struct sp__lanepart *p, uint64_t page,
		    uint32_t lane, uint64_t *cell)
{
	const uint32_t pages = location_pages(m), i = (uint32_t)(page % pages);
	const uint64_t location = page / pages;
	struct sp__mems_block at = {
		.cyl = (uint32_t)(p->first_cell / cylinder_cells(m) + location / m->sled.rows),
		.group = lane * pages + i,
	};

	at.row = row_of(m, at.cyl, (uint32_t)(location % m->sled.rows));

	*cell = sp__mems_lbn(&m->sled, at);
	return sp__min(pages - i, m->sled.active - at.group % m->sled.active);
}

static bool find(const struct sp__lanemap *m, const struct sp__lanepart *p, uint64_t cell,
		 uint64_t *page, uint32_t *lane)
{
	const struct sp__mems_block at = sp__mems_locate(&m->sled, cell);
	const uint32_t pages = location_pages(m);

	if (cell < p->first_cell || cell - p->first_cell >= p->cells ||
	    at.group >= m->lanes * pages)
		return false;
	*lane = at.group / pages;
	*page = (at.cyl - p->first_cell / cylinder_cells(m)) * cylinder_pages(m) +
		(uint64_t)row_of(m, at.cyl, at.row) * pages + at.group % pages;
	return true;
}

static void describe(const struct sp__lanemap *m, struct sp__lanemap_info *info)
{
	info->stripe_pages = cylinder_pages(m);
	info->one_stripe = true;
	info->align_bytes = m->block_bytes;
	info->location_pages = location_pages(m);
}

static void code(struct sp__coder *c, struct sp__lanemap *m)
{
	struct sp__mems *k = &m->sled;
	uint64_t cylinders;

	sp__code_max(c, &k->active, ACTIVE_MAX);
	sp__code_max(c, &k->rows, ROWS_MAX);
	sp__code_max(c, &k->sweeps, SWEEPS_MAX);
	if (c->failed)
		return;
	cylinders = cylinder_cells(m) ? m->volume_cells / cylinder_cells(m) : 0;
	c->failed |= m->volumes != 1 || m->lanes > location_cells(m) ||
		     cylinders != (uint32_t)cylinders ||
		     cylinders * cylinder_cells(m) != m->volume_cells;
	k->cylinders = (uint32_t)cylinders;
}

/* Checks the options against the device, and sets sizes. */
static int set_sizes(struct sp__lanemap *m, const struct sp__lanemap_opts *o,
		     const struct sp__model *model, struct sp_errinfo *err)
{
	const struct sp__mems *k = model ? sp__model_mems(model) : NULL;
	int rc;

	if (!k)
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"mems places cells on a sled, and the volume is not MEMS storage: "
				"name such a simulated volume, as sim:mems-thesis, or choose "
				"placement contiguous");
	rc = sp__lanemap_set_sizes(m, o, model->blocks, model->block_bytes, err);
	if (rc)
		return rc;
	if (k->active % m->cell_blocks)
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"the sled reads %u blocks in a pass, not a multiple of a cell of "
				"%u: choose smaller cells",
				k->active, m->cell_blocks);
	m->sled = *k;
	m->sled.active /= m->cell_blocks;
	if (m->lanes > location_cells(m))
		return sp__errf(err, SP_EUNSUP, "create", o->path, -1,
				"a location of the sled has %u cells, an A-page %u: choose fewer "
				"records per page",
				location_cells(m), m->lanes);
	return 0;
}

static int plan(struct sp__lanemap *m, const struct sp__lanemap_opts *o, struct sp_errinfo *err)
{
	struct sp__volume_drive d;
	int rc = sp__volume_drive_find(&d, o->run, o->volumes, o->path, err);

	if (!rc)
		rc = set_sizes(m, o, d.model, err);
	sp__volume_drive_free(&d);
	return rc;
}

const struct sp__lanemap_kind sp__lanes_on_sled = {
	.placement = SP_PLACE_MEMS,
	.plan = plan,
	.code = code,
	.describe = describe,
	.place = place,
	.run = run,
	.find = find,
};
