/* SPDX-License-Identifier: MIT */
/*
 * Runs the parts of commands of mmap-cube that concern points.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mmap-cube.h"

static void describe_region(const struct sp_cube *cube, const struct sp_cube_info *info, size_t i)
{
	unsigned n = info->shape.ndims;
	struct sp_cube_region r;

	sp_cube_region(cube, i, &r);
	printf("region %zu, level %u: %" PRIu64 " points, %.1f %%; blocks %" PRIu64 " to %" PRIu64
	       "\n",
	       i, r.level, r.points,
	       info->npoints ? 100 * (double)r.points / (double)info->npoints : 0, r.first_block,
	       r.end_block - 1);
	print_sizes("  from", r.lo, n);
	print_sizes("  a cell", r.cell, n);
	print_sizes("  cells", r.cells, n);
	print_sizes("  basic", r.basic, n);
}

void points_describe(const struct sp_cube *cube, const struct sp_cube_info *info)
{
	printf("%-12s%" PRIu64 ", at most %" PRIu64 " in a cell, %.3g of that when loaded\n",
	       "points", info->npoints, info->capacity, info->fill_factor);
	printf("%-12s%" PRIu64 " with points, %" PRIu64 " overflow%s\n", "cells",
	       info->filled_cells, info->overflow_cells,
	       info->needs_repack ? ": reorganise makes queries faster" : "");
	printf("%-12s%zu, and %zu cells outside of them\n", "regions", info->nregions,
	       info->nleaves);
	if (info->volumes > 1)
		printf("%-12s%u, %s\n", "volumes", info->volumes,
		       sp_cube_decluster_name((int)info->decluster));
	printf("%-12s%" PRIu64 " to %" PRIu64 "%s\n", "blocks", info->first_block,
	       info->end_block - 1, info->volumes > 1 ? " of each volume" : "");
	for (size_t i = 0; i < info->nregions; i++)
		describe_region(cube, info, i);
}

void points_say_repack(const struct config *c, const struct sp_cube *cube)
{
	struct sp_cube_info info;

	sp_cube_info(cube, &info);
	if (!info.points || !info.needs_repack)
		return;
	if ((double)info.npoints < info.underflow * (double)info.built_points)
		msg("%s: %" PRIu64 " of %" PRIu64 " points left: reorganise makes queries faster",
		    quote_file(c->operands.text[0]), info.npoints, info.built_points);
	else
		msg("%s: %" PRIu64 " overflow cells for %" PRIu64
		    " cells: reorganise makes queries faster",
		    quote_file(c->operands.text[0]), info.overflow_cells, info.filled_cells);
}
