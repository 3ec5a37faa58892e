/* SPDX-License-Identifier: MIT */
/*
 * The directory in the file: regions, then leaves as they are in memory, with a checksum each.
 * It begins at a block, as long as the number of leaves of the whole tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/err.h"
#include "base/hash.h"
#include "base/minmax.h"
#include "cube/file/extents.h"
#include "cube/points/points.h"

/* Open datasets use this part of the memory for leaves. */
#define MEMORY_SHARE 4

static uint64_t leaves_bytes(const struct sp_cube *c)
{
	return c->superblock.pointset.nleaves * sizeof(struct sp__leaf);
}

static int transfer(const struct sp_cube *c, void *data, uint64_t bytes, uint64_t at, bool in,
		    struct sp_errinfo *err)
{
	int rc = sp__extents_move(c->fd, !in, data, bytes, at);

	return rc ? sp__err(err, rc, in ? "read" : "write", c->path, (long long)at) : 0;
}

static int damaged(const struct sp_cube *c, struct sp_errinfo *err)
{
	return sp__errf(err, SP_ECORRUPT, "open", c->path, -1, "the directory is damaged");
}

static int check_memory(struct sp_cube *c, struct sp_errinfo *err)
{
	uint64_t need = leaves_bytes(c) * MEMORY_SHARE;

	if (need > c->env.budget.limit_bytes)
		return sp__errf(err, SP_EBUDGET, "open", c->path, -1,
				"the directory of %llu leaves needs a memory of %llu bytes",
				(unsigned long long)c->superblock.pointset.nleaves,
				(unsigned long long)need);
	sp__budget_charge(&c->env.budget, leaves_bytes(c));
	return 0;
}

static int read_parts(struct sp_cube *c, uint8_t *regions, struct sp__leaf *leaves,
		      struct sp_errinfo *err)
{
	const struct sp__cube_pointset *p = &c->superblock.pointset;
	uint64_t at = p->directory_block * c->superblock.block_bytes,
		 bytes = sp__regions_bytes(&c->superblock, p->nregions);
	int rc = transfer(c, regions, bytes, at, true, err);

	if (!rc)
		rc = transfer(c, leaves, leaves_bytes(c), at + bytes, true, err);
	if (!rc && (sp__checksum(regions, bytes) != p->regions_sum ||
		    sp__checksum(leaves, leaves_bytes(c)) != p->leaves_sum))
		rc = damaged(c, err);
	return rc;
}

int sp__directory_read(struct sp_cube *c, struct sp_errinfo *err)
{
	struct sp__leaf *leaves;
	uint8_t *regions;
	int rc = check_memory(c, err);

	if (rc)
		return rc;
	leaves = malloc(leaves_bytes(c) + 1);
	regions = malloc(sp__regions_bytes(&c->superblock, c->superblock.pointset.nregions) + 1);
	rc = leaves && regions ? read_parts(c, regions, leaves, err)
			       : sp__err(err, -ENOMEM, "malloc", NULL, -1);
	if (rc) {
		free(leaves);
	} else {
		rc = sp__pointset_decode(&c->set, &c->superblock, regions, leaves);
		if (rc)
			rc = rc == SP_ECORRUPT ? damaged(c, err)
					       : sp__err(err, rc, "open", c->path, -1);
	}
	free(regions);
	return rc;
}

int sp__directory_write(struct sp_cube *c, struct sp_errinfo *err)
{
	struct sp__cube_pointset *p = &c->superblock.pointset;
	uint64_t at = p->directory_block * c->superblock.block_bytes,
		 bytes = sp__regions_bytes(&c->superblock, p->nregions);
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

void sp__directory_free(struct sp_cube *c)
{
	sp__budget_credit(&c->env.budget, c->set.leaves ? leaves_bytes(c) : 0);
	sp__pointset_free(&c->set);
}
