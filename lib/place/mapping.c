/* SPDX-License-Identifier: MIT */
/*
 * Computes linear mappings, and passes MultiMap to multimap.c.
 */
#include <stdlib.h>
#include <string.h>
#include "place/mapping.h"

/* Initialises the basic cubes of a linear mapping, and the order of cells in each. */
static int init_linear(struct sp__mapping *m)
{
	uint64_t end = m->cell_blocks;
	int rc;

	if (!m->basic.k[0])
		sp__basicgrid_split(&m->basic, &m->grid);
	rc = sp__basicgrid_init(&m->basic, &m->grid);
	if (rc)
		return rc;
	m->inner = (struct sp__grid){ .n = m->grid.n, .cells = 1 };
	for (unsigned i = 0; i < m->grid.n; i++) {
		m->inner.size[i] = m->basic.k[i];
		m->inner.cells *= m->basic.k[i];
	}
	if (__builtin_mul_overflow(end, m->inner.cells, &end) ||
	    __builtin_mul_overflow(end, m->basic.local, &end) || end >> 62)
		return -ERANGE;
	return m->kind == SP_CUBE_NAIVE ? 0 : sp__curve_init(&m->curve, m->kind, &m->inner);
}

int sp__mapping_init(struct sp__mapping *m, unsigned n, const uint64_t *cells)
{
	m->grid = (struct sp__grid){ .n = n, .cells = 1 };
	m->identity = true;
	for (unsigned i = 0; i < n; i++) {
		m->grid.size[i] = cells[m->order[i]];
		m->identity &= m->order[i] == i;
		if (__builtin_mul_overflow(m->grid.cells, m->grid.size[i], &m->grid.cells) ||
		    m->grid.cells >> 62)
			return -ERANGE;
	}
	if (m->kind != SP_CUBE_MULTIMAP)
		return init_linear(m);
	m->multimap.grid = &m->grid;
	m->multimap.basic = &m->basic;
	m->multimap.cell_blocks = m->cell_blocks;
	return m->basic.k[0] ? sp__multimap_place(&m->multimap) : sp__multimap_choose(&m->multimap);
}

int sp__mapping_place(struct sp__mapping *m, const struct sp__mapping *like, unsigned n,
		      const uint64_t *cells)
{
	uint64_t k[SP_CUBE_DIMS_MAX], first_block = m->first_block;
	int rc = 0;

	memcpy(k, m->basic.k, sizeof(k));
	free(m->multimap.zones);
	*m = *like;
	m->first_block = first_block;
	m->multimap.zones = NULL;
	m->multimap.nzones = 0;
	memcpy(m->basic.k, k, sizeof(k));
	if (m->kind == SP_CUBE_MULTIMAP)
		rc = sp__multimap_zones_from(&m->multimap, &like->multimap, first_block);
	if (!rc)
		rc = sp__mapping_init(m, n, cells);
	if (!rc && m->kind == SP_CUBE_MULTIMAP)
		sp__multimap_shrink(&m->multimap);
	return rc;
}

static uint64_t rank_of(const struct sp__mapping *m, const uint64_t *x)
{
	return m->kind == SP_CUBE_NAIVE ? sp__grid_number(&m->inner, x)
					: sp__curve_rank(&m->curve, x);
}

static uint64_t linear_block(const struct sp__mapping *m, const uint64_t *x)
{
	uint64_t at[SP_CUBE_DIMS_MAX], inside[SP_CUBE_DIMS_MAX], cube;
	unsigned volume;

	if (m->basic.ncubes == 1)
		return m->first_block + rank_of(m, x) * m->cell_blocks;
	for (unsigned i = 0; i < m->grid.n; i++) {
		at[i] = x[i] / m->basic.k[i];
		inside[i] = x[i] - at[i] * m->basic.k[i];
	}
	cube = sp__basicgrid_local(&m->basic, at, &volume);
	return m->first_block + volume * m->basic.volume_blocks +
	       (cube * m->inner.cells + rank_of(m, inside)) * m->cell_blocks;
}

static bool linear_cell(const struct sp__mapping *m, uint64_t block, uint64_t *x)
{
	unsigned volume = sp__basicgrid_volume(&m->basic, &block);
	uint64_t rank = (block - m->first_block) / m->cell_blocks, at[SP_CUBE_DIMS_MAX];

	if (block < m->first_block ||
	    !sp__basicgrid_cube(&m->basic, volume, rank / m->inner.cells, at))
		return false;
	if (m->kind == SP_CUBE_NAIVE)
		sp__grid_cell(&m->inner, rank % m->inner.cells, x);
	else
		sp__curve_cell(&m->curve, rank % m->inner.cells, x);
	for (unsigned i = 0; i < m->grid.n; i++) {
		x[i] += at[i] * m->basic.k[i];
		if (x[i] >= m->grid.size[i])
			return false;
	}
	return true;
}

uint64_t sp__mapping_block(const struct sp__mapping *m, const uint64_t *x)
{
	uint64_t ordered[SP_CUBE_DIMS_MAX];

	if (!m->identity) {
		for (unsigned i = 0; i < m->grid.n; i++)
			ordered[i] = x[m->order[i]];
		x = ordered;
	}
	return m->kind == SP_CUBE_MULTIMAP ? sp__multimap_block(&m->multimap, x)
					   : linear_block(m, x);
}

bool sp__mapping_cell(const struct sp__mapping *m, uint64_t block, uint64_t *x)
{
	uint64_t inner[SP_CUBE_DIMS_MAX];

	if (m->kind == SP_CUBE_MULTIMAP ? !sp__multimap_cell(&m->multimap, block, inner)
					: !linear_cell(m, block, inner))
		return false;
	for (unsigned i = 0; i < m->grid.n; i++)
		x[m->order[i]] = inner[i];
	return true;
}

uint64_t sp__mapping_end(const struct sp__mapping *m)
{
	return m->kind == SP_CUBE_MULTIMAP
		       ? sp__multimap_end(&m->multimap)
		       : m->first_block + m->basic.local * m->inner.cells * m->cell_blocks;
}

uint64_t sp__mapping_begin(const struct sp__mapping *m)
{
	return m->kind == SP_CUBE_MULTIMAP ? sp__multimap_begin(&m->multimap) : m->first_block;
}

double sp__mapping_waste(const struct sp__mapping *m)
{
	double cells = (double)m->grid.cells * m->cell_blocks;
	double space = (double)(sp__mapping_end(m) - sp__mapping_begin(m));

	return 1 - cells / space / m->basic.volumes;
}
