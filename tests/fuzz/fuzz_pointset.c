/* SPDX-License-Identifier: MIT */
/*
 * Directories of points: what is not refused answers for every leaf, region and box, with blocks
 * that are in the file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cube/choose/plan.h"
#include "cube/file/pointset.h"
#include "mappingwalk.h"

#define LEAF_BLOCK 400000
#define REGIONS 3
#define LEAVES 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool cond)
{
	if (!cond)
		abort();
}

static struct sp__cube_plan plan;

static void make_plan(void)
{
	static struct sp_cube_create_opts opts = SP_CUBE_CREATE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	opts.run.volume = "sim:atlas10k3-like";
	opts.points = true;
	opts.shape =
		(struct sp_cube_shape){ .ndims = 2, .dims = { 65536, 500 }, .type = SP_CUBE_U8 };
	require(!sp__cube_plan(&plan, &opts, "points", &err));
	plan.superblock.pointset.leaf_block = LEAF_BLOCK;
	plan.superblock.pointset.overflow_block = LEAF_BLOCK + LEAVES * plan.superblock.cell_blocks;
}

static int in_file(void *arg, uint64_t first, uint64_t cells)
{
	uint64_t *seen = arg;

	require(first >= plan.superblock.pointset.outside_block);
	require(first + cells * plan.superblock.cell_blocks <= LEAF_BLOCK);
	*seen += cells;
	return *seen > 1000;
}

static int count(void *arg, size_t leaf)
{
	(void)leaf;
	++*(size_t *)arg;
	return 0;
}

static void ask(const struct sp__pointset *s)
{
	struct sp_cube_box all, cells, node;
	size_t leaves = 0;

	sp__znode_box(&s->space, 0, 0, &all);
	require(!sp__leaves_walk(s, &all, count, &leaves) && leaves == s->nleaves);
	for (size_t i = 0; i < s->nleaves; i++) {
		struct sp__home home;

		sp__znode_box(&s->space, sp__leaf_key(&s->leaves[i]), s->leaves[i].level, &node);
		home = sp__pointset_home(s, sp__leaf_key(&s->leaves[i]), node.lo);
		require(!home.outside && home.block < plan.superblock.pointset.overflow_block);
		require(sp__pointset_node(s, sp__leaf_block(s, &s->leaves[i]), &node));
		leaves = 0;
		require(!sp__leaves_walk(s, &node, count, &leaves) && leaves >= 1);
	}
	for (size_t i = 0; i < s->nregions; i++) {
		uint64_t seen = 0;

		require(sp__region_clip(&s->space, s->regions[i], &all, &cells));
		(void)mapping_walk(&s->regions[i]->mapping, &cells, in_file, &seen);
	}
	(void)sp__pointset_node(s, 0, &node);
	(void)sp__pointset_node(s, UINT64_MAX, &node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct sp__cube_superblock h;
	struct sp__pointset s;
	struct sp__leaf *leaves = calloc(LEAVES + 1, sizeof(*leaves));
	uint8_t *regions;
	size_t room, rest;
	int rc;

	if (!plan.superblock.points)
		make_plan();
	h = plan.superblock;
	h.pointset.nregions = bytes ? data[0] % (REGIONS + 1) : 0;
	h.pointset.nleaves = bytes > 1 ? data[1] % (LEAVES + 1) : 0;
	room = sp__regions_bytes(&h, h.pointset.nregions);
	regions = calloc(1, room + 1);
	require(leaves && regions);
	rest = bytes > 2 ? bytes - 2 : 0;
	if (rest)
		memcpy(regions, data + 2, rest < room ? rest : room);
	if (rest > room) {
		size_t max = h.pointset.nleaves * sizeof(*leaves);

		memcpy(leaves, data + 2 + room, rest - room < max ? rest - room : max);
	}
	rc = sp__pointset_decode(&s, &h, regions, leaves);
	require(rc == 0 || rc == SP_ECORRUPT);
	if (!rc)
		ask(&s);
	sp__pointset_free(&s);
	free(regions);
	return 0;
}
