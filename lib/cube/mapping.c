/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include "cube/mapping.h"

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
	m->multimap.grid = &m->grid;
	m->multimap.cell_blocks = m->cell_blocks;
	switch (m->kind) {
	case SP_CUBE_MULTIMAP:
		return m->multimap.k[0] ? sp__multimap_place(&m->multimap)
					: sp__multimap_choose(&m->multimap);
	case SP_CUBE_NAIVE:
		return 0;
	default:
		return sp__curve_init(&m->curve, m->kind, &m->grid);
	}
}

static uint64_t naive_rank(const struct sp__mapping *m, const uint64_t *x)
{
	uint64_t rank = 0;

	for (unsigned i = m->grid.n; i-- > 0;)
		rank = rank * m->grid.size[i] + x[i];
	return rank;
}

static void naive_cell(const struct sp__mapping *m, uint64_t rank, uint64_t *x)
{
	for (unsigned i = 0; i < m->grid.n; i++) {
		x[i] = rank % m->grid.size[i];
		rank /= m->grid.size[i];
	}
}

/* Rows, or several of them where all of a row is wanted. */
static int naive_walk(const struct sp__mapping *m, const struct sp_cube_box *b, sp__cells_fn fn,
		      void *arg)
{
	uint64_t x[SP_CUBE_DIMS_MAX], cells = 1;
	unsigned i = 0;
	int rc;

	for (unsigned k = 0; k < m->grid.n; k++)
		x[k] = b->lo[k];
	while (i < m->grid.n && sp__box_count(b, i) == m->grid.size[i])
		cells *= m->grid.size[i++];
	if (i < m->grid.n && b->stride[i] == 1)
		cells *= sp__box_count(b, i++);
	do {
		rc = fn(arg, naive_rank(m, x), cells);
	} while (!rc && sp__box_next(b, i, m->grid.n, x));
	return rc;
}

static uint64_t rank_of(const struct sp__mapping *m, const uint64_t *x)
{
	return m->kind == SP_CUBE_NAIVE ? naive_rank(m, x) : sp__curve_rank(&m->curve, x);
}

uint64_t sp__mapping_block(const struct sp__mapping *m, const uint64_t *x)
{
	uint64_t turned[SP_CUBE_DIMS_MAX];

	if (!m->identity) {
		for (unsigned i = 0; i < m->grid.n; i++)
			turned[i] = x[m->order[i]];
		x = turned;
	}
	if (m->kind == SP_CUBE_MULTIMAP)
		return sp__multimap_block(&m->multimap, x);
	return m->first_block + rank_of(m, x) * m->cell_blocks;
}

bool sp__mapping_cell(const struct sp__mapping *m, uint64_t block, uint64_t *x)
{
	uint64_t inner[SP_CUBE_DIMS_MAX], rank = (block - m->first_block) / m->cell_blocks;

	if (m->kind == SP_CUBE_MULTIMAP) {
		if (!sp__multimap_cell(&m->multimap, block, inner))
			return false;
	} else if (block < m->first_block || rank >= m->grid.cells) {
		return false;
	} else if (m->kind == SP_CUBE_NAIVE) {
		naive_cell(m, rank, inner);
	} else {
		sp__curve_cell(&m->curve, rank, inner);
	}
	for (unsigned i = 0; i < m->grid.n; i++)
		x[m->order[i]] = inner[i];
	return true;
}

struct ranks {
	const struct sp__mapping *m;
	sp__cells_fn fn;
	void *arg;
};

static int give_blocks(void *arg, uint64_t rank, uint64_t cells)
{
	const struct ranks *r = arg;

	return r->fn(r->arg, r->m->first_block + rank * r->m->cell_blocks, cells);
}

int sp__mapping_walk(const struct sp__mapping *m, const struct sp_cube_box *box, sp__cells_fn fn,
		     void *arg)
{
	struct ranks ranks = { m, fn, arg };
	struct sp_cube_box turned;

	for (unsigned i = 0; i < m->grid.n; i++) {
		turned.lo[i] = box->lo[m->order[i]];
		turned.hi[i] = box->hi[m->order[i]];
		turned.stride[i] = box->stride[m->order[i]];
	}
	if (m->kind == SP_CUBE_MULTIMAP)
		return sp__multimap_walk(&m->multimap, &turned, fn, arg);
	if (m->kind == SP_CUBE_NAIVE)
		return naive_walk(m, &turned, give_blocks, &ranks);
	return sp__curve_walk(&m->curve, &turned, give_blocks, &ranks);
}

uint64_t sp__mapping_end(const struct sp__mapping *m)
{
	return m->kind == SP_CUBE_MULTIMAP ? sp__multimap_end(&m->multimap)
					   : m->first_block + m->grid.cells * m->cell_blocks;
}

uint64_t sp__mapping_begin(const struct sp__mapping *m)
{
	return m->kind == SP_CUBE_MULTIMAP ? m->multimap.zones[0].first_block : m->first_block;
}
