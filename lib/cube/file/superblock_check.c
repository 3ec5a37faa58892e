/* SPDX-License-Identifier: MIT */
/*
 * Validates a superblock.  A valid checksum is not enough, since anyone can compute one.
 *
 * Invariant: after these checks no number of the superblock leads to an overflow, a division by
 * zero, or an access outside a buffer.
 */
#include <string.h>
#include "cube/file/extents.h"
#include "cube/file/pointset.h"
#include "cube/file/putlog.h"
#include "cube/file/superblock.h"
#include "place/zones.h"

#define LINEAR_UNIT 4096 /* bytes: alignment of direct requests of most devices */
#define BYTES_MAX (UINT64_C(1) << 62)

static bool multiply(uint64_t *v, uint64_t by, uint64_t max)
{
	return !__builtin_mul_overflow(*v, by, v) && *v <= max;
}

/* True if there are cells, and they end before 2^62 bytes. */
static bool cells_fit(const struct sp__cube_superblock *h, uint64_t first_block,
		      const uint64_t *cells)
{
	uint64_t bytes = (uint64_t)h->cell_blocks * h->block_bytes, before = h->block_bytes;
	bool fit = multiply(&before, first_block, BYTES_MAX);

	for (unsigned i = 0; fit && i < h->shape.ndims; i++)
		fit = cells[i] && multiply(&bytes, cells[i], BYTES_MAX - before);
	return fit;
}

void sp__cube_superblock_cells(const struct sp__cube_superblock *h, uint64_t *cells)
{
	for (unsigned i = 0; i < h->shape.ndims; i++)
		cells[i] = (h->shape.dims[i] - 1) / h->shape.tile[i] + 1;
}

bool sp__cube_block_possible(uint32_t bytes)
{
	return bytes >= SP__BLOCK_MIN && bytes <= SP__BLOCK_MAX && !(bytes & (bytes - 1));
}

bool sp__cube_shape_possible(const struct sp__cube_superblock *h)
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
	sp__cube_superblock_cells(h, cells);
	return sp__cube_block_possible(h->block_bytes) && h->cell_blocks &&
	       tile == (uint64_t)h->cell_blocks * h->block_bytes &&
	       h->extent_cells == sp__extent_cells(tile) && cells_fit(h, 0, cells);
}

uint64_t sp__cube_superblock_unit(const struct sp__cube_superblock *h, unsigned dim)
{
	return h->shape.tile[dim] * (dim ? 1 : (uint64_t)h->extent_cells);
}

uint64_t sp__cube_superblock_begin(const struct sp__cube_superblock *h, uint64_t block)
{
	uint64_t unit =
		h->mapping.kind == SP_CUBE_MULTIMAP ? 1 : sp__max(LINEAR_UNIT / h->block_bytes, 1);

	return (block + unit - 1) / unit * unit;
}

/* True if all blocks of all volumes are below 2^62 bytes. */
static bool volumes_possible(const struct sp__cube_superblock *h)
{
	const struct sp__basicgrid *b = &h->mapping.basic;

	return b->volumes == 1 || b->volume_blocks <= BYTES_MAX / h->block_bytes / b->volumes;
}

static bool mapping_possible(const struct sp__cube_superblock *h)
{
	return h->mapping.kind != SP_CUBE_AUTO && sp__is_order(h->mapping.order, h->shape.ndims) &&
	       (h->mapping.multimap.nzones || h->mapping.kind != SP_CUBE_MULTIMAP) &&
	       sp__cubezones_possible(&h->mapping.multimap, BYTES_MAX / h->block_bytes);
}

uint64_t sp__cube_superblock_front(const struct sp__cube_superblock *h)
{
	uint64_t bytes = sp__max(2 * (uint64_t)h->slots.slot_bytes, h->log_offset + h->log_bytes);

	return (bytes + h->block_bytes - 1) / h->block_bytes;
}

/* True if the log can hold an extent and leaves space for the superblock in the second slot. */
static bool log_possible(const struct sp__cube_superblock *h)
{
	uint64_t cell = (uint64_t)h->cell_blocks * h->block_bytes;

	return !h->log_bytes || (h->log_bytes == sp__putlog_bytes(cell * h->extent_cells) &&
				 h->log_offset > h->slots.slot_bytes &&
				 h->log_offset <= 2 * (uint64_t)h->slots.slot_bytes);
}

/* True if superblock, table and cells are in this order, and basic cubes have cells. */
static bool fragment_possible(const struct sp__cube_superblock *h, const struct sp__fragment *p)
{
	const struct sp__mapping *m = &p->mapping;

	for (unsigned i = 0; i < h->shape.ndims; i++)
		if (!m->basic.k[i])
			return false;
	return cells_fit(h, m->first_block, p->placed) && p->table_block <= m->first_block &&
	       sp__cube_superblock_front(h) <= p->table_block &&
	       sp__extents_table_end(h, p) <= m->first_block &&
	       (p->dim || p->first % h->extent_cells == 0);
}

