/* SPDX-License-Identifier: MIT */
/*
 * Whether what a head says can be: a checksum alone does not tell, as anybody can compute one.
 * After these checks no number of the head leads to an overflow, a division by zero, or memory
 * beyond a buffer.
 */
#include <errno.h>
#include <string.h>
#include "cube/extents.h"
#include "cube/head.h"

#define BYTES_MAX (UINT64_C(1) << 62)

static bool multiply(uint64_t *v, uint64_t by, uint64_t max)
{
	return !__builtin_mul_overflow(*v, by, v) && *v <= max;
}

/* Cells along each dimension; false if those from a block on go beyond 2^62 bytes. */
static bool count_cells(const struct sp__cube_head *h, uint64_t first_block, uint64_t *cells)
{
	uint64_t bytes = (uint64_t)h->cell_blocks * h->block_bytes, before = h->block_bytes;
	bool fit = multiply(&before, first_block, BYTES_MAX);

	for (unsigned i = 0; fit && i < h->shape.ndims; i++) {
		cells[i] = (h->shape.dims[i] - 1) / h->shape.tile[i] + 1;
		fit = multiply(&bytes, cells[i], BYTES_MAX - before);
	}
	return fit;
}

bool sp__cube_block_possible(uint32_t bytes)
{
	return bytes >= 512 && bytes <= SP__BLOCK_MAX && !(bytes & (bytes - 1));
}

/* The tile fills the cell, and the dataset has at most 2^62 bytes. */
static bool shape_possible(const struct sp__cube_head *h)
{
	const struct sp_cube_shape *s = &h->shape;
	uint32_t type_bytes = sp_cube_type_bytes(s->type);
	uint64_t tile = s->element_bytes, all = tile, cells[SP_CUBE_DIMS_MAX];

	if (!s->element_bytes || (type_bytes && type_bytes != s->element_bytes))
		return false;
	for (unsigned i = 0; i < s->ndims; i++)
		if (!multiply(&all, s->dims[i], BYTES_MAX) ||
		    !multiply(&tile, s->tile[i], SP__CELL_MAX))
			return false;
	return sp__cube_block_possible(h->block_bytes) && h->cell_blocks &&
	       tile == (uint64_t)h->cell_blocks * h->block_bytes &&
	       h->extent_cells == sp__extent_cells(tile) && count_cells(h, 0, cells);
}

static bool is_permutation(const unsigned *order, unsigned n)
{
	unsigned seen = 0;

	for (unsigned i = 0; i < n; i++)
		seen |= 1u << order[i];
	return seen == (1u << n) - 1;
}

/* Tracks in a pattern follow each other, and none is longer or shorter than the zone says. */
static bool pattern_possible(const struct sp__cubezone *z)
{
	if (z->pattern[0].blocks || !z->least_blocks || !z->skew_den)
		return false;
	for (uint32_t i = 0; i < z->npattern; i++) {
		uint64_t end = i + 1 < z->npattern ? z->pattern[i + 1].blocks : z->pattern_blocks;
		uint64_t length = end - z->pattern[i].blocks;

		if (end < z->pattern[i].blocks || length < z->least_blocks ||
		    length > z->track_blocks)
			return false;
	}
	return true;
}

/* Zones ascend, do not overlap, and end before 2^62 bytes. */
static bool zones_possible(const struct sp__cube_head *h)
{
	const struct sp__multimap *m = &h->mapping.multimap;
	uint64_t end = 0, most = BYTES_MAX / h->block_bytes;

	for (size_t i = 0; i < m->nzones; i++) {
		const struct sp__cubezone *z = &m->zones[i];
		uint64_t longest = z->track_blocks;

		if (!pattern_possible(z) || z->first_block < end || z->first_block > most ||
		    !multiply(&longest, z->tracks + z->npattern, most - z->first_block))
			return false;
		end = z->first_block + z->tracks / z->npattern * z->pattern_blocks;
	}
	return true;
}

static bool mapping_possible(const struct sp__cube_head *h)
{
	const struct sp__multimap *m = &h->mapping.multimap;

	if (h->mapping.kind == SP_CUBE_AUTO || !is_permutation(h->mapping.order, h->shape.ndims))
		return false;
	for (unsigned i = 0; i < h->shape.ndims; i++)
		if (h->mapping.kind == SP_CUBE_MULTIMAP && !m->k[i])
			return false;
	return (m->nzones || h->mapping.kind != SP_CUBE_MULTIMAP) && zones_possible(h);
}

/* First the head, then the table, then the cells. */
static bool in_sequence(const struct sp__cube_head *h)
{
	const struct sp__mapping *m = &h->mapping;
	uint64_t first = sp__mapping_begin(m);

	return h->table_block <= first && first <= BYTES_MAX / h->block_bytes &&
	       2 * (uint64_t)h->room_bytes <= h->table_block * h->block_bytes &&
	       sp__extents_table_bytes(h) <= (first - h->table_block) * h->block_bytes;
}

bool sp__cube_head_possible(const struct sp__cube_head *h)
{
	unsigned n = h->shape.ndims;

	return shape_possible(h) && is_permutation(h->load_order, n) &&
	       h->loaded <= h->shape.dims[h->load_order[n - 1]] && mapping_possible(h) &&
	       in_sequence(h) && (!h->volume || !strncmp(h->volume, "sim:", 4));
}

int sp__cube_head_place(struct sp__cube_head *h)
{
	uint64_t cells[SP_CUBE_DIMS_MAX];

	if (!count_cells(h, h->mapping.first_block, cells))
		return -ERANGE;
	h->mapping.cell_blocks = h->cell_blocks;
	return sp__mapping_init(&h->mapping, h->shape.ndims, cells);
}
