/* SPDX-License-Identifier: MIT */
/*
 * Chooses the kind of a placement of lanes, keeps its parts, and finds cells in them.
 *
 * The place of a page does not depend on how many follow, so a part can be made shorter.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/err.h"
#include "base/minmax.h"
#include "place/lanemap_impl.h"
#include "place/mapping.h"

static const struct sp__lanemap_kind *kind_of(enum sp_placement placement)
{
	return placement == SP_PLACE_MEMS ? &sp__lanes_on_sled : &sp__lanes_on_tracks;
}

int sp__lanemap_plan(struct sp__lanemap *m, const struct sp__lanemap_opts *o,
		     struct sp_errinfo *err)
{
	*m = (struct sp__lanemap){ .kind = kind_of(o->placement) };
	return m->kind->plan(m, o, err);
}

void sp__lanepart_free(struct sp__lanepart *p)
{
	if (p->mapping)
		free(p->mapping->multimap.zones);
	free(p->mapping);
}

void sp__lanemap_free(struct sp__lanemap *m)
{
	while (m->n)
		sp__lanepart_free(&m->parts[--m->n]);
	free(m->parts);
	if (m->kind && m->kind->free)
		m->kind->free(m);
	*m = (struct sp__lanemap){ 0 };
}

int sp__lanemap_set_sizes(struct sp__lanemap *m, const struct sp__lanemap_opts *o, uint64_t blocks,
			  uint32_t block_bytes, struct sp_errinfo *err)
{
	if (o->cell_bytes % block_bytes)
		return sp__errf(err, SP_ESYNTAX, "create", o->path, -1,
				"a cell of %u bytes is not a multiple of the block size %u",
				o->cell_bytes, block_bytes);
	m->volumes = sp__max(o->volumes, 1);
	m->lanes = o->lanes;
	m->block_bytes = block_bytes;
	m->cell_blocks = o->cell_bytes / block_bytes;
	m->volume_cells = blocks / m->cell_blocks;
	m->skip_cells = o->skip_bytes / o->cell_bytes;
	return 0;
}

/* Adds a part for so many pages. */
static int add_part(struct sp__lanemap *m, uint64_t pages, uint64_t first_cell)
{
	struct sp__lanepart p = { .first_page = sp__lanemap_pages(m),
				  .pages = pages,
				  .first_cell = first_cell };
	int rc;

	if (m->n == SP__LANEMAP_PARTS_MAX)
		return -ENOSPC;
	if (!SP__ARRAY_GROW(m->parts, m->capacity, m->n + 1))
		return -ENOMEM;
	rc = m->kind->place(m, &p);
	if (rc)
		return rc;
	m->parts[m->n++] = p;
	return 0;
}

int sp__lanemap_extend(struct sp__lanemap *m, uint64_t pages, uint64_t first_cell)
{
	return add_part(m, pages, first_cell);
}

int sp__lanemap_shorten(struct sp__lanemap *m, uint64_t pages)
{
	struct sp__lanepart p;

	while (m->n && m->parts[m->n - 1].first_page >= pages)
		sp__lanepart_free(&m->parts[--m->n]);
	if (!m->n)
		return 0;
	p = m->parts[m->n - 1];
	if (p.first_page + p.pages - pages < p.unit_pages)
		return 0;
	sp__lanepart_free(&m->parts[--m->n]);
	return add_part(m, pages - p.first_page, p.first_cell);
}

struct sp__lanemap_info sp__lanemap_info(const struct sp__lanemap *m)
{
	struct sp__lanemap_info info = { .placement = m->kind->placement };

	m->kind->describe(m, &info);
	return info;
}

uint64_t sp__lanemap_pages(const struct sp__lanemap *m)
{
	return m->n ? m->parts[m->n - 1].first_page + m->parts[m->n - 1].pages : 0;
}

uint64_t sp__lanemap_run(const struct sp__lanemap *m, uint64_t page, uint32_t lane, uint64_t pages,
			 uint64_t *cell)
{
	const struct sp__lanepart *p =
		&m->parts[SP__BISECT(m->n, i, m->parts[i].first_page <= page) - 1];

	return sp__min(m->kind->run(m, p, page - p->first_page, lane, cell), pages);
}

bool sp__lanemap_find(const struct sp__lanemap *m, uint64_t cell, uint64_t *page, uint32_t *lane)
{
	const uint64_t at = cell % m->volume_cells;
	size_t n = SP__BISECT(m->n, i, m->parts[i].first_cell <= at);

	if (!n || !m->kind->find(m, &m->parts[n - 1], cell, page, lane))
		return false;
	*page += m->parts[n - 1].first_page;
	return true;
}

double sp__lanemap_waste(const struct sp__lanemap *m)
{
	double cells = 0;

	for (size_t i = 0; i < m->n; i++)
		cells += (double)m->parts[i].cells * m->volumes;
	return cells > 0 ? 1 - (double)sp__lanemap_pages(m) * m->lanes / cells : 0;
}

static bool possible(const struct sp__lanemap *m)
{
	return m->volumes && m->lanes && m->cell_blocks && m->block_bytes && m->volume_cells &&
	       m->volume_cells <= SP__LANEMAP_CELLS_MAX / m->volumes / m->cell_blocks;
}

/* Codes the sizes that all kinds have, and checks those that are read. */
static void code_sizes(struct sp__coder *c, struct sp__lanemap *m)
{
	sp__code_max(c, &m->volumes, SP__LANEMAP_VOLUMES_MAX);
	sp__code_max(c, &m->lanes, SP__LANEMAP_LANES_MAX);
	sp__code_max(c, &m->cell_blocks, 65536);
	sp__code_max(c, &m->block_bytes, 65536);
	sp__code_u64(c, &m->volume_cells);
	c->failed |= !c->failed && !possible(m);
}

void sp__lanemap_code(struct sp__coder *c, struct sp__lanemap *m, enum sp_placement placement)
{
	m->kind = kind_of(placement);
	code_sizes(c, m);
	m->kind->code(c, m);
}

/* Adds a part that was read.  Returns false if it cannot be where it says. */
static bool take_part(struct sp__lanemap *m, uint64_t pages, uint64_t first_cell, int *rc)
{
	const struct sp__lanepart *before = m->n ? &m->parts[m->n - 1] : NULL, *p;

	if (first_cell > m->volume_cells ||
	    (before && first_cell < before->first_cell + before->cells))
		return false;
	*rc = add_part(m, pages, first_cell);
	p = *rc ? NULL : &m->parts[m->n - 1];
	return p && p->pages == pages && p->first_cell == first_cell &&
	       p->cells <= m->volume_cells - first_cell;
}

void sp__lanemap_code_parts(struct sp__coder *c, struct sp__lanemap *m)
{
	uint32_t n = (uint32_t)m->n;

	sp__code_max(c, &n, SP__LANEMAP_PARTS_MAX);
	for (uint32_t i = 0; !c->failed && i < n; i++) {
		uint64_t pages = c->reading ? 0 : m->parts[i].pages;
		uint64_t first = c->reading ? 0 : m->parts[i].first_cell;
		int rc = 0;

		sp__code_u64(c, &pages);
		sp__code_u64(c, &first);
		if (!c->reading || c->failed)
			continue;
		c->failed |= !take_part(m, pages, first, &rc);
		sp__coder_lack(c, rc == -ENOMEM);
	}
}