static bool fragments_possible(const struct sp__cube_superblock *h)
{
	for (size_t i = 0; i < h->fragments.n; i++)
		if (!fragment_possible(h, h->fragments.list[i]))
			return false;
	return h->fragments.n > 0;
}

/* True if the order is: superblocks, directory, cell outside, regions, leaves, overflow. */
static bool places_in_sequence(const struct sp__cube_superblock *h)
{
	const struct sp__cube_pointset *p = &h->pointset;
	uint64_t max = sp__cube_volume_blocks(h), cell = h->cell_blocks;
	unsigned volumes = h->mapping.basic.volumes;

	return p->directory_block <= p->outside_block && p->outside_block <= p->leaf_block &&
	       p->leaf_block <= p->overflow_block && p->overflow_block <= max &&
	       p->full <= p->overflow_cells &&
	       p->overflow_cells <= (max - p->overflow_block) / cell * volumes &&
	       p->nleaves <= (p->overflow_block - p->leaf_block) / cell * volumes &&
	       p->nleaves <= UINT32_MAX && cell <= p->leaf_block - p->outside_block &&
	       2 * (uint64_t)h->slots.slot_bytes <= p->directory_block * h->block_bytes &&
	       p->nregions <= SP__REGIONS_MAX &&
	       sp__regions_bytes(h, p->nregions) + p->nleaves * sizeof(struct sp__leaf) <=
		       (p->outside_block - p->directory_block) * h->block_bytes;
}

static bool pointset_possible(const struct sp__cube_superblock *h)
{
	uint32_t type_bytes = sp_cube_type_bytes(h->shape.type);
	struct sp__pointset s;

	return h->shape.element_bytes && (!type_bytes || type_bytes == h->shape.element_bytes) &&
	       sp__cube_block_possible(h->block_bytes) && h->cell_blocks &&
	       (uint64_t)h->cell_blocks * h->block_bytes <= SP__CELL_MAX && mapping_possible(h) &&
	       volumes_possible(h) && !h->fragments.n && h->pointset.fill &&
	       places_in_sequence(h) && !sp__pointset_init(&s, h);
}

bool sp__cube_superblock_possible(const struct sp__cube_superblock *h)
{
	unsigned n = h->shape.ndims;

	if (h->volume && strncmp(h->volume, "sim:", 4) != 0)
		return false;
	if (h->points)
		return !h->log_bytes && pointset_possible(h);
	return sp__cube_shape_possible(h) && log_possible(h) && volumes_possible(h) &&
	       sp__is_order(h->load_order, n) && h->loaded <= h->shape.dims[h->load_order[n - 1]] &&
	       mapping_possible(h) && fragments_possible(h);
}

uint64_t sp__cube_volume_blocks(const struct sp__cube_superblock *h)
{
	const struct sp__basicgrid *b = &h->mapping.basic;

	return b->volumes > 1 ? b->volume_blocks : BYTES_MAX / h->block_bytes;
}

int sp__cube_superblock_place(struct sp__cube_superblock *h)
{
	uint64_t cells[SP_CUBE_DIMS_MAX];
	int rc;

	sp__cube_superblock_cells(h, cells);
	if (!cells_fit(h, h->mapping.first_block, cells))
		return -ERANGE;
	h->mapping.cell_blocks = h->cell_blocks;
	rc = sp__mapping_init(&h->mapping, h->shape.ndims, cells);
	return !rc && sp__mapping_end(&h->mapping) > sp__cube_volume_blocks(h) ? -ERANGE : rc;
}

int sp__cube_superblock_settle(struct sp__cube_superblock *h)
{
	struct sp__fragments placed = { h->fragments.list, 0 };
	uint64_t cells[SP_CUBE_DIMS_MAX];
	int rc = 0;

	if (h->points)
		return 0;
	for (; !rc && placed.n < h->fragments.n; placed.n++) {
		struct sp__fragment *p = h->fragments.list[placed.n];

		rc = sp__mapping_place(&p->mapping, &h->mapping, h->shape.ndims, p->placed);
		if (!rc && (sp__fragment_end(p) > sp__cube_volume_blocks(h) ||
			    sp__fragments_within(&placed, p->table_block, sp__fragment_end(p))))
			rc = -EINVAL;
	}
	sp__cube_superblock_cells(h, cells);
	return rc ? rc : sp__fragments_settle(&h->fragments, h->shape.ndims, cells) ? 0 : -EINVAL;
}

uint64_t sp__cube_superblock_end(const struct sp__cube_superblock *h)
{
	const struct sp__cube_pointset *p = &h->pointset;
	uint64_t cells = sp__div_up(p->overflow_cells, h->mapping.basic.volumes);

	return h->points ? p->overflow_block + cells * h->cell_blocks
			 : sp__fragments_end(&h->fragments);
}
