/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the directory of a dataset: regions, then leaves as they are in memory, each
 * with a checksum.  The directory begins at a block.  Its space is reserved for the leaves of the
 * whole tree.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "cube/file/extents.h"
#include "cube/points/points.h"

/* Leaves of an open dataset use 1 / MEMORY_SHARE of the memory. */
#define MEMORY_SHARE 4

static uint64_t leaves_bytes(const struct sp__points *c)
{
	return c->file->superblock.pointset.nleaves * sizeof(struct sp__leaf);
}

static int transfer(const struct sp__points *c, void *data, uint64_t bytes, uint64_t at, bool in,
		    struct sp_errinfo *err)
{
	int rc = sp__extents_move(c->file->cells.first.fd, !in, data, bytes, at);

	return rc ? sp__err(err, rc, in ? "read" : "write", c->file->path, (long long)at) : 0;
}

static int damaged(const struct sp__points *c, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ECORRUPT, "open", c->file->path, -1, "the directory is damaged");
}

static int check_memory(struct sp__points *c, struct sp_errinfo *err)
{
	uint64_t need = leaves_bytes(c) * MEMORY_SHARE;

	if (need > c->file->env.budget.limit_bytes)
		return sp__errf(err, SP_EBUDGET, "open", c->file->path, -1,
				"the directory of %llu leaves needs %llu bytes of memory",
				(unsigned long long)c->file->superblock.pointset.nleaves,
				(unsigned long long)need);
	sp__budget_charge(&c->file->env.budget, leaves_bytes(c));
	return 0;
}

static int read_parts(struct sp__points *c, uint8_t *regions, struct sp__leaf *leaves,
		      struct sp_errinfo *err)
{
	const struct sp__cube_pointset *p = &c->file->superblock.pointset;
	uint64_t at = p->directory_block * c->file->superblock.block_bytes,
		 bytes = sp__regions_bytes(&c->file->superblock, p->nregions);
	int rc = transfer(c, regions, bytes, at, true, err);

	if (!rc)
		rc = transfer(c, leaves, leaves_bytes(c), at + bytes, true, err);
	if (!rc && (sp__checksum(regions, bytes) != p->regions_sum ||
		    sp__checksum(leaves, leaves_bytes(c)) != p->leaves_sum))
		rc = damaged(c, err);
	return rc;
}

int sp__directory_read(struct sp__points *c, struct sp_errinfo *err)
{
	struct sp__leaf *leaves;
	uint8_t *regions;
	int rc = check_memory(c, err);

	if (rc)
		return rc;
	leaves = malloc(leaves_bytes(c) + 1);
	regions = malloc(
		sp__regions_bytes(&c->file->superblock, c->file->superblock.pointset.nregions) + 1);
	rc = leaves && regions ? read_parts(c, regions, leaves, err)
			       : sp__err(err, -ENOMEM, "malloc", NULL, -1);
	if (rc) {
		free(leaves);
	} else {
		rc = sp__pointset_decode(&c->set, &c->file->superblock, regions, leaves);
		if (rc)
			rc = rc == SP_ECORRUPT ? damaged(c, err)
					       : sp__err(err, rc, "open", c->file->path, -1);
	}
	free(regions);
	return rc;
}

int sp__directory_write(struct sp__points *c, struct sp_errinfo *err)
{
	struct sp__cube_pointset *p = &c->file->superblock.pointset;
	uint64_t at = p->directory_block * c->file->superblock.block_bytes,
		 bytes = sp__regions_bytes(&c->file->superblock, p->nregions);
	uint8_t *regions = malloc(bytes + 1);
	int rc;

	if (!regions)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	sp__regions_encode(&c->set, regions);
	p->regions_sum = sp__checksum(regions, bytes);
	p->leaves_sum = sp__checksum(c->set.leaves, leaves_bytes(c));
	rc = transfer(c, regions, bytes, at, false, err);
	if (!rc)
		rc = transfer(c, c->set.leaves, leaves_bytes(c), at + bytes, false, err);
	free(regions);
	return rc;
}

void sp__directory_free(struct sp__points *c)
{
	sp__budget_credit(&c->file->env.budget, c->set.leaves ? leaves_bytes(c) : 0);
	sp__pointset_free(&c->set);
}

void sp__points_info(const struct sp__points *c, struct sp_cube_info *info)
{
	const struct sp__cube_pointset *p = &c->file->superblock.pointset;

	info->points = true;
	info->first_block = p->outside_block;
	info->npoints = p->count;
	info->capacity = c->set.capacity;
	info->filled_cells = p->cells;
	info->overflow_cells = p->overflow_cells;
	info->fill_factor = p->fill / 1000.0;
	info->overflow = p->overflow / 1000.0;
	info->built_points = p->built;
	info->underflow = p->underflow / 1000.0;
	info->needs_repack =
		(p->overflow_cells - p->full) * 1000 > sp__max(p->cells, 1) * p->overflow ||
		(double)p->count < info->underflow * (double)p->built;
	info->nregions = c->set.nregions;
	info->nleaves = c->set.nleaves;
}
